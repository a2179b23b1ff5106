internal import CacheStore
internal import HTTPTypes
internal import Logging

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Why an attempt came to nothing.
struct TransferFailure: Error {
    let error: LoadError
    /// What the origin said about when to come again.
    var retryAfter: Duration?

    var isOfTransport: Bool {
        if case .transport = error { true } else { false }
    }
}

/// One attempt to load something: through the cache, hop by hop.
extension ResourceLoader {
    /// A hit does not wait for anybody, and nobody for it.
    func loadFromStore(_ load: Load) async throws(LoadError) -> (Resource, StoredEntry?)? {
        guard load.isShareable else { return nil }
        let transaction = transaction(load, load.target, load.headerFields, load.method)
        guard let response = try transaction.contentFromStore() else { return nil }
        do throws(LoadError) {
            return (try await Resource(response, load.target, load.configuration), response.entry)
        } catch .store {
            // A body that cannot be read after all: a flight finds another way.
            return nil
        }
    }

    /// What is stored, fresh or not; `nil` also if its origin forbids to serve it as it is.
    func loadStaleFromStore(_ load: Load) async -> Resource? {
        guard load.method == .get, load.policy.mode != .remoteOnly else { return nil }
        var transaction = transaction(load, load.target, load.headerFields)
        transaction.policy.mode = .cacheOnly
        guard let response = try? transaction.contentFromStore() else { return nil }
        return try? await Resource(response, load.target, load.configuration)
    }

    /// Whether a load would take no network. No use of what is stored.
    func isAnsweredFromStore(_ load: Load) -> Bool {
        guard load.method == .get else { return false }
        guard case .answer(let answer) = try? transaction(load, load.target, load.headerFields).decide() else {
            return false
        }
        return answer.response.status.kind == .successful
    }

    /// The error of an origin that has answered with too many, and is not to be asked now.
    func blockingError(_ load: Load) -> LoadError? {
        let limit = load.configuration.negativeCaching
        guard limit.window != nil, load.isShareable, load.policy.mode != .remoteOnly,
            let failure = try? store.failure(for: load.target.key),
            limit.blocks(failure, at: load.configuration.clock())
        else { return nil }
        return .httpStatus(failure.status, url: load.target.url.text)
    }

    /// An attempt, which may take no longer than the request says.
    func transfer(
        _ load: Load, progress: @escaping @Sendable (LoadProgress) -> Void
    ) async -> Result<Resource, TransferFailure> {
        guard let timeout = load.timeout else { return await follow(load, progress: progress) }
        // No task group: that would wait for a transport which does not heed its cancellation.
        let (results, continuation) = AsyncStream<Result<Resource, TransferFailure>>.makeStream()
        let transfer = Task { continuation.yield(await follow(load, progress: progress)) }
        let timer = Task {
            guard (try? await load.configuration.sleep(timeout)) != nil else { return }
            let error = TransportError(.timedOut, message: "the load took longer than \(timeout)")
            continuation.yield(.failure(TransferFailure(error: .transport(error, url: load.target.url.text))))
        }
        defer {
            transfer.cancel()
            timer.cancel()
        }
        // Ends without a result if this task is cancelled.
        for await result in results { return result }
        return .failure(TransferFailure(error: .cancelled))
    }

    private func follow(
        _ load: Load, progress: @Sendable (LoadProgress) -> Void
    ) async -> Result<Resource, TransferFailure> {
        let beganAt = load.configuration.clock()
        defer { meters.transferred(in: load.configuration.clock().timeIntervalSince(beganAt)) }
        do throws(TransferFailure) {
            return .success(try await loadHopByHop(load, progress: progress))
        } catch {
            return .failure(error)
        }
    }

    /// Loads hop by hop until something else than a redirect answers.
    private func loadHopByHop(
        _ load: Load, progress: (LoadProgress) -> Void
    ) async throws(TransferFailure) -> Resource {
        var (target, method, content, fields) = (load.target, load.method, load.content, load.headerFields)
        let configuration = load.configuration
        for _ in 0...max(0, configuration.maxRedirects) {
            let transaction = transaction(load, target, fields, method, content)
            // Held until the response is in the store, or is not going to be.
            let claim = await claim(target, load, transaction)
            defer { claim?.release() }
            let response = try await Self.failing { () async throws(LoadError) in try await transaction.answer() }
            // A transport need not heed its cancellation.
            guard !Task.isCancelled else { throw TransferFailure(error: .cancelled) }
            let next = try await Self.failing { () throws(LoadError) in
                try Redirect.target(of: response.head, from: target.url)
            }
            guard let next else { return try await finish(load, response, target, transaction, progress: progress) }
            if !Redirect.isSameOrigin(target.url, next) { Redirect.removeCredentials(from: &fields) }
            let nextMethod = Redirect.method(after: method, status: response.head.status)
            if nextMethod != method {
                content = nil
                Redirect.removeContentFields(from: &fields)
            }
            method = nextMethod
            await Self.drain(response)
            target = LoadTarget(next)
        }
        let limit = configuration.maxRedirects
        throw TransferFailure(error: .tooManyRedirects(url: load.target.url.text, limit: limit))
    }

    /// Has other processes that want the same wait for what this one is going to store. If one of them was faster, waits for
    /// that: then the answer is in the store, unless its load has failed.
    private func claim(_ target: LoadTarget, _ load: Load, _ transaction: CacheTransaction) async -> LoadClaim? {
        let wait = load.configuration.processWait
        guard wait > .zero, transaction.request.method == .get, load.policy.mode != .remoteOnly,
            !transaction.forbidsNetwork
        else { return nil }
        return try? await store.waitForClaim(target.key, upTo: wait, elsewhereOnly: true)
    }

    private static func failing<Value>(
        _ body: () async throws(LoadError) -> Value
    ) async throws(TransferFailure) -> Value {
        do throws(LoadError) {
            return try await body()
        } catch {
            throw TransferFailure(error: error)
        }
    }

    private func finish(
        _ load: Load, _ response: CachedResponse, _ target: LoadTarget, _ transaction: CacheTransaction,
        progress: (LoadProgress) -> Void
    ) async throws(TransferFailure) -> Resource {
        // Only a condition of the caller's own is answered with a 304.
        guard response.head.status.kind == .successful || response.head.status == .notModified else {
            if response.source == .network {
                if response.head.status.code >= 400 {
                    await transaction.recordFailure(response, within: load.configuration.negativeCaching.window)
                }
                await Self.drain(response)
            }
            throw TransferFailure(
                error: .httpStatus(response.head.status.code, url: target.url.text),
                retryAfter: response.head.headerFields.retryAfter(at: transaction.now))
        }
        do throws(LoadError) {
            let resource = try await Resource(response, target, load.configuration, progress: progress)
            if response.source == .network { await transaction.forgetFailures() }
            return resource
        } catch {
            guard case .store(let reason) = error, response.source != .network, !transaction.forbidsNetwork else {
                throw TransferFailure(error: error)
            }
            transaction.log("could not read a stored body", reason)
            return try await Self.failing { () async throws(LoadError) in
                try await Resource(transaction.answerFromOrigin(), target, load.configuration, progress: progress)
            }
        }
    }

    /// Reads a body that nobody wants to its end, if that is near: then the response is stored, if it may be, and its
    /// connection used again.
    private static func drain(_ response: CachedResponse) async {
        var rest = 65_536
        var chunks = response.body.makeAsyncIterator()
        while rest > 0, let chunk = try? await chunks.next() { rest -= chunk.count }
    }

    func transaction(
        _ load: Load, _ target: LoadTarget, _ fields: HTTPFields, _ method: HTTPRequest.Method = .get,
        _ content: Data? = nil
    ) -> CacheTransaction {
        var fields = fields
        if !load.configuration.credentials.isEmpty, !fields.contains(.authorization) {
            fields[.authorization] = target.url.origin.flatMap { load.configuration.credentials[$0]?.fieldValue }
        }
        var transaction = CacheTransaction(
            HTTPRequest(method, key: target.url, fields: fields), content: content.map { RequestContent($0) },
            key: target.key, target: target.url, context: context, configuration: load.configuration.cache,
            policy: load.policy, keepsErrors: false)
        transaction.contentTypes = load.configuration.contentTypes
        // A transport that decodes says so itself. Ranges count encoded bytes.
        if load.configuration.decodesContent, method == .get, fields[.range] == nil,
            !transaction.request.headerFields.contains(.acceptEncoding)
        {
            transaction.request.headerFields[.acceptEncoding] = ContentCoding.accepted
        }
        return transaction
    }
}

extension ResourceLoader.Configuration {
    /// A body without its coding, if that is to be taken off; then the fields do not speak of it either.
    func decode(_ data: Data, _ fields: inout HTTPFields, url: String) throws(LoadError) -> Data {
        guard decodesContent,
            let decoded = try ContentCoding.decode(data, fields, limit: maxBodyBytes, url: url)
        else { return data }
        fields[.contentEncoding] = nil
        fields[.contentLength] = nil
        return decoded
    }
}

extension Resource {
    init(
        _ response: CachedResponse, _ target: LoadTarget, _ configuration: ResourceLoader.Configuration,
        progress: (LoadProgress) -> Void = { _ in }
    ) async throws(LoadError) {
        if let wanted = configuration.contentTypes, response.head.status != .notModified,
            !wanted.accepts(response.head.headerFields)
        {
            let type = response.head.headerFields[values: .contentType].last
            throw .unacceptableContentType(type, url: target.url.text)
        }
        let total = response.body.byteCount
        var data = try await response.body.data { progress(LoadProgress(received: $0, total: total)) }
        var fields = response.head.headerFields
        if response.head.status != .partialContent {
            data = try configuration.decode(data, &fields, url: target.url.text)
        }
        self.init(
            value: data, url: target.url.text, status: response.head.status, headerFields: fields,
            source: response.source, age: response.age, isStale: response.isStale, expiresAt: response.expiresAt,
            failure: response.failure)
    }
}

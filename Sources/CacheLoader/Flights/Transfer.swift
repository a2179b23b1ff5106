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
    /// Whether no other attempt is to be made, whatever the error.
    var isFinal = false
    /// Attempts that it took more than one.
    var extraAttempts = 0

    var isOfTransport: Bool {
        if case .transport = error { true } else { false }
    }
}

/// A resource, and what the store holds of it.
struct Arrived: Sendable {
    let resource: Resource
    /// `nil` if it is not stored, or nothing is known of that.
    let entry: StoredEntry?
}

/// One attempt to load something: through the cache, hop by hop.
extension ResourceLoader {
    /// A value of what is fresh in the store. It does not wait for anybody, and nobody for it.
    func loadFromStore(
        _ load: Load, _ recipe: Recipe
    ) async throws(LoadError) -> (value: Loaded<any Sendable>, byteCount: Int, entry: StoredEntry?)? {
        guard load.isShareable else { return nil }
        let transaction = transaction(load, load.target, load.headerFields, load.method)
        guard let response = try transaction.contentFromStore() else { return nil }
        if let entry = response.entry, response.head.status == .ok,
            let value = await recipe.storedValue(of: entry, in: store, load.configuration)
        {
            let loaded = Loaded(value, response, load.target, load.configuration)
            return (loaded, Int(clamping: entry.byteCount), entry)
        }
        let resource: Resource
        do throws(LoadError) {
            resource = try await Resource(response, load.target, load.configuration)
        } catch .store, .malformedContent {
            // A body that is of no use after all: a flight finds another way.
            return nil
        }
        let value = try await make(recipe, of: resource).get()
        if let entry = response.entry { await recipe.keep(value, of: entry, in: store, load.configuration) }
        return (resource.with(value), resource.data.count, response.entry)
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

    // MARK: Attempts

    /// An attempt, which may take no longer than the request says.
    ///
    /// - Parameter tell: Is told what happens, on any thread.
    func transfer(
        _ load: Load, _ attempt: Int, tell: @escaping @Sendable (FlightEvent) -> Void
    ) async -> Result<Arrived, TransferFailure> {
        guard let timeout = load.timeout else { return await follow(load, attempt, tell) }
        // No task group: that would wait for a transport which does not heed its cancellation.
        let (results, continuation) = AsyncStream<Result<Arrived, TransferFailure>>.makeStream()
        let transfer = Task { continuation.yield(await follow(load, attempt, tell)) }
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
        _ load: Load, _ attempt: Int, _ tell: @escaping @Sendable (FlightEvent) -> Void
    ) async -> Result<Arrived, TransferFailure> {
        let beganAt = load.configuration.clock()
        defer { meters.transferred(in: load.configuration.clock().timeIntervalSince(beganAt)) }
        var last = attempt
        do throws(TransferFailure) {
            return .success(try await loadHopByHop(load, &last, tell))
        } catch {
            var failure = error
            failure.extraAttempts = last - attempt
            return .failure(failure)
        }
    }

    /// Loads hop by hop until something else than a redirect answers.
    ///
    /// - Parameter attempt: The number of the attempt; greater afterwards if it took others.
    private func loadHopByHop(
        _ load: Load, _ attempt: inout Int, _ tell: @escaping @Sendable (FlightEvent) -> Void
    ) async throws(TransferFailure) -> Arrived {
        var (target, method, content, fields) = (load.target, load.method, load.content, load.headerFields)
        let configuration = load.configuration
        for _ in 0...max(0, configuration.maxRedirects) {
            var transaction = transaction(load, target, fields, method, content)
            transaction.onStoreFailure = { tell(.storeFailed($0)) }
            let (status, next): (HTTPResponse.Status, CacheKey)
            switch try await hop(load, target, transaction, &attempt, tell) {
            case .content(let arrived): return arrived
            case .redirect(let redirect, let location): (status, next) = (redirect, location)
            }
            if !Redirect.isSameOrigin(target.url, next) { Redirect.removeCredentials(from: &fields) }
            let nextMethod = Redirect.method(after: method, status: status)
            if nextMethod != method {
                content = nil
                Redirect.removeContentFields(from: &fields)
            }
            method = nextMethod
            target = LoadTarget(next)
        }
        let limit = configuration.maxRedirects
        throw TransferFailure(error: .tooManyRedirects(url: load.target.url.text, limit: limit))
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

extension Loaded {
    /// A value that was made of the body of a response before.
    fileprivate init(
        _ value: Output, _ response: CachedResponse, _ target: LoadTarget, _ configuration: ResourceLoader.Configuration
    ) {
        var fields = response.head.headerFields
        if configuration.decodesContent, ContentCoding.isKnown(fields) { fields.removeCoding() }
        self.init(value, response, target, fields)
    }

    fileprivate init(_ value: Output, _ response: CachedResponse, _ target: LoadTarget, _ fields: HTTPFields) {
        self.init(
            value: value, url: target.url.text, status: response.head.status, headerFields: fields,
            source: response.source, age: response.age, isStale: response.isStale, expiresAt: response.expiresAt,
            failure: response.failure)
    }
}

extension HTTPFields {
    fileprivate mutating func removeCoding() {
        self[.contentEncoding] = nil
        self[.contentLength] = nil
    }
}

extension ResourceLoader.Configuration {
    /// A body without its coding, if that is to be taken off; then the fields do not speak of it either.
    func decode(_ data: Data, _ fields: inout HTTPFields, url: String) throws(LoadError) -> Data {
        guard decodesContent,
            let decoded = try ContentCoding.decode(data, fields, limit: maxBodyBytes, url: url)
        else { return data }
        fields.removeCoding()
        return decoded
    }
}

extension Resource {
    /// - Parameter undecodable: Is called when the body has arrived whole, and its coding cannot be taken off.
    init(
        _ response: CachedResponse, _ target: LoadTarget, _ configuration: ResourceLoader.Configuration,
        progress: (LoadProgress) -> Void = { _ in }, undecodable: () async -> Void = {}
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
            do throws(LoadError) {
                data = try configuration.decode(data, &fields, url: target.url.text)
            } catch {
                await undecodable()
                throw error
            }
        }
        self.init(data, response, target, fields)
    }
}

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

/// One attempt to load something: through the cache, hop by hop.
extension ResourceLoader {
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
        var request = HopRequest(load)
        for _ in 0...max(0, load.configuration.maxRedirects) {
            var transaction = transaction(load, request)
            transaction.onStoreFailure = { tell(.storeFailed($0)) }
            switch try await hop(load, request.target, transaction, &attempt, tell) {
            case .content(let arrived): return arrived
            case .redirect(let status, let next): request.follow(status, to: next)
            }
        }
        let limit = load.configuration.maxRedirects
        throw TransferFailure(error: .tooManyRedirects(url: load.target.url.text, limit: limit))
    }
}

extension HTTPFields {
    mutating func removeCoding() {
        self[.contentEncoding] = nil
        self[.contentLength] = nil
    }
}

extension ResourceLoader.Configuration {
    /// Throws for content of a type that is not taken.
    func checkContentType(of head: HTTPResponse, url: String) throws(LoadError) {
        guard let contentTypes, head.status != .notModified, !contentTypes.accepts(head.headerFields) else { return }
        throw .unacceptableContentType(head.headerFields[values: .contentType].last, url: url)
    }

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
        try configuration.checkContentType(of: response.head, url: target.url.text)
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

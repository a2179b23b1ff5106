internal import CacheCodings
internal import CacheFoundation
internal import CacheStore
internal import Logging
internal import Synchronization

/// The reason for a failed attempt.
struct TransferFailure: Error {
    let error: LoadError
    /// The delay that the origin asked for (RFC 9110 §10.2.3).
    var retryAfter: Duration?
    /// Whether no other attempt follows, regardless of the error.
    var isFinal = false
    /// The number of further attempts that the attempt needed.
    var extraAttempts = 0
    /// The key of an unusable response that an upstream cache sent; otherwise `nil`.
    var refused: CacheKey?
    /// The redirect step that failed. The transfer sets it at its end.
    var request: RedirectRequest?

    var isOfTransport: Bool {
        if case .transport = error { true } else { false }
    }
}

/// Makes one attempt of a load through the cache, one redirect step after the other.
extension ResourceLoader {
    /// Makes an attempt within a time limit. After a timeout a stored response answers, if it may. `refused` is the key
    /// of a refused response: the attempt asks the origin for the whole instead, and bypasses upstream caches. Calls
    /// `notify` on any thread.
    func transfer(
        _ load: Load, _ attempt: Int, within timeLimit: Duration?, bypassing refused: CacheKey?,
        notify: @escaping @Sendable (WaiterEvent) -> Void
    ) async -> Result<LoadedResource, TransferFailure> {
        guard let timeLimit else { return await follow(load, attempt, bypassing: refused, notify) { _ in } }
        /// The latest request of the attempt, after the redirects so far.
        let latest = Mutex(RedirectRequest(load))
        let result = await withTimeLimit(timeLimit, load.configuration.sleep) {
            await self.follow(load, attempt, bypassing: refused, notify) { request in latest.withLock { $0 = request } }
        }
        if let result { return result }
        guard !Task.isCancelled else { return .failure(TransferFailure(error: .cancelled)) }
        let error = TransportError(.timedOut, message: "the load took longer than \(load.timeout ?? timeLimit)")
        return await answer(
            load, from: latest.withLock { $0 }, bypassing: refused,
            insteadOf: .transport(error, url: load.target.url.text), notify)
    }

    /// Makes an attempt without a time limit. `onRequest` receives the first request and the one after each redirect,
    /// before it is answered.
    private func follow(
        _ load: Load, _ attempt: Int, bypassing refused: CacheKey?, _ notify: @escaping @Sendable (WaiterEvent) -> Void,
        onRequest: (RedirectRequest) -> Void
    ) async -> Result<LoadedResource, TransferFailure> {
        let beganAt = load.configuration.clock()
        defer { meters.transferTimer.record(seconds: load.configuration.clock().timeIntervalSince(beganAt)) }
        // The number of the latest attempt: a redirect step may need another one.
        var last = attempt
        var latest = RedirectRequest(load)
        do throws(TransferFailure) {
            let arrived = try await followRedirects(load, from: latest) {
                (request, bypassesStore) async throws(TransferFailure) in
                latest = request
                onRequest(request)
                if request.target != load.target { notify(.redirected(to: request.target.key)) }
                var transaction = transaction(load, request, bypassing: refused, notify)
                if bypassesStore, !transaction.forbidsNetwork { transaction.policy.mode = .remoteOnly }
                return try await takeStep(load, request.target, transaction, &last, notify)
            }
            return .success(arrived)
        } catch {
            var failure = error
            failure.extraAttempts = last - attempt
            failure.request = latest
            return .failure(failure)
        }
    }

    /// Answers an attempt with stored responses, as for a disconnected origin (RFC 9111 §4.2.4). Returns `failure` if
    /// none may answer.
    private func answer(
        _ load: Load, from request: RedirectRequest, bypassing refused: CacheKey?, insteadOf failure: LoadError,
        _ notify: @escaping @Sendable (WaiterEvent) -> Void
    ) async -> Result<LoadedResource, TransferFailure> {
        do throws(TransferFailure) {
            let arrived = try await followRedirects(load, from: request) {
                (request, _) async throws(TransferFailure) in
                let transaction = transaction(load, request, bypassing: refused, notify)
                let response = try await Self.failing { () throws(LoadError) in
                    try transaction.answer(insteadOf: failure)
                }
                return try await settle(load, response, request.target, transaction, isOfOrigin: false, notify)
            }
            return .success(arrived)
        } catch {
            return .failure(TransferFailure(error: failure))
        }
    }

    /// Returns the stored response that answers after the body of the last attempt ended early, if one may answer.
    func staleAnswer(
        _ load: Load, after failure: TransferFailure, bypassing refused: CacheKey?,
        notify: @escaping @Sendable (WaiterEvent) -> Void
    ) async -> LoadedResource? {
        // An attempt that fails before the body queries the store itself.
        guard failure.isOfTransport, let request = failure.request else { return nil }
        let answer = await answer(load, from: request, bypassing: refused, insteadOf: failure.error, notify)
        return try? answer.get()
    }

    private func followRedirects(
        _ load: Load, from first: RedirectRequest,
        _ step: (RedirectRequest, Bool) async throws(TransferFailure) -> RedirectStep<LoadedResource>
    ) async throws(TransferFailure) -> LoadedResource {
        let limit = load.configuration.maxRedirects
        guard let arrived = try await first.follow(atMost: limit, step) else {
            throw TransferFailure(error: .tooManyRedirects(url: load.target.url.text, limit: limit))
        }
        return arrived
    }

    private func transaction(
        _ load: Load, _ request: RedirectRequest, bypassing refused: CacheKey?,
        _ notify: @escaping @Sendable (WaiterEvent) -> Void
    ) -> CacheTransaction {
        var transaction = transaction(load, request)
        transaction.onStoreFailure = { notify(.storeFailed($0)) }
        if request.target.key == refused { transaction.policy.mode = .remoteOnly }
        transaction.bypassesUpstreamCaches = [refused, load.refused].contains(request.target.key)
        return transaction
    }
}

extension ResourceLoader.Configuration {
    /// Throws if the configuration does not accept the type of the content.
    func checkContentType(of head: HTTPResponse, url: String) throws(LoadError) {
        guard let contentTypeFilter, head.status != .notModified, !contentTypeFilter.accepts(head.headerFields) else {
            return
        }
        throw .unacceptableContentType(head.headerFields[values: .contentType].last, url: url)
    }

    /// Decodes the body, and removes the coding from the fields. Changes nothing for an unknown coding, or if the
    /// configuration does not decode.
    func decode(_ data: Data, _ fields: inout HTTPFields, url: String) throws(LoadError) -> Data {
        guard decodesContent else { return data }
        do throws(ContentDecodingError) {
            // A body of a few KiB may decode to gigabytes, so the decoded body has a limit, too.
            let limit = min(maxBodyBytes, maxDecodedBytes)
            guard let decoded = try ContentCoding.decode(data, fields, limit: limit) else { return data }
            fields.removeEncodedDescription()
            return decoded
        } catch {
            throw LoadError(error, url: url)
        }
    }

    /// Whether decoding the body would keep the caller's executor for long: more than 64 KiB have a coding.
    fileprivate func decodesLong(_ data: Data, _ fields: HTTPFields) -> Bool {
        data.count > 65_536 && decodesContent && ContentCoding.isKnown(fields)
    }

    /// Like ``decode(_:_:url:)``, but runs on the concurrent executor, not on the caller's.
    @concurrent
    fileprivate func decodeConcurrently(
        _ data: Data, _ fields: HTTPFields, url: String
    ) async throws(LoadError) -> (Data, HTTPFields) {
        var fields = fields
        let decoded = try decode(data, &fields, url: url)
        return (decoded, fields)
    }
}

extension Loaded<Data> {
    /// Reads the body of a response, and decodes it. The decoded body must have `digests`. Calls `undecodable` if the
    /// body has arrived completely, but cannot be decoded, or differs from a digest.
    init(
        _ response: CachedResponse, _ target: LoadTarget, _ settings: LoaderSettings, digests: [IntegrityDigests] = [],
        progress: (_ received: Int64, _ total: Int64?) -> Void = { _, _ in }, undecodable: () async -> Void = {}
    ) async throws(LoadError) {
        try settings.configuration.checkContentType(of: response.head, url: target.url.text)
        let total = response.body.byteCount
        var data = try await response.body.data { progress($0, total) }
        var fields = response.headerFields
        // Most bodies have no coding and no digest to compare. A part of an encoded body cannot be decoded alone.
        if response.status != .partialContent, fields.contains(.contentEncoding) || !digests.isEmpty {
            do throws(LoadError) {
                let configuration = settings.configuration
                if configuration.decodesLong(data, fields) {
                    (data, fields) = try await configuration.decodeConcurrently(data, fields, url: target.url.text)
                } else {
                    data = try configuration.decode(data, &fields, url: target.url.text)
                }
                if !fields.contains(.contentEncoding), var check = DigestCheck(digests, isStored: false) {
                    check.update(data)
                    if let field = check.mismatch() {
                        throw .digestMismatch(url: target.url.text, field: field.rawValue)
                    }
                }
            } catch {
                await undecodable()
                throw error
            }
        }
        self.init(data, response, target, fields)
    }
}

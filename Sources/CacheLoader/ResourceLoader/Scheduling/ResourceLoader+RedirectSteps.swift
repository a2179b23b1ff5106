internal import CacheCodings
internal import CacheFoundation
internal import CacheStore
internal import Logging

extension RedirectRequest {
    /// Creates the request of the first step. `method` replaces the method of the load.
    init(_ load: Load, method: HTTPRequest.Method? = nil) {
        self.init(
            load.target, method ?? load.method, load.headerFields, content: load.content.map { RequestContent($0) })
    }
}

extension ResourceLoader {
    /// Returns the transaction for the first redirect step of a load.
    func transaction(_ load: Load) -> CacheTransaction {
        transaction(load, RedirectRequest(load))
    }

    func transaction(_ load: Load, _ step: RedirectRequest) -> CacheTransaction {
        let (settings, url) = (load.settings, step.target.url)
        var fields = step.headerFields
        if !settings.configuration.credentials.isEmpty, !fields.contains(.authorization) {
            fields[.authorization] = url.origin.flatMap { settings.configuration.credentials[$0]?.fieldValue }
        }
        let (request, policy) = (HTTPRequest(step.method, key: url, fields: fields), load.policy(for: url))
        // The key of a redirected QUERY depends on its new URL.
        let key = step.target.key == url ? url.key(for: request, step.content, policy) : step.target.key
        var transaction = CacheTransaction(
            request, content: step.content, key: key, target: url, context: context, settings: settings.cache,
            policy: policy, keepsErrors: false, contentTypeFilter: settings.configuration.contentTypeFilter,
            isBackground: load.isBackground, snapshot: load.snapshot)
        transaction.request.addLoaderFields(decodesContent: settings.configuration.decodesContent)
        return transaction
    }
}

extension ResourceLoader {
    /// Takes one redirect step of an attempt through the cache. If the stored body is unusable, asks the origin.
    /// Increases the number `attempt` if the step needs another attempt.
    func takeStep(
        _ load: Load, _ target: LoadTarget, _ transaction: CacheTransaction, _ attempt: inout Int,
        _ notify: @escaping @Sendable (WaiterEvent) -> Void
    ) async throws(TransferFailure) -> RedirectStep<LoadedResource> {
        // Check only before the first attempt. RetryPolicy decides about later attempts; their failures count for later
        // loads.
        if attempt == 1, let fallback = try blocked(load, transaction) {
            return try await settle(load, fallback, target, transaction, isOfOrigin: false, notify)
        }
        let response = try await Self.failing { () async throws(LoadError) in try await transaction.answer() }
        do throws(TransferFailure) {
            return try await settle(load, response, target, transaction, notify)
        } catch {
            guard !response.source.isTransferred, !transaction.forbidsNetwork, error.isOfCopy else { throw error }
            if case .store(let reason) = error.error { transaction.log("could not read a stored body", reason) }
            if response.source == .notModified {
                // The attempt has asked the origin already.
                guard attempt < load.retry.maxAttempts else {
                    // Without the entry, the next load asks for the whole.
                    if let entry = response.entry { await transaction.remove(entry) }
                    throw error
                }
                attempt += 1
            }
            var again = transaction
            // An upstream cache may have the same bad content. If only this store has damaged the body, upstream caches
            // have a good one.
            again.bypassesUpstreamCaches = transaction.bypassesUpstreamCaches || error.error.isOfContent
            let whole = try await Self.failing { [again] () async throws(LoadError) in
                try await again.answerFromOrigin()
            }
            return try await settle(load, whole, target, again, notify)
        }
    }

    /// Calls ``staleFallbackWhileBlocked(_:_:)``, and makes its error final.
    private func blocked(
        _ load: Load, _ transaction: CacheTransaction
    ) throws(TransferFailure) -> CachedResponse? {
        do throws(LoadError) {
            return try staleFallbackWhileBlocked(load, transaction)
        } catch {
            throw TransferFailure(error: error, isFinal: true)
        }
    }

    /// Turns a response into content, a redirect or an error. Counts an error of the origin.
    func settle(
        _ load: Load, _ response: CachedResponse, _ target: LoadTarget, _ transaction: CacheTransaction,
        isOfOrigin: Bool = true, _ notify: @escaping @Sendable (WaiterEvent) -> Void
    ) async throws(TransferFailure) -> RedirectStep<LoadedResource> {
        // A transport may ignore its cancellation.
        guard !Task.isCancelled else { throw TransferFailure(error: .cancelled) }
        let window = load.configuration.negativeCaching.lifetime
        // Without a generation, another caller sent the request and counts its failure.
        if isOfOrigin, let status = response.failure?.status, let generation = response.generation {
            await transaction.recordFailure(status.code, within: window, unlessRemovedSince: generation)
        }
        let next = try await Self.failing { () throws(LoadError) in
            try Redirect.target(of: response.head, from: target.url)
        }
        if let next {
            if response.source.isTransferred || response.source == .notModified { await transaction.removeFailures() }
            if response.source.isTransferred { response.drainInBackground(sleep: load.configuration.sleep) }
            return .redirect(response.status, to: next, isStored: response.source == .disk)
        }
        // A 304 arrives here only if the caller has set a condition.
        let status = response.status
        guard status.kind == .successful || status == .notModified else {
            if response.source.isTransferred, status.code >= 400 {
                await transaction.recordFailure(
                    status.code, within: window, unlessRemovedSince: response.generation)
            }
            let error = await OriginError(
                response, url: target.url.text, decodes: load.configuration.decodesContent)
            throw TransferFailure(
                error: .httpStatus(error),
                retryAfter: response.headerFields.retryAfter(at: transaction.now))
        }
        let isOfOrigin = response.source.isTransferred || response.source == .notModified
        // A response that always needs validation must not answer later requests (RFC 9111 §5.2.2.4). A load that
        // begins within a second of the head counts as concurrent.
        let expiry = response.expiresAt ?? load.configuration.clock().addingTimeInterval(1)
        notify(.responding(expiresAt: isOfOrigin ? expiry : nil))
        let isNew = response.source.isTransferred
        var steps = ProgressSteps()
        let method = transaction.request.method
        let digests = isNew ? IntegrityDigests.ofDecoded(response.head, to: method, policy: load.policy) : []
        let resource: Loaded<Data>
        do throws(LoadError) {
            resource = try await Loaded<Data>(
                response, target, load.settings, digests: digests,
                progress: { if steps.isDue($0, of: $1) { notify(.progress(received: $0, total: $1)) } },
                // Remove a body that cannot be decoded: it would answer loads until it is stale.
                undecodable: { if isNew, let entry = response.entry { await transaction.remove(entry) } })
        } catch {
            var failure = TransferFailure(error: error)
            if error.isOfContent, response.isFromUpstreamCache, load.isShareable { failure.refused = target.key }
            throw failure
        }
        if isNew || response.source == .notModified { await transaction.removeFailures() }
        return .content(LoadedResource(resource, response, target, method))
    }

    static func failing<Value>(
        _ body: () async throws(LoadError) -> Value
    ) async throws(TransferFailure) -> Value {
        do throws(LoadError) {
            return try await body()
        } catch {
            throw TransferFailure(error: error)
        }
    }
}

extension LoadError {
    /// Whether the content is unusable even if complete: undecodable, or of another type.
    fileprivate var isOfContent: Bool {
        switch self {
        case .malformedContent, .unacceptableContentType: true
        default: false
        }
    }
}

extension TransferFailure {
    /// Whether the stored body is unusable, so that the origin may have a better one.
    fileprivate var isOfCopy: Bool {
        switch error {
        case .store, .malformedContent: true
        default: false
        }
    }
}

extension OriginError {
    /// Reads the start of the body, and does not wait for the rest.
    fileprivate init(_ response: CachedResponse, url: String, decodes: Bool) async {
        var (body, isWhole) = await response.body.start(upTo: Self.maxBodyBytes)
        var fields = response.headerFields
        if decodes, let decoded = ContentCoding.decodeStart(of: body, fields, limit: Int64(Self.maxBodyBytes)) {
            fields.removeEncodedDescription()
            body = decoded.bytes
            isWhole = isWhole && decoded.isWhole
        }
        self.init(
            status: response.status, url: url, headerFields: fields, body: body, isBodyTruncated: !isWhole)
    }
}

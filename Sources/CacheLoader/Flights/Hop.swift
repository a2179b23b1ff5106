internal import CacheStore
internal import HTTPTypes
internal import Logging

/// What one request of an attempt has led to.
enum Hop {
    case content(Arrived)
    /// A redirect, with its status.
    case redirect(HTTPResponse.Status, to: CacheKey)
}

extension ResourceLoader {
    /// One hop of an attempt: through the cache, and past it if what is stored turns out to be of no use.
    ///
    /// - Parameter attempt: The number of the attempt; greater afterwards if it took another.
    func hop(
        _ load: Load, _ target: LoadTarget, _ transaction: CacheTransaction, _ attempt: inout Int,
        _ tell: @escaping @Sendable (FlightEvent) -> Void
    ) async throws(TransferFailure) -> Hop {
        // The attempts of one load are the policy's affair; what they meet is counted for the loads to come.
        if attempt == 1, let fallback = try blocked(load, transaction) {
            return try await settle(load, fallback, target, transaction, isOfOrigin: false, tell)
        }
        let response = try await Self.failing { () async throws(LoadError) in try await transaction.answer() }
        do throws(TransferFailure) {
            return try await settle(load, response, target, transaction, tell)
        } catch {
            guard response.source != .network, !transaction.forbidsNetwork, error.isOfCopy else { throw error }
            if case .store(let reason) = error.error { transaction.log("could not read a stored body", reason) }
            if response.source == .notModified {
                // The origin was asked already.
                guard attempt < load.retry.maxAttempts else {
                    // The next load asks for the whole.
                    if let entry = response.entry { await transaction.remove(entry) }
                    throw error
                }
                attempt += 1
            }
            let whole = try await Self.failing { () async throws(LoadError) in
                try await transaction.answerFromOrigin()
            }
            return try await settle(load, whole, target, transaction, tell)
        }
    }

    /// As ``staleFallbackWhileBlocked(_:_:)``; its error is not tried again.
    private func blocked(
        _ load: Load, _ transaction: CacheTransaction
    ) throws(TransferFailure) -> CachedResponse? {
        do throws(LoadError) {
            return try staleFallbackWhileBlocked(load, transaction)
        } catch {
            throw TransferFailure(error: error, isFinal: true)
        }
    }

    /// Turns a response into content, a redirect, or an error, which is counted if it is of the origin.
    func settle(
        _ load: Load, _ response: CachedResponse, _ target: LoadTarget, _ transaction: CacheTransaction,
        isOfOrigin: Bool = true, _ tell: @escaping @Sendable (FlightEvent) -> Void
    ) async throws(TransferFailure) -> Hop {
        // A transport need not heed its cancellation.
        guard !Task.isCancelled else { throw TransferFailure(error: .cancelled) }
        let window = load.configuration.negativeCaching.lifetime
        if isOfOrigin, let status = response.failure?.status {
            await transaction.recordFailure(status.code, within: window, unlessRemovedSince: response.generation)
        }
        let next = try await Self.failing { () throws(LoadError) in
            try Redirect.target(of: response.head, from: target.url)
        }
        if let next {
            if response.source == .network { response.drainInBackground(sleep: load.configuration.sleep) }
            return .redirect(response.head.status, to: next)
        }
        // Only a condition of the caller's own is answered with a 304.
        let status = response.head.status
        guard status.kind == .successful || status == .notModified else {
            if response.source == .network, status.code >= 400 {
                await transaction.recordFailure(
                    status.code, within: window, unlessRemovedSince: response.generation)
            }
            let error = await OriginError(
                response, url: target.url.text, decodes: load.configuration.decodesContent)
            throw TransferFailure(
                error: .httpStatus(error),
                retryAfter: response.head.headerFields.retryAfter(at: transaction.now))
        }
        return try await Self.failing { () async throws(LoadError) in
            let isNew = response.source == .network
            let resource = try await Resource(
                response, target, load.configuration, progress: { tell(.progress($0)) },
                // A body that cannot be decoded would answer until it turns stale.
                undecodable: { if isNew, let entry = response.entry { await transaction.remove(entry) } })
            if isNew { await transaction.removeFailures() }
            return .content(Arrived(resource, response, target, transaction.request.method))
        }
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

extension TransferFailure {
    /// Whether a stored body is of no use, which its origin may have better.
    fileprivate var isOfCopy: Bool {
        switch error {
        case .store, .malformedContent: true
        default: false
        }
    }
}

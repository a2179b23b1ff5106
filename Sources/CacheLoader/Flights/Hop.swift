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
        if attempt == 1, let standIn = try blocked(load, transaction) {
            return try await settle(load, standIn, target, transaction, isOfOrigin: false, tell)
        }
        // Held until the response is in the store, or is not going to be.
        let lock = await keyLock(target, load, transaction)
        defer { lock?.release() }
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
                    await transaction.removeStored()
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

    /// As ``standInWhileBlocked(_:_:)``; its error is not tried again.
    private func blocked(
        _ load: Load, _ transaction: CacheTransaction
    ) throws(TransferFailure) -> CachedResponse? {
        do throws(LoadError) {
            return try standInWhileBlocked(load, transaction)
        } catch {
            throw TransferFailure(error: error, isFinal: true)
        }
    }

    /// Locks the key, so that other processes wait for this load. If another process holds the lock, waits for its load, which
    /// leaves the response in the store unless it fails.
    private func keyLock(_ target: LoadTarget, _ load: Load, _ transaction: CacheTransaction) async -> KeyLock? {
        let wait = load.configuration.processWait
        guard wait > .zero, transaction.request.method == .get, load.policy.mode != .remoteOnly,
            !transaction.forbidsNetwork
        else { return nil }
        // The first hop is not in the store, or there would be no attempt.
        if target.key != load.target.key, case .answer? = try? transaction.decide() { return nil }
        return try? await store.lock(target.key, within: wait, elsewhereOnly: true)
    }

    /// What a response comes to: content, another hop, or an error, which is counted if it is of the origin.
    private func settle(
        _ load: Load, _ response: CachedResponse, _ target: LoadTarget, _ transaction: CacheTransaction,
        isOfOrigin: Bool = true, _ tell: @escaping @Sendable (FlightEvent) -> Void
    ) async throws(TransferFailure) -> Hop {
        // A transport need not heed its cancellation.
        guard !Task.isCancelled else { throw TransferFailure(error: .cancelled) }
        let window = load.configuration.negativeCaching.lifetime
        if isOfOrigin, case .httpStatus(let status, _)? = response.failure {
            await transaction.recordFailure(status, within: window, unlessRemovedSince: response.generation)
        }
        let next = try await Self.failing { () throws(LoadError) in
            try Redirect.target(of: response.head, from: target.url)
        }
        if let next {
            await Self.drain(response)
            return .redirect(response.head.status, to: next)
        }
        // Only a condition of the caller's own is answered with a 304.
        let status = response.head.status
        guard status.kind == .successful || status == .notModified else {
            if response.source == .network {
                if status.code >= 400 {
                    await transaction.recordFailure(
                        status.code, within: window, unlessRemovedSince: response.generation)
                }
                await Self.drain(response)
            }
            throw TransferFailure(
                error: .httpStatus(status.code, url: target.url.text),
                retryAfter: response.head.headerFields.retryAfter(at: transaction.now))
        }
        return try await Self.failing { () async throws(LoadError) in
            let isNew = response.source == .network
            let resource = try await Resource(
                response, target, load.configuration, progress: { tell(.progress($0)) },
                // What nobody can read is not kept, to be found again until it turns stale.
                undecodable: { if isNew, load.isShareable { await transaction.removeStored() } })
            if isNew { await transaction.removeFailures() }
            return .content(Arrived(resource, response, target, transaction.request.method))
        }
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

    /// Reads a body that nobody wants to its end, if that is near: then the response is stored, if it may be, and its
    /// connection used again.
    private static func drain(_ response: CachedResponse) async {
        var rest = 65_536
        var chunks = response.body.makeAsyncIterator()
        while rest > 0, let chunk = try? await chunks.next() { rest -= chunk.count }
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

internal import CacheFoundation
internal import CacheStore

/// Blocks requests to origins that keep answering with an error, as ``NegativeCaching`` demands.
extension ResourceLoader {
    /// The latest error of an origin that answered equal requests with too many errors. `nil` if a request may go now.
    func blockingError(_ load: Load, _ transaction: CacheTransaction) -> LoadError? {
        guard mayBeBlocked(load), let failure = transaction.failure(),
            load.configuration.negativeCaching.blocks(failure, at: load.configuration.clock())
        else { return nil }
        return .httpStatus(OriginError(status: .init(stored: failure.status), url: transaction.url))
    }

    private func mayBeBlocked(_ load: Load) -> Bool {
        load.configuration.negativeCaching.lifetime != nil && load.isShareable && load.policy.mode != .remoteOnly
    }

    /// Whether a load may send a request to the origin now: neither its policy nor errors of the origin forbid it.
    func mayAskOrigin(_ load: Load, _ transaction: CacheTransaction) -> Bool {
        !transaction.forbidsNetwork && blockingError(load, transaction) == nil
    }

    /// Answers a load with a stored response while ``NegativeCaching`` blocks requests to its origin. The load is not
    /// coalesced, and takes no place in a lane. Returns `nil` for a request that is not blocked or not needed, and for
    /// a stored redirect. Throws the latest error of the origin if no stored response may answer, and errors of reading
    /// or processing the body.
    func loadWhileBlocked(_ load: Load, _ plan: ProcessingPlan) async throws(LoadError) -> Loaded<any Sendable>? {
        // Most waiters need no transaction.
        guard mayBeBlocked(load),
            let response = try staleFallbackWhileBlocked(load, transaction(load)), response.status.kind == .successful
        else { return nil }
        let resource = try await Loaded<Data>(response, load.target, load.settings)
        let arrived = LoadedResource(resource, response, load.target, load.method)
        return resource.with(try await value(plan, of: arrived, load).get())
    }

    /// Returns the stored response that answers while requests are blocked, or `nil` for a request that is not blocked
    /// or not needed. Throws the latest error of the origin if no stored response may answer.
    func staleFallbackWhileBlocked(_ load: Load, _ transaction: CacheTransaction) throws(LoadError) -> CachedResponse? {
        guard let error = blockingError(load, transaction),
            case .forward(let forwarding) = try transaction.decide()
        else { return nil }
        return try transaction.serveStale(for: error, forwarding)
    }
}

internal import CacheStore
internal import HTTPTypes

/// Leaving origins alone that keep answering with an error, as ``NegativeCaching`` says.
extension ResourceLoader {
    /// The error of an origin that has answered with too many, and is not to be asked now.
    func blockingError(_ load: Load) -> LoadError? {
        blockingError(load, load.target.key, url: load.target.url.text)
    }

    private func blockingError(_ load: Load, _ key: CacheKey, url: String) -> LoadError? {
        let limit = load.configuration.negativeCaching
        guard limit.window != nil, load.isShareable, load.policy.mode != .remoteOnly,
            let failure = try? store.failure(for: key), limit.blocks(failure, at: load.configuration.clock())
        else { return nil }
        return .httpStatus(OriginError(status: .init(stored: failure.status), url: url))
    }

    /// Whether a load may ask the origin of a key now: neither its policy nor errors of the origin forbid that.
    func mayAskOrigin(_ load: Load, _ key: CacheKey, url: String) -> Bool {
        !transaction(load).forbidsNetwork && blockingError(load, key, url: url) == nil
    }

    /// What a load comes to without a flight, and without a place in a lane, while its origin is not to be asked: what is
    /// stored, if it may stand in for an origin that answers with that error. `nil` if the load takes a flight.
    ///
    /// - Throws: That error.
    func loadWhileBlocked(_ load: Load, _ recipe: Recipe) async throws(LoadError) -> Loaded<any Sendable>? {
        guard let response = try staleFallbackWhileBlocked(load, transaction(load)),
            response.head.status.kind == .successful
        else {
            return nil
        }
        let resource = try await Resource(response, load.target, load.configuration)
        let arrived = Arrived(resource, response, load.target, load.method)
        return resource.with(try await value(recipe, of: arrived, load).get())
    }

    /// The stored response that answers in place of an origin that is not to be asked now; `nil` if it may be asked, or need
    /// not be.
    ///
    /// - Throws: The error of the origin, if there is none.
    func staleFallbackWhileBlocked(_ load: Load, _ transaction: CacheTransaction) throws(LoadError) -> CachedResponse? {
        guard let error = blockingError(load, transaction.key, url: transaction.url),
            case .forward(let forwarding) = try transaction.decide()
        else { return nil }
        return try transaction.serveStale(for: error, forwarding)
    }
}

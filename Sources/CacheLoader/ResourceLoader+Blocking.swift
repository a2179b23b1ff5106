internal import CacheStore
internal import HTTPTypes

/// Leaving origins alone that keep answering with an error, as ``NegativeCaching`` says.
extension ResourceLoader {
    /// Returns the latest error of an origin that answered equal requests with too many errors; `nil` if the loader
    /// may send the request now.
    func blockingError(_ load: Load, _ transaction: CacheTransaction) -> LoadError? {
        let limit = load.configuration.negativeCaching
        guard limit.lifetime != nil, load.isShareable, load.policy.mode != .remoteOnly,
            let failure = transaction.failure(), limit.blocks(failure, at: load.configuration.clock())
        else { return nil }
        return .httpStatus(OriginError(status: .init(stored: failure.status), url: transaction.url))
    }

    /// Whether a load may send a request to the origin now: neither its policy nor errors of the origin forbid that.
    func mayAskOrigin(_ load: Load, _ transaction: CacheTransaction) -> Bool {
        !transaction.forbidsNetwork && blockingError(load, transaction) == nil
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
        guard let error = blockingError(load, transaction),
            case .forward(let forwarding) = try transaction.decide()
        else { return nil }
        return try transaction.serveStale(for: error, forwarding)
    }
}

/// The effects of a decision, for a cache that treats all cases alike.
extension ReplyDecision {
    /// The updated responses by the index of the stored response that each replaces. The stored bodies stay.
    public var updates: [Int: StoredResponse] {
        switch action {
        case .freshen(let updates, _, removeAfterUse: false), .update(let updates, _): updates
        case .freshen, .store, .storePart, .complete, .serveStale, .relay, .retry: [:]
        }
    }

    /// Returns the indices of the stored responses to remove. Includes the responses that ``updates`` replace, because
    /// an update may have a different ``StoredResponse/varyKey``.
    ///
    /// - Parameter candidates: The candidates of the decision.
    public func removals(among candidates: [StoredResponse]) -> [Int] {
        switch action {
        case .freshen(let updates, _, _): Array(updates.keys)
        case .update(let updates, let removals): Array(updates.keys) + removals
        case .retry(let removals): removals
        case .relay(removeStored: true): Array(candidates.indices)
        case .store, .storePart, .complete, .serveStale, .relay: []
        }
    }

    /// Returns the stored response that answers instead of the reply, and its age for ``StoredAnswer``. Returns `nil`
    /// when the reply itself answers, or when another request follows.
    ///
    /// - Parameters:
    ///   - candidates: The candidates of the decision.
    ///   - policy: The policy of the request.
    ///   - now: The current time.
    public func answer(
        among candidates: [StoredResponse], policy: CachePolicy, now: HTTPDate
    ) -> (index: Int, response: StoredResponse, age: Int64?)? {
        switch action {
        case .freshen(let updates, let index, _):
            (index, updates[index] ?? candidates[index], nil)
        case .serveStale(let index):
            (index, candidates[index], Freshness(of: candidates[index], policy: policy).age(at: now))
        case .store, .storePart, .complete, .update, .relay, .retry: nil
        }
    }
}

extension Explanation.Age {
    /// Repeats the terms of RFC 9111 §4.2.3 from ``Freshness``, because a hit should not compute and carry them.
    init(of response: StoredResponse, _ freshness: Freshness, field: Int64, at now: HTTPDate) {
        total = freshness.age(at: now)
        residentTime = max(0, now.seconds(since: response.responseTime))
        onArrival = total.saturatingSubtracting(residentTime)
        apparent = max(0, response.responseTime.seconds(since: freshness.date))
        self.field = field
        responseDelay = max(0, response.responseTime.seconds(since: response.requestTime))
    }
}

extension StatedTimes {
    /// Returns the source that ``lifetime(of:policy:)`` uses.
    func lifetimeSource(of response: StoredResponse, policy: CachePolicy) -> Explanation.LifetimeSource {
        if cacheControl.forbidsStoring { return .unstated }
        if policy.overridingLifetime(for: response.status) != nil { return .override }
        let isShared = policy.isShared && cacheControl.sharedMaxAge != .absent
        if isShared || cacheControl.maxAge != .absent {
            if let name = Self.targetedField(of: response, policy: policy) { return .targeted(name) }
            return isShared ? .sharedMaxAge : .maxAge
        }
        if expires != nil { return .expires }
        let admitsGuess = response.status.isHeuristicallyCacheable || cacheControl.isPublic
        if admitsGuess, heuristicBase(of: response, policy: policy) != nil { return .heuristic }
        return admitsGuess && policy.defaultLifetime.components.seconds > 0 ? .defaultLifetime : .unstated
    }

    /// Returns the name of the targeted field that replaces `Cache-Control`.
    private static func targetedField(of response: StoredResponse, policy: CachePolicy) -> String? {
        policy.targetedFields.first { CacheControl(targeted: response.fields, names: [$0]) != nil }
    }
}

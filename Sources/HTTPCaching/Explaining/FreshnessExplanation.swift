internal import HTTPTypes

/// A ``Freshness`` with the inputs of its computation.
///
/// Repeats the computation in a separate type: a hit does not need the inputs and should not carry them.
struct FreshnessExplanation {
    let freshness: Freshness
    /// The source of the freshness lifetime.
    let source: Explanation.LifetimeSource

    private let response: StoredResponse
    private let ageField: Int64

    init(of response: StoredResponse, policy: CachePolicy) {
        let stated = StatedTimes(response, policy: policy)
        self.response = response
        freshness = Freshness(of: response, policy: policy)
        source = stated.lifetimeSource(of: response, policy: policy)
        ageField = stated.age
    }

    /// Returns the age with each term of RFC 9111 §4.2.3.
    func age(at now: HTTPDate) -> Explanation.Age {
        let residentTime = max(0, now.seconds(since: response.responseTime))
        let total = freshness.age(at: now)
        return Explanation.Age(
            total: total, onArrival: total.saturatingSubtracting(residentTime),
            apparent: max(0, response.responseTime.seconds(since: freshness.date)), field: ageField,
            responseDelay: max(0, response.responseTime.seconds(since: response.requestTime)),
            residentTime: residentTime)
    }
}

extension StatedTimes {
    /// Returns the source that ``lifetime(of:policy:)`` uses.
    fileprivate func lifetimeSource(of response: StoredResponse, policy: CachePolicy) -> Explanation.LifetimeSource {
        if cacheControl.forbidsStoring { return .unstated }
        if policy.overridingLifetime(for: response.status) != nil { return .override }
        let isShared = policy.isShared && cacheControl.sharedMaxAge != .absent
        if isShared || cacheControl.maxAge != .absent {
            if let name = Self.targetedField(of: response, policy: policy) { return .targeted(name) }
            return isShared ? .sharedMaxAge : .maxAge
        }
        if expires != nil { return .expires }
        let admitsGuess = response.status.isHeuristicallyCacheable || cacheControl.isPublic
        if admitsGuess, let lastModified, policy.heuristicFraction > 0,
            HTTPDate(lenient: response.fields[lastModified], now: response.responseTime) != nil
        {
            return .heuristic
        }
        return admitsGuess && policy.defaultLifetime.components.seconds > 0 ? .defaultLifetime : .unstated
    }

    /// Returns the name of the targeted field that replaces `Cache-Control`.
    private static func targetedField(of response: StoredResponse, policy: CachePolicy) -> String? {
        policy.targetedFields.first { CacheControl(targeted: response.fields, names: [$0]) != nil }
    }
}

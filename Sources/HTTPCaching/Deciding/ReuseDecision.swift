// The folder `Deciding/` decides about a request, about a reply, and about a failure of the origin. The folder may use
// the rules of other folders, such as `Freshness/`, `Storing/`, `Validation/` and `Vary/`. Requests, stored responses
// and the time are arguments: the folder reads no clock, no store and no body.

/// Decides how a cache answers a request, given the stored responses for its URL (RFC 9111 §4).
///
/// A pure function of its arguments, safe on any thread. Costs one pass over the fields of the request and of each
/// candidate.
public struct ReuseDecision: Hashable, Sendable {
    /// The action of the cache. An index refers to the candidates of the decision.
    public enum Action: Hashable, Sendable {
        /// Answers with the stored response at this index, without the origin. ``StoredAnswer`` creates the answer.
        case hit(Int, age: Int64, isStale: Bool)
        /// Answers with the stale stored response at this index, and validates it in the background (RFC 5861 §3).
        ///
        /// For the background request, decide again with ``CachePolicy/Mode/revalidateAlways``.
        case hitWhileRevalidating(Int, age: Int64)
        /// Forwards this conditional request instead of the original one. After a 304 the stored response at this index
        /// answers.
        case validate(Int, HTTPRequest, ForwardReason)
        /// Requests the rest of the stored part at this index from the origin. Occurs only with a part among the
        /// candidates.
        case resume(Int, HTTPRequest)
        /// Forwards the request unchanged.
        case forward(ForwardReason)
        /// Answers with a 504: no stored response can answer, and the cache must not contact the origin (RFC 9111
        /// §5.2.1.7).
        case unsatisfiable
    }

    /// The action of the cache.
    public let action: Action
    /// The reason for the action.
    public let rule: Rule

    /// When the answering response becomes stale. `nil` without such a response, or if it always needs validation.
    package let expiry: HTTPDate?

    init(_ action: Action, rule: Rule, expiry: HTTPDate? = nil) {
        self.action = action
        self.rule = rule
        self.expiry = expiry
    }

    /// Decides how to answer `request`.
    ///
    /// - Parameters:
    ///   - request: The request as sent to the origin, including fields from the transport. `Vary` matches against it.
    ///   - candidates: All stored responses for the URL of the request, in any order. `Vary` selects among them.
    ///   - policy: The policy of the request.
    ///   - now: The current time, or ``HTTPDate/distantPast`` without a usable clock.
    ///   - fingerprint: Replaces credentials in a ``VaryKey``. Must be the function that made the candidates' keys.
    public init(
        for request: HTTPRequest, candidates: [StoredResponse], policy: CachePolicy, now: HTTPDate,
        fingerprint: VaryKey.Fingerprint
    ) {
        self = Self.make(request, candidates, policy, now, fingerprint)
    }

    /// The request with the cache's question, which the cache forwards instead of the original request, or `nil`.
    public var conditionalRequest: HTTPRequest? {
        switch action {
        case .validate(_, let request, _), .resume(_, let request): request
        case .hit, .hitWhileRevalidating, .forward, .unsatisfiable: nil
        }
    }

    /// The question that the forwarded request asks the origin, for ``ReplyDecision``.
    public var question: ReplyDecision.Question {
        switch action {
        case .validate(let index, _, _): .validation(index)
        case .resume(let index, _): .rest(index)
        case .hit, .hitWhileRevalidating, .forward, .unsatisfiable: .none
        }
    }

    /// The index of the stored response that the decision uses.
    package var index: Int? {
        switch action {
        case .hit(let index, _, _), .hitWhileRevalidating(let index, _), .validate(let index, _, _),
            .resume(let index, _):
            index
        case .forward, .unsatisfiable: nil
        }
    }

    private static func make(
        _ request: HTTPRequest, _ candidates: [StoredResponse], _ policy: CachePolicy, _ now: HTTPDate,
        _ fingerprint: VaryKey.Fingerprint
    ) -> ReuseDecision {
        let directives = RequestDirectives(request, mode: policy.mode)

        // RFC 9111 §5.2.1.7: the cache answers an only-if-cached request with a 504 instead of forwarding it.
        func forward(_ reason: ForwardReason, _ rule: Rule) -> ReuseDecision {
            directives.onlyIfCached
                ? ReuseDecision(.unsatisfiable, rule: .onlyIfCached)
                : ReuseDecision(.forward(reason), rule: rule)
        }

        // §4: the cache writes unsafe methods through. A stored response to GET also answers HEAD.
        guard request.method == .get || request.method == .head else { return forward(.method, .unsafeMethod) }
        let ignoresStored = policy.mode == .remoteOnly || (policy.storesNothing && !directives.onlyIfCached)
        guard !ignoresStored else { return forward(.bypass, .policyBypass) }
        // §4.3.2: "A cache MUST NOT evaluate conditional header fields that only apply to an origin server", such as
        // If-Match.
        guard !directives.mustBeForwarded else { return forward(.bypass, .foreignCondition) }
        guard request.headerFields.count <= StorageDecision.maxFieldCount else {
            return forward(.bypass, .tooManyRequestFields)
        }
        guard !candidates.isEmpty else { return forward(.uriMiss, .nothingStored) }

        let suitable = SuitableResponses(request, directives, candidates, policy: policy, fingerprint: fingerprint)
        var answer: (response: SuitableResponse, decision: ReuseDecision)?
        var refusal: Rule?
        for response in suitable.responses {
            let permission = directives.permission(response.freshness, at: now)
            guard let decision = response.answer(permission, at: now) else {
                if case .refused(let rule) = permission { refusal = rule }
                continue
            }
            if answer.map({ response.isPreferred(to: $0.response) }) ?? true { answer = (response, decision) }
        }
        if let answer { return answer.decision }
        guard !directives.onlyIfCached else { return forward(.miss, .onlyIfCached) }
        // A newer part proves that the origin has replaced an older whole response.
        let isStale = refusal != nil
        let resumption = suitable.resumption(of: request, directives, candidates, isNewer: isStale)
        if let resumption { return resumption }
        if let refusal {
            return suitable.validation(of: request, directives, candidates, refusal: refusal, at: now)
        }
        guard suitable.isSelected else { return forward(.varyMiss, .varyMismatch) }
        if suitable.hasPrivate { return forward(.miss, .privateInSharedCache) }
        return suitable.hasParts ? forward(.partial, .incomplete) : forward(.miss, .bodyGone)
    }
}

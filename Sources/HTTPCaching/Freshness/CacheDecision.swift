package import HTTPTypes

/// The action of the cache for a request, given the stored responses for its key (RFC 9111 §4).
package enum CacheDecision: Hashable, Sendable {
    /// The stored response at this index answers without the origin.
    case hit(Int, age: Int64, isStale: Bool)
    /// The stored response at this index answers stale, and the cache validates it in the background (RFC 5861 §3).
    case hitWhileRevalidating(Int, age: Int64)
    /// The cache forwards the conditional request. After a 304 the stored response at this index answers.
    case validate(Int, HTTPRequest, ForwardReason)
    /// The cache requests the rest of the stored part at this index from the origin.
    case resume(Int, HTTPRequest)
    /// The cache forwards the request unchanged.
    case forward(ForwardReason)
    /// No stored response can answer, and the cache must not contact the origin.
    case unsatisfiable

    /// Decides on `request`; see ``ReuseDecision/make(request:candidates:policy:now:fingerprint:)``.
    package static func make(
        request: HTTPRequest, candidates: [StoredResponse], policy: CachePolicy, now: HTTPDate,
        fingerprint: RequestSelection.Fingerprint
    ) -> CacheDecision {
        ReuseDecision.make(
            request: request, candidates: candidates, policy: policy, now: now, fingerprint: fingerprint
        ).decision
    }
}

/// A ``CacheDecision`` and the rule for it.
package struct ReuseDecision: Hashable, Sendable {
    /// The action of the cache.
    package let decision: CacheDecision
    /// The reason for the action.
    package let rule: Rule

    /// Decides how to answer `request`.
    ///
    /// - Parameters:
    ///   - request: The request as sent to the origin, including fields from the transport. `Vary` matches against it.
    ///   - candidates: All stored responses for the key of the request, in any order.
    ///   - policy: The policy of the request.
    ///   - now: The current time; ``HTTPDate/distantPast`` without a usable clock.
    ///   - fingerprint: Replaces credentials in a ``RequestSelection``.
    package static func make(
        request: HTTPRequest, candidates: [StoredResponse], policy: CachePolicy, now: HTTPDate,
        fingerprint: RequestSelection.Fingerprint
    ) -> ReuseDecision {
        let directives = RequestDirectives(request, mode: policy.mode)

        // RFC 9111 §5.2.1.7: the cache answers an only-if-cached request with a 504 instead of forwarding it.
        func forward(_ reason: ForwardReason, _ rule: Rule) -> ReuseDecision {
            directives.onlyIfCached
                ? ReuseDecision(decision: .unsatisfiable, rule: .onlyIfCached)
                : ReuseDecision(decision: .forward(reason), rule: rule)
        }

        // §4: the cache writes unsafe methods through. A stored response to GET also answers HEAD.
        guard request.method == .get || request.method == .head else { return forward(.method, .unsafeMethod) }
        let ignoresStored = policy.mode == .remoteOnly || (policy.storesNothing && !directives.onlyIfCached)
        guard !ignoresStored else { return forward(.bypass, .policyBypass) }
        guard !directives.mustBeForwarded else { return forward(.bypass, .foreignCondition) }
        guard request.headerFields.count <= Storability.maxFieldCount else {
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
        if let refusal {
            return suitable.validation(of: request, directives, candidates, refusal: refusal, at: now)
        }
        if let resumption = suitable.resumption(of: request, directives, candidates, policy: policy) {
            return resumption
        }
        guard suitable.isSelected else { return forward(.varyMiss, .varyMismatch) }
        return suitable.hasParts ? forward(.partial, .incomplete) : forward(.miss, .bodyGone)
    }
}

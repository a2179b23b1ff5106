package import HTTPTypes

/// What is to be done with a request, given what is stored for its key (RFC 9111 §4).
package enum CacheDecision: Hashable, Sendable {
    /// The stored response at this place answers, without the origin being asked.
    case hit(Int, age: Int64, isStale: Bool)
    /// The stored response at this place answers, stale as it is, and is to be validated in the background (RFC 5861 §3).
    case hitWhileRevalidating(Int, age: Int64)
    /// The conditional request goes to the origin; the stored response at this place answers if the reply is a 304.
    case validate(Int, HTTPRequest, ForwardReason)
    /// The request for the rest of the stored part at this place goes to the origin.
    case resume(Int, HTTPRequest)
    /// The request goes to the origin as it is.
    case forward(ForwardReason)
    /// Nothing that is stored can answer, and the origin must not be asked.
    case unsatisfiable

    /// What is to be done with `request`; see ``ReuseDecision/make(request:candidates:policy:now:fingerprint:)``.
    package static func make(
        request: HTTPRequest, candidates: [StoredResponse], policy: CachePolicy, now: HTTPDate,
        fingerprint: RequestSelection.Fingerprint
    ) -> CacheDecision {
        ReuseDecision.make(
            request: request, candidates: candidates, policy: policy, now: now, fingerprint: fingerprint
        ).decision
    }
}

/// A ``CacheDecision`` and the rule that it follows.
package struct ReuseDecision: Hashable, Sendable {
    /// What is to be done.
    package let decision: CacheDecision
    /// Why.
    package let rule: Rule

    /// What is to be done with `request`.
    ///
    /// - Parameters:
    ///   - request: The request as it would be sent, with what the transport adds; `Vary` is matched against it.
    ///   - candidates: All stored responses for its key, in any order.
    ///   - policy: The policy that it is made under.
    ///   - now: The current time; ``HTTPDate/distantPast`` when there is no usable clock.
    ///   - fingerprint: What stands for credentials in a ``RequestSelection``.
    package static func make(
        request: HTTPRequest, candidates: [StoredResponse], policy: CachePolicy, now: HTTPDate,
        fingerprint: RequestSelection.Fingerprint
    ) -> ReuseDecision {
        let directives = RequestDirectives(request, mode: policy.mode)

        // RFC 9111 §5.2.1.7: a request that only wants what is cached ends here, in a 504.
        func forward(_ reason: ForwardReason, _ rule: Rule) -> ReuseDecision {
            directives.onlyIfCached
                ? ReuseDecision(decision: .unsatisfiable, rule: .onlyIfCached)
                : ReuseDecision(decision: .forward(reason), rule: rule)
        }

        // §4: unsafe methods are written through; a HEAD is answered by what a GET has stored.
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

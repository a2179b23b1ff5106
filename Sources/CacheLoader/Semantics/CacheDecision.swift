package import HTTPTypes

/// What is to be done with a request, given what is stored for its key (RFC 9111 §4).
package enum CacheDecision: Hashable, Sendable {
    /// The stored response at this place answers, without the origin being asked.
    case hit(Int, age: Int64, isStale: Bool)
    /// The conditional request goes to the origin; the stored response at this place answers if the reply is a 304.
    case validate(Int, HTTPRequest, ForwardReason)
    /// The request goes to the origin as it is.
    case forward(ForwardReason)
    /// Nothing that is stored can answer, and the origin must not be asked.
    case unsatisfiable

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
    ) -> CacheDecision {
        let directives = RequestDirectives(request, mode: policy.mode)

        // RFC 9111 §5.2.1.7: a request that only wants what is cached ends here, in a 504.
        func forward(_ reason: ForwardReason) -> CacheDecision {
            directives.onlyIfCached ? .unsatisfiable : .forward(reason)
        }

        // §4: unsafe methods are written through; a HEAD is answered by what a GET has stored.
        guard request.method == .get || request.method == .head else { return forward(.method) }
        let ignoresStored = policy.mode == .remoteOnly || (policy.storesNothing && !directives.onlyIfCached)
        guard !ignoresStored, !directives.isConditional, request.headerFields.count <= Storability.maxFieldCount else {
            return forward(.bypass)
        }

        var answer: SelectedResponse?
        var isSelected = false
        var hasBody = false
        for (index, candidate) in candidates.enumerated() {
            guard candidate.selection.matches(request, fingerprint: fingerprint) else { continue }
            isSelected = true
            guard candidate.hasIntactBody else { continue }
            hasBody = true
            let selected = SelectedResponse(index, candidate, policy: policy)
            guard directives.permit(selected.freshness, at: now) else { continue }
            if answer.map(selected.isPreferred) ?? true { answer = selected }
        }
        if let answer {
            let freshness = answer.freshness
            return .hit(answer.index, age: freshness.age(at: now), isStale: !freshness.isFresh(at: now))
        }

        guard hasBody else { return forward(candidates.isEmpty ? .uriMiss : isSelected ? .miss : .varyMiss) }
        return validate(
            request, directives, candidates: candidates, policy: policy, now: now, fingerprint: fingerprint)
    }

    /// Chooses what to ask the origin about, when something is stored for the request but must not answer it.
    private static func validate(
        _ request: HTTPRequest, _ directives: RequestDirectives, candidates: [StoredResponse], policy: CachePolicy,
        now: HTTPDate, fingerprint: RequestSelection.Fingerprint
    ) -> CacheDecision {
        if directives.onlyIfCached { return .unsatisfiable }

        var nominee: (response: SelectedResponse, conditional: HTTPRequest?)?
        for (index, candidate) in candidates.enumerated()
        where candidate.hasIntactBody && candidate.selection.matches(request, fingerprint: fingerprint) {
            let selected = SelectedResponse(index, candidate, policy: policy)
            let conditional = candidate.conditionalRequest(from: request)
            // One with a validator can save the transfer, one without cannot.
            let isBetter =
                nominee.map { nominee in
                    (conditional == nil) == (nominee.conditional == nil)
                        ? selected.isPreferred(to: nominee.response) : conditional != nil
                } ?? true
            if isBetter { nominee = (selected, conditional) }
        }
        guard let nominee else { return .forward(.miss) }

        let freshness = nominee.response.freshness
        let isFresh = freshness.isFresh(at: now) && !freshness.alwaysNeedsValidation
        let reason: ForwardReason = isFresh ? .request : .stale
        // §5.2.1.5: of the response to a request with no-store nothing may be stored, not even what a 304 updates.
        guard let conditional = nominee.conditional, !directives.noStore else { return .forward(reason) }
        return .validate(nominee.response.index, conditional, reason)
    }
}

/// A stored response whose `Vary` fits the request.
private struct SelectedResponse {
    let index: Int
    let freshness: Freshness
    private let hasVary: Bool
    private let responseTime: HTTPDate

    init(_ index: Int, _ response: StoredResponse, policy: CachePolicy) {
        self.index = index
        freshness = Freshness(of: response, policy: policy)
        hasVary = !response.selection.text.isEmpty
        responseTime = response.responseTime
    }

    /// RFC 9111 §4: the most recent by `Date`; but §4.1: before all others one with `Vary`, because "some resources
    /// mistakenly omit the Vary header field from their default response".
    func isPreferred(to other: SelectedResponse) -> Bool {
        if hasVary != other.hasVary { return hasVary }
        return (freshness.date, responseTime) > (other.freshness.date, other.responseTime)
    }
}

internal import HTTPTypes

/// The stored responses that a request selects, as far as their bodies can answer it; fresh or not.
struct SuitableResponses {
    /// Those that could answer.
    private(set) var responses: [SuitableResponse] = []
    /// Whether the request selects any, whatever has become of the body.
    private(set) var isSelected = false
    /// Whether it selects any of which only other bytes are stored than it asks for.
    private(set) var hasParts = false

    private var parts: [Int] = []

    init(
        _ request: HTTPRequest, _ directives: RequestDirectives, _ candidates: [StoredResponse], policy: CachePolicy,
        fingerprint: RequestSelection.Fingerprint
    ) {
        let ranges = directives.hasRange ? RangeSet(request) : nil
        for (index, candidate) in candidates.enumerated() {
            guard candidate.isSelected(by: request, policy: policy, fingerprint: fingerprint) else { continue }
            isSelected = true
            guard candidate.hasIntactBody else { continue }
            guard candidate.holds(ranges, of: request) else {
                hasParts = true
                parts.append(index)
                continue
            }
            responses.append(SuitableResponse(index, candidate, policy: policy))
        }
    }

    /// Chooses what to ask the origin about, when something is stored for the request but must not answer it.
    func validation(
        of request: HTTPRequest, _ directives: RequestDirectives, _ candidates: [StoredResponse], refusal: Rule,
        at now: HTTPDate
    ) -> ReuseDecision {
        var nominee: (response: SuitableResponse, conditional: HTTPRequest?)?
        for response in responses {
            let conditional = candidates[response.index].conditionalRequest(
                from: request, isConditional: directives.isConditional)
            // One with a validator can save the transfer, one without cannot.
            let isBetter =
                nominee.map { nominee in
                    (conditional == nil) == (nominee.conditional == nil)
                        ? response.isPreferred(to: nominee.response) : conditional != nil
                } ?? true
            if isBetter { nominee = (response, conditional) }
        }
        guard let nominee else { return ReuseDecision(decision: .forward(.miss), rule: refusal) }

        let freshness = nominee.response.freshness
        let isFresh = freshness.isFresh(at: now) && !freshness.alwaysNeedsValidation
        let reason: ForwardReason = isFresh ? .request : .stale
        // §5.2.1.5: of the response to a request with no-store nothing may be stored, not even what a 304 updates.
        guard let conditional = nominee.conditional, !directives.noStore else {
            return ReuseDecision(decision: .forward(reason), rule: refusal)
        }
        return ReuseDecision(decision: .validate(nominee.response.index, conditional, reason), rule: refusal)
    }

    /// Chooses a part of which to ask the rest, when a whole response is wanted.
    func resumption(
        of request: HTTPRequest, _ directives: RequestDirectives, _ candidates: [StoredResponse], policy: CachePolicy
    ) -> ReuseDecision? {
        // The response to a request with no-store could not be stored beside what is there.
        guard !directives.noStore else { return nil }
        var best: (response: SuitableResponse, request: HTTPRequest)?
        for index in parts {
            let candidate = candidates[index]
            guard let part = candidate.part,
                let resuming = ResumeRequest.make(for: request, resuming: candidate, part: part)
            else { continue }
            let response = SuitableResponse(index, candidate, policy: policy)
            if best.map({ response.isPreferred(to: $0.response) }) ?? true { best = (response, resuming) }
        }
        return best.map { ReuseDecision(decision: .resume($0.response.index, $0.request), rule: .resumable) }
    }
}

/// A stored response whose `Vary` fits a request, and whose body can answer it.
struct SuitableResponse {
    let index: Int
    let freshness: Freshness
    private let hasVary: Bool
    private let responseTime: HTTPDate

    init(_ index: Int, _ response: StoredResponse, policy: CachePolicy) {
        self.index = index
        freshness = Freshness(of: response, policy: policy)
        // A selection may be about credentials alone.
        hasVary = !response.selection.text.isEmpty && response.fields.contains(.vary)
        responseTime = response.responseTime
    }

    /// RFC 9111 §4: the most recent by `Date`; but §4.1: before all others one with `Vary`, because "some resources
    /// mistakenly omit the Vary header field from their default response".
    func isPreferred(to other: SuitableResponse) -> Bool {
        if hasVary != other.hasVary { return hasVary }
        return (freshness.date, responseTime) > (other.freshness.date, other.responseTime)
    }

    /// The decision to answer with it; `nil` if that is not permitted.
    func answer(_ permission: RequestDirectives.Permission, at now: HTTPDate) -> ReuseDecision? {
        let age = freshness.age(at: now)
        return switch permission {
        case .refused: nil
        case .granted(let rule, let isStale):
            ReuseDecision(decision: .hit(index, age: age, isStale: isStale), rule: rule)
        case .grantedWhileRevalidating:
            ReuseDecision(decision: .hitWhileRevalidating(index, age: age), rule: .staleWhileRevalidate)
        }
    }
}

extension StoredResponse {
    /// Whether the request has what the response's `Vary` nominates, and the credentials that it was asked for with.
    func isSelected(
        by request: HTTPRequest, policy: CachePolicy, fingerprint: RequestSelection.Fingerprint
    ) -> Bool {
        selection.matches(request, fingerprint: fingerprint, nominatesAuthorization: !policy.isShared)
            || selection.selects(
                fields, for: request, fingerprint: fingerprint, nominatesAuthorization: !policy.isShared)
    }

    /// Whether the body has all that the request asks for; `ranges` are those of the request.
    func holds(_ ranges: RangeSet?, of request: HTTPRequest) -> Bool {
        guard let part else { return true }
        guard let ranges, IfRange.permitsRange(request, stored: fields, responseTime: responseTime) else {
            return false
        }
        return ranges.resolved(inside: part.range, completeLength: part.completeLength) != nil
    }
}

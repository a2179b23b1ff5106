/// The stored responses, fresh or stale, that the request selects and whose bodies can answer it.
struct SuitableResponses {
    private(set) var responses: [SuitableResponse] = []
    /// Whether the request selects any response, even one without its body.
    private(set) var isSelected = false
    /// Whether a selected response lacks requested bytes.
    private(set) var hasParts = false
    /// Whether a private cache stored a selected response, and this cache is shared.
    private(set) var hasPrivate = false

    private var parts: [SuitableResponse] = []

    init(
        _ request: HTTPRequest, _ directives: RequestDirectives, _ candidates: [StoredResponse], policy: CachePolicy,
        fingerprint: VaryKey.Fingerprint
    ) {
        let ranges = directives.hasRange ? RangeSet(request) : nil
        for (index, candidate) in candidates.enumerated() {
            guard candidate.isSelected(by: request, policy: policy, fingerprint: fingerprint) else { continue }
            isSelected = true
            guard candidate.hasIntactBody else { continue }
            let response = SuitableResponse(index, candidate, policy: policy)
            // RFC 9111 §5.2.2.7: a private cache may have stored it in the same store, under another policy.
            guard !policy.isShared || !response.freshness.cacheControl.isPrivate else {
                hasPrivate = true
                continue
            }
            guard candidate.holds(ranges, of: request) else {
                hasParts = true
                parts.append(response)
                continue
            }
            responses.append(response)
        }
    }

    /// Chooses the response to validate when every suitable response needs validation.
    func validation(
        of request: HTTPRequest, _ directives: RequestDirectives, _ candidates: [StoredResponse], refusal: Rule,
        at now: HTTPDate
    ) -> ReuseDecision {
        var nominee: (response: SuitableResponse, conditional: HTTPRequest?)?
        for response in responses {
            let conditional = candidates[response.index].conditionalRequest(
                from: request, isConditional: directives.isConditional)
            // Only a response with a validator can save the transfer.
            let isBetter =
                nominee.map { nominee in
                    (conditional == nil) == (nominee.conditional == nil)
                        ? response.isPreferred(to: nominee.response) : conditional != nil
                } ?? true
            if isBetter { nominee = (response, conditional) }
        }
        guard let nominee else { return ReuseDecision(.forward(.miss), rule: refusal) }

        let freshness = nominee.response.freshness
        let isFresh = freshness.isFresh(at: now) && !freshness.alwaysNeedsValidation
        let reason: ForwardReason = isFresh ? .request : .stale
        // §5.2.1.5: the cache must not store the response to a no-store request, including an update by a 304.
        guard let conditional = nominee.conditional, !directives.noStore else {
            return ReuseDecision(.forward(reason), rule: refusal)
        }
        return ReuseDecision(.validate(nominee.response.index, conditional, reason), rule: refusal)
    }

    /// Chooses a stored part to complete, if the request asks for the whole response. With `isNewer`, chooses only a
    /// part that is preferred to all whole responses.
    func resumption(
        of request: HTTPRequest, _ directives: RequestDirectives, _ candidates: [StoredResponse], isNewer: Bool
    ) -> ReuseDecision? {
        // The cache must not store the response to a no-store request, so it cannot complete the stored part.
        guard !directives.noStore else { return nil }
        var best: (response: SuitableResponse, request: HTTPRequest)?
        for response in parts {
            let candidate = candidates[response.index]
            guard let part = candidate.part,
                let resuming = ResumeRequest.make(for: request, resuming: candidate, part: part)
            else { continue }
            if isNewer, !responses.allSatisfy({ response.isPreferred(to: $0) }) { continue }
            if best.map({ response.isPreferred(to: $0.response) }) ?? true { best = (response, resuming) }
        }
        return best.map { ReuseDecision(.resume($0.response.index, $0.request), rule: .resumable) }
    }
}

/// A stored response with a matching `Vary` and a body that can answer the request.
struct SuitableResponse {
    let index: Int
    let freshness: Freshness
    private let hasVary: Bool
    private let responseTime: HTTPDate

    init(_ index: Int, _ response: StoredResponse, policy: CachePolicy) {
        self.index = index
        freshness = Freshness(of: response, policy: policy)
        // The key may consist of credentials only.
        hasVary = !response.varyKey.text.isEmpty && response.fields.contains(.vary)
        responseTime = response.responseTime
    }

    /// RFC 9111 §4: prefers the most recent response by `Date`. A response with `Vary` still precedes all others
    /// (§4.1), because "some resources mistakenly omit the Vary header field from their default response".
    func isPreferred(to other: SuitableResponse) -> Bool {
        if hasVary != other.hasVary { return hasVary }
        return (freshness.date, responseTime) > (other.freshness.date, other.responseTime)
    }

    /// Returns the decision to answer with this response, or `nil` when `permission` refuses it.
    func answer(_ permission: RequestDirectives.Permission, at now: HTTPDate) -> ReuseDecision? {
        let age = freshness.age(at: now)
        return switch permission {
        case .refused: nil
        case .granted(let rule, let isStale):
            ReuseDecision(.hit(index, age: age, isStale: isStale), rule: rule, expiry: freshness.expiry)
        case .grantedWhileRevalidating:
            ReuseDecision(
                .hitWhileRevalidating(index, age: age), rule: .staleWhileRevalidate, expiry: freshness.expiry)
        }
    }
}

extension [SuitableResponse] {
    var preferred: SuitableResponse? { self.max { $1.isPreferred(to: $0) } }
}

extension StoredResponse {
    /// Whether the request matches the fields that `Vary` nominates, and the credentials of the original request.
    package func isSelected(
        by request: HTTPRequest, policy: CachePolicy, fingerprint: VaryKey.Fingerprint
    ) -> Bool {
        varyKey.matches(request, fingerprint: fingerprint, nominatesAuthorization: !policy.isShared)
            || varyKey.selects(
                fields, for: request, fingerprint: fingerprint, nominatesAuthorization: !policy.isShared)
    }

    /// Whether the stored body contains all bytes of `ranges`, the requested ones.
    func holds(_ ranges: RangeSet?, of request: HTTPRequest) -> Bool {
        guard let part else { return true }
        guard let ranges, IfRange.permitsRange(request, stored: fields, responseTime: responseTime) else {
            return false
        }
        switch ranges.resolved(inside: part.bytes, completeLength: part.completeLength) {
        case nil: return false
        // No answer has several parts of an encoded representation, and the stored bytes are not the whole.
        case .parts: return fields.filledLines(.contentEncoding).isEmpty
        case .part, .unsatisfiable, .whole: return true
        }
    }
}

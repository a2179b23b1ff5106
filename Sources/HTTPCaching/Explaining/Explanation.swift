// The folder `Explaining/` puts a decision into words and numbers. The folder may use a `ReuseDecision`, and computes
// freshness and `Vary` again. The folder changes no decision, and no other folder uses its types.

/// Explains a cache's decision on one request in the words of the specifications.
///
/// Created on demand from a ``ReuseDecision``, because the explanation costs more than the decision and a hit should
/// not pay for it. Credentials appear only as fingerprints.
public struct Explanation: Hashable, Sendable {
    /// The action of the cache.
    @nonexhaustive
    public enum Outcome: String, Hashable, Sendable {
        /// The stored response answers without the origin.
        case hit
        /// The stored response answers stale, without the origin.
        case staleHit = "stale-hit"
        /// The stored response answers stale, and the cache validates it in the background (RFC 5861 §3).
        case staleWhileRevalidating = "stale-while-revalidating"
        /// The cache validates the stored response with the origin (RFC 9111 §4.3).
        case validate
        /// The cache requests the rest of a stored part from the origin (RFC 9111 §3.4).
        case resume
        /// The cache forwards the request as if no response were stored.
        case forward
        /// No stored response can answer, and the cache must not contact the origin: a 504.
        case unsatisfiable
    }

    /// The method of the request.
    public package(set) var method: HTTPRequest.Method
    /// The normalized URL of the request.
    public let url: String
    /// The time of the decision.
    public let date: HTTPDate
    /// The action of the cache.
    public let outcome: Outcome
    /// The rule that determines the outcome.
    public let rule: Rule
    /// The reason for forwarding in the terms of RFC 9211 §2.2, such as `uri-miss`, or `nil` for an answer without the
    /// origin.
    public let forwardReason: String?
    /// Whether the answer is a 304, because the client already has the stored response by the client's own condition
    /// (RFC 9111 §4.3.2).
    public let isNotModified: Bool
    /// The fields that make the request to the origin conditional or partial: `If-None-Match`, `If-Modified-Since`,
    /// `Range` and `If-Range`.
    ///
    /// Includes the caller's fields. Empty for an answer without the origin.
    public let conditionalFields: HTTPFields
    /// The stored responses for the URL. The response that answers or is validated comes first.
    public let candidates: [Candidate]
}

extension Explanation {
    /// A stored response, its URL and the length of its body.
    package struct Stored: Sendable {
        let response: StoredResponse
        let url: String
        let byteCount: Int64

        package init(_ response: StoredResponse, url: String, byteCount: Int64) {
            self.response = response
            self.url = url
            self.byteCount = byteCount
        }
    }

    /// Explains a decision on `request`, as sent to the origin. `stored` has the candidates of the decision, in the same
    /// order, and `revalidation` is the background request to the origin.
    package init(
        of reuse: ReuseDecision, on request: HTTPRequest, url: String, stored: [Stored],
        revalidation: HTTPRequest? = nil, policy: CachePolicy, now: HTTPDate, fingerprint: VaryKey.Fingerprint
    ) {
        method = request.method
        self.url = url
        date = now
        rule = reuse.rule
        var sent: HTTPRequest?
        switch reuse.action {
        case .hit(_, _, let isStale):
            (outcome, forwardReason) = (isStale ? .staleHit : .hit, nil)
        case .hitWhileRevalidating:
            (outcome, forwardReason, sent) = (.staleWhileRevalidating, nil, revalidation)
        case .validate(_, let conditional, let reason):
            (outcome, forwardReason, sent) = (.validate, reason.rawValue, conditional)
        case .resume(_, let resuming):
            (outcome, forwardReason, sent) = (.resume, ForwardReason.partial.rawValue, resuming)
        case .forward(let reason):
            (outcome, forwardReason, sent) = (.forward, reason.rawValue, request)
        case .unsatisfiable:
            (outcome, forwardReason) = (.unsatisfiable, nil)
        }
        conditionalFields = HTTPFields((sent?.headerFields ?? [:]).filter { Self.conditionalNames.contains($0.name) })
        let chosen = reuse.index
        isNotModified =
            forwardReason == nil && chosen.map { Preconditions(request).isNotModified(stored[$0].response) } ?? false
        let candidates = stored.enumerated().map { index, stored in
            Candidate(
                stored, isChosen: index == chosen, request, policy: policy, now: now, fingerprint: fingerprint)
        }
        self.candidates = candidates.filter(\.isChosen) + candidates.filter { !$0.isChosen }
    }

    private static let conditionalNames: Set<HTTPField.Name> = [.ifNoneMatch, .ifModifiedSince, .range, .ifRange]
}

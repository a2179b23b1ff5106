public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a cache would do with a request at one moment, and why, in the words of the specifications.
///
/// Made by ``HTTPCache/explanation(of:policy:)``. What it says holds for that moment: a response that is on its way into the
/// store for another request is left out of account. Of credentials it has fingerprints only.
public struct Explanation: Hashable, Sendable {
    /// What the cache would do.
    @nonexhaustive
    public enum Outcome: String, Hashable, Sendable {
        /// The stored response answers, and the origin is not asked.
        case hit
        /// The stored response answers although it is stale, and the origin is not asked.
        case staleHit = "stale-hit"
        /// The stored response answers although it is stale, and is validated behind the caller's back (RFC 5861 §3).
        case staleWhileRevalidating = "stale-while-revalidating"
        /// The origin is asked whether what is stored is still good (RFC 9111 §4.3).
        case validate
        /// The origin is asked for the rest of what is stored in part (RFC 9111 §3.4).
        case resume
        /// The origin is asked as if nothing were stored.
        case forward
        /// The origin must not be asked, and nothing stored can answer: a 504.
        case unsatisfiable
    }

    /// The method of the request.
    public let method: HTTPRequest.Method
    /// The normalised URL of the request.
    public let url: String
    /// The moment.
    public let date: Date
    /// What the cache would do.
    public let outcome: Outcome
    /// The rule that decides it.
    public let rule: Rule
    /// Why the origin has to be asked, in the words of RFC 9211 §2.2, such as `uri-miss`; `nil` where it has not.
    public let forwardReason: String?
    /// Whether the answer from the store is a 304, because the caller's own condition says that it has that response
    /// already (RFC 9111 §4.3.2).
    public let isNotModified: Bool
    /// What makes the request to the origin a conditional one, or one for a part: `If-None-Match`, `If-Modified-Since`,
    /// `Range` and `If-Range`, the caller's own included. Empty when the origin is not asked.
    public let conditionalFields: HTTPFields
    /// Each response that is stored for the URL, the one that answers or that the origin is asked about first.
    public let candidates: [Candidate]
}

extension Explanation {
    /// A stored response, and where it is kept.
    package struct Stored {
        package var response: StoredResponse
        package var url: String
        package var byteCount: Int64

        package init(_ response: StoredResponse, url: String, byteCount: Int64) {
            self.response = response
            self.url = url
            self.byteCount = byteCount
        }
    }

    /// What a request is decided under.
    package struct Circumstances {
        package var policy: CachePolicy
        package var now: HTTPDate
        package var fingerprint: RequestSelection.Fingerprint

        package init(policy: CachePolicy, now: HTTPDate, fingerprint: @escaping RequestSelection.Fingerprint) {
            self.policy = policy
            self.now = now
            self.fingerprint = fingerprint
        }
    }

    /// Explains what was decided.
    ///
    /// - Parameters:
    ///   - reuse: The decision.
    ///   - request: What it is about, as it would be sent.
    ///   - stored: What it was made among, in the same order.
    ///   - revalidation: What would be asked of the origin behind the caller's back.
    package init(
        of reuse: ReuseDecision, on request: HTTPRequest, url: String, stored: [Stored],
        revalidation: HTTPRequest? = nil, _ circumstances: Circumstances
    ) {
        method = request.method
        self.url = url
        date = Date(circumstances.now)
        rule = reuse.rule
        var sent: HTTPRequest?
        switch reuse.decision {
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
        let chosen = reuse.decision.index
        isNotModified =
            forwardReason == nil && chosen.map { Preconditions(request).isNotModified(stored[$0].response) } ?? false
        let candidates = stored.enumerated().map { index, stored in
            Candidate(stored, isChosen: index == chosen, request, circumstances)
        }
        self.candidates = candidates.filter(\.isChosen) + candidates.filter { !$0.isChosen }
    }

    private static let conditionalNames: Set<HTTPField.Name> = [.ifNoneMatch, .ifModifiedSince, .range, .ifRange]
}

extension CacheDecision {
    /// Which stored response it makes use of.
    var index: Int? {
        switch self {
        case .hit(let index, _, _), .hitWhileRevalidating(let index, _), .validate(let index, _, _),
            .resume(let index, _):
            index
        case .forward, .unsatisfiable: nil
        }
    }
}

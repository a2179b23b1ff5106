public import HTTPTypes

/// Chooses a stored response to serve stale after a failure of the origin (RFC 9111 §4.2.4, RFC 5861 §4).
///
/// A pure function of its arguments, safe on any thread. ``ReplyDecision`` makes the same choice for a reply with an
/// error status. Call this function when no reply has arrived.
public enum StaleFallback {
    /// The failure of the origin.
    @nonexhaustive
    public enum Failure: Hashable, Sendable {
        /// The origin was unreachable, or the connection broke before the head of the response arrived.
        case disconnected
        /// The origin answered with this server error.
        case status(Int)

        /// Returns `nil` for a status other than a server error.
        ///
        /// RFC 5861 §4 names 500, 502, 503 and 504. Other server errors, such as 507, also leave the cache without a
        /// better response.
        public init?(_ status: HTTPResponse.Status) {
            guard (500..<600).contains(status.code) else { return nil }
            self = .status(status.code)
        }
    }

    /// Returns the index of the preferred candidate that may answer `request`, or `nil`.
    ///
    /// - Parameters:
    ///   - request: The failed request, as the caller made it.
    ///   - candidates: All stored responses for the URL of the request, in any order.
    ///   - failure: The failure of the origin.
    ///   - policy: The policy of the request.
    ///   - now: The current time, or ``HTTPDate/distantPast`` without a usable clock.
    ///   - fingerprint: Replaces credentials in a ``VaryKey``.
    public static func choose(
        for request: HTTPRequest, candidates: [StoredResponse], failure: Failure, policy: CachePolicy, now: HTTPDate,
        fingerprint: VaryKey.Fingerprint
    ) -> Int? {
        guard request.method == .get || request.method == .head else { return nil }
        let directives = RequestDirectives(request, mode: policy.mode)
        guard !directives.refusesStale, !directives.mustBeForwarded, policy.mode != .remoteOnly else { return nil }
        let suitable = SuitableResponses(request, directives, candidates, policy: policy, fingerprint: fingerprint)
        let permitted = suitable.responses.filter { response in
            let freshness = response.freshness
            if freshness.alwaysNeedsValidation { return false }
            if freshness.isFresh(at: now) { return true }
            guard freshness.allowsStale, let limit = limit(failure, freshness, directives, policy) else { return false }
            return freshness.staleness(at: now) <= limit
        }
        return permitted.preferred?.index
    }

    /// Returns the seconds after its lifetime during which a response may be served stale. `nil` means never. The
    /// strictest of request, response and policy applies. A `stale-if-error` applies to every kind of failure, not only
    /// to the statuses of RFC 5861 §4, "500, 502, 503, 504".
    private static func limit(
        _ failure: Failure, _ freshness: Freshness, _ directives: RequestDirectives, _ policy: CachePolicy
    ) -> Int64? {
        let stated = [freshness.cacheControl.staleIfError, directives.staleIfError].filter { $0 != .absent }
        // A malformed number permits nothing.
        guard !stated.contains(.malformed) else { return nil }
        var limits = stated.compactMap(\.value)
        let allowance = failure == .disconnected ? policy.staleWhenDisconnected : policy.staleIfError
        if let allowance {
            guard allowance > .zero else { return nil }
            limits.append(allowance.components.seconds)
        }
        return limits.min()
    }
}

/// Chooses a stored response to serve stale after a failure of the origin (RFC 9111 §4.2.4, RFC 5861 §4).
///
/// A pure function of its arguments, safe on any thread. ``ReplyDecision`` makes the same choice for a reply with an
/// error status. Call this function when no reply has arrived.
public enum StaleFallback {
    /// Returns the index of the preferred candidate that may answer `request`, or `nil`.
    ///
    /// Returns `nil` for a status other than a server error. RFC 5861 §4 names 500, 502, 503 and 504. Other server
    /// errors, such as 507, also leave the cache without a better response.
    ///
    /// - Parameters:
    ///   - request: The failed request, as the caller made it.
    ///   - candidates: All stored responses for the URL of the request, in any order.
    ///   - status: The status of the reply. `nil` if the origin was unreachable, or if the connection broke before the
    ///     head of the response arrived.
    ///   - policy: The policy of the request.
    ///   - now: The current time, or ``HTTPDate/distantPast`` without a usable clock.
    ///   - fingerprint: Replaces credentials in a ``VaryKey``.
    public static func choose(
        for request: HTTPRequest, candidates: [StoredResponse], status: HTTPResponse.Status?, policy: CachePolicy,
        now: HTTPDate, fingerprint: VaryKey.Fingerprint
    ) -> Int? {
        if let status, !(500..<600).contains(status.code) { return nil }
        guard request.method == .get || request.method == .head else { return nil }
        let directives = RequestDirectives(request, mode: policy.mode)
        guard !directives.refusesStale, !directives.mustBeForwarded, policy.mode != .remoteOnly else { return nil }
        let suitable = SuitableResponses(request, directives, candidates, policy: policy, fingerprint: fingerprint)
        let permitted = suitable.responses.filter { response in
            let freshness = response.freshness
            if freshness.alwaysNeedsValidation { return false }
            if freshness.isFresh(at: now) { return true }
            let allowance = status == nil ? policy.staleWhenDisconnected : policy.staleIfError
            // RFC 9111 §4.2.4: "A cache MUST NOT generate a stale response if it is prohibited by an explicit
            // in-protocol directive".
            guard freshness.allowsStale, let limit = limit(freshness, directives, allowance) else { return false }
            return freshness.staleness(at: now) <= limit
        }
        return permitted.preferred?.index
    }

    /// Returns the seconds after its lifetime during which a response may be served stale. `nil` means never. The
    /// strictest of request, response and policy applies. A `stale-if-error` applies to every kind of failure, not only
    /// to the statuses of RFC 5861 §4, "500, 502, 503, 504".
    private static func limit(
        _ freshness: Freshness, _ directives: RequestDirectives, _ allowance: Duration?
    ) -> Int64? {
        let stated = [freshness.cacheControl.staleIfError, directives.staleIfError].filter { $0 != .absent }
        // A malformed number permits nothing.
        guard !stated.contains(.malformed) else { return nil }
        var limits = stated.compactMap(\.value)
        if let allowance {
            guard allowance > .zero else { return nil }
            limits.append(allowance.components.seconds)
        }
        return limits.min()
    }
}

package import HTTPTypes

/// Which stored response may take the place of an answer that the origin did not give (RFC 9111 §4.2.4, RFC 5861 §4).
package enum StandIn {
    /// What came instead of an answer.
    package enum Failure: Hashable, Sendable {
        /// The origin could not be reached, or broke off before the head of its response was there.
        case disconnected
        /// It answered with a status that tells of an error of its own.
        case status(Int)

        /// `nil` for a status that is no server error. RFC 5861 §4 names 500, 502, 503 and 504; a server that answers with
        /// another one, such as 507, has no better response either.
        package init?(_ status: HTTPResponse.Status) {
            guard (500..<600).contains(status.code) else { return nil }
            self = .status(status.code)
        }
    }

    /// The place of the most recent candidate that may answer `request`; `nil` if none may.
    package static func choose(
        for request: HTTPRequest, candidates: [StoredResponse], failure: Failure, policy: CachePolicy, now: HTTPDate,
        fingerprint: RequestSelection.Fingerprint
    ) -> Int? {
        guard request.method == .get || request.method == .head else { return nil }
        let directives = RequestDirectives(request, mode: policy.mode)
        guard !directives.refusesStale, !directives.mustBeForwarded, policy.mode != .remoteOnly else { return nil }
        let suitable = SuitableResponses(request, directives, candidates, policy: policy, fingerprint: fingerprint)
        var best: SuitableResponse?
        for response in suitable.responses {
            let freshness = response.freshness
            guard !freshness.alwaysNeedsValidation, best.map(response.isPreferred) ?? true else { continue }
            if freshness.isFresh(at: now) {
                best = response
            } else if freshness.allowsStale, let limit = limit(failure, freshness, directives, policy),
                freshness.staleness(at: now) <= limit
            {
                best = response
            }
        }
        return best?.index
    }

    /// For how many seconds beyond its lifetime a response may stand in; `nil` for not at all.
    ///
    /// What request and response say holds for every kind of failure (RFC 5861 §4: "500, 502, 503, 504" are only one of
    /// them). Where neither says anything, the policy does.
    private static func limit(
        _ failure: Failure, _ freshness: Freshness, _ directives: RequestDirectives, _ policy: CachePolicy
    ) -> Int64? {
        let stated = [freshness.cacheControl.staleIfError, directives.staleIfError].filter { $0 != .absent }
        if !stated.isEmpty {
            // One that cannot be read permits nothing.
            return stated.compactMap { if case .seconds(let seconds) = $0 { seconds } else { nil } }.max()
        }
        let allowance = failure == .disconnected ? policy.staleWhenDisconnected : policy.staleIfError
        return allowance.map(\.components.seconds)
    }
}

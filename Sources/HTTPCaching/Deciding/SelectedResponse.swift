/// Chooses the stored response that a request selects, fresh or stale (RFC 9111 §4.1).
package enum SelectedResponse {
    /// The index of the preferred candidate with a suitable body. Ignores freshness and all directives about reuse.
    package static func choose(
        for request: HTTPRequest, candidates: [StoredResponse], policy: CachePolicy,
        fingerprint: VaryKey.Fingerprint
    ) -> Int? {
        let directives = RequestDirectives(request, mode: policy.mode)
        let suitable = SuitableResponses(request, directives, candidates, policy: policy, fingerprint: fingerprint)
        return suitable.responses.preferred?.index
    }
}

/// The updates of stored responses by a 304 (RFC 9111 §4.3.4).
struct Freshening {
    /// The updated responses, by their index among the candidates.
    private(set) var updates: [Int: StoredResponse] = [:]
    /// The index of the updated response that answers the request.
    let answer: Int
    /// Whether to remove the updated responses after this answer, because their new fields forbid storing.
    private(set) var removesAfterUse = false

    /// Finds the stored responses that the 304 in `exchange` identifies, and updates them. Returns `nil` when the 304
    /// identifies no stored response with an intact body. `candidates` are all stored responses for the key. Responses
    /// that another request selected stay unchanged. `validated` is the index of the candidate with the validators of
    /// the request. `isUnambiguous` tells whether the request had no other validators, such as the caller's.
    init?(
        _ exchange: Exchange, candidates: [StoredResponse], validated: Int, isUnambiguous: Bool,
        policy: CachePolicy, fingerprint: VaryKey.Fingerprint
    ) {
        let reply = exchange.reply.headerFields
        guard candidates.indices.contains(validated), reply.count <= StorageDecision.maxFieldCount else { return nil }
        // §4.3.4, "initial set": the responses that could answer the request if they were fresh.
        let selected = candidates.indices.filter { index in
            let candidate = candidates[index]
            return candidate.hasIntactBody
                && candidate.isSelected(by: exchange.request, policy: policy, fingerprint: fingerprint)
        }
        let identified = Self.identify(
            reply, among: selected, of: candidates, validated: validated, isUnambiguous: isUnambiguous)
        guard let answer = identified.contains(validated) ? validated : Self.latest(identified, of: candidates) else {
            return nil
        }
        self.answer = answer
        for index in identified {
            var updated = candidates[index]
            if !updated.freshen(by: exchange, policy: policy, fingerprint: fingerprint) { removesAfterUse = true }
            updates[index] = updated
        }
    }

    /// Returns the indices of the stored responses that the validators of a 304 identify.
    private static func identify(
        _ reply: HTTPFields, among selected: [Int], of candidates: [StoredResponse], validated: Int,
        isUnambiguous: Bool
    ) -> [Int] {
        if let tag = EntityTag(reply) {
            let matching = selected.filter { index in
                guard let stored = EntityTag(candidates[index].fields) else { return false }
                return tag.isWeak ? stored.isWeaklyEqual(to: tag) : stored.isStronglyEqual(to: tag)
            }
            if matching.isEmpty, isUnambiguous, selected.contains(validated),
                isAbout(candidates[validated], tag, reply)
            {
                return [validated]
            }
            // A strong validator identifies all responses with "one of those same strong validators", and no other
            // response. A weak validator identifies "the most recent of those matching".
            return tag.isWeak ? latest(matching, of: candidates).map { [$0] } ?? [] : matching
        }
        if let lastModified = reply.firstBytes(of: .lastModified) {
            // A date is weak unless proved otherwise (RFC 9110 §8.8.2.2). Two states within one second have the same
            // date, so the tag of the validated response distinguishes them.
            let tag = EntityTag(candidates[validated].fields)
            let matching = selected.filter { index in
                let fields = candidates[index].fields
                return EntityTag(fields) == tag && fields.firstBytes(of: .lastModified) == lastModified
            }
            return latest(matching, of: candidates).map { [$0] } ?? []
        }
        // The 304 has no validator. By RFC 9111 it then updates a response only if no other is stored. But servers omit
        // the ETag, and the request validated exactly one response.
        return isUnambiguous && selected.contains(validated) ? [validated] : []
    }

    /// Whether a 304 identifies `response`, the only validated one, although its tag matches no stored response. A
    /// server that compresses on the fly weakens the tag of a 200, but sends the original tag with a 304: nginx does
    /// so. Other servers send a weak tag only with the 304, and then `Last-Modified` decides.
    private static func isAbout(_ response: StoredResponse, _ tag: EntityTag, _ reply: HTTPFields) -> Bool {
        if let stored = EntityTag(response.fields) { return stored.isWeaklyEqual(to: tag) }
        guard tag.isWeak, let lastModified = reply.firstBytes(of: .lastModified) else { return false }
        return response.fields.firstBytes(of: .lastModified) == lastModified
    }

    private static func latest(_ indices: [Int], of candidates: [StoredResponse]) -> Int? {
        // RFC 9111 §4: the response with the latest Date is the most recent.
        indices.max { index, other in
            let (one, two) = (candidates[index], candidates[other])
            return (one.date, one.responseTime) < (two.date, two.responseTime)
        }
    }
}

internal import HTTPTypes

/// What a 304 does to stored responses (RFC 9111 §4.3.4).
struct Freshening {
    /// The responses that it updates, as updated, by their place among the candidates.
    private(set) var updates: [Int: StoredResponse] = [:]
    /// The one of them that answers the request.
    let answer: Int
    /// Whether that is the last time they answer: as merged, they could not have been stored.
    private(set) var removesAfterUse = false

    /// Finds and updates what `exchange`, whose reply is a 304, is about.
    ///
    /// - Parameters:
    ///   - candidates: All stored responses for the key; those that another request selected are left alone.
    ///   - validated: The one whose validators the request carried.
    ///   - isUnambiguous: Whether it carried no other validators, such as the caller's.
    /// - Returns: `nil` when it is about nothing that is stored, or a body is missing.
    init?(
        _ exchange: Exchange, candidates: [StoredResponse], validated: Int, isUnambiguous: Bool,
        policy: CachePolicy, fingerprint: RequestSelection.Fingerprint
    ) {
        let reply = exchange.reply.headerFields
        guard candidates.indices.contains(validated), reply.count <= Storability.maxFieldCount else { return nil }
        // "the initial set": what could answer the request, had it been fresh.
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
        // The 304 to a HEAD is about the response that a GET has stored.
        var request = exchange.request
        request.method = .get
        for index in identified {
            var updated = candidates[index]
            updated.freshen(by: exchange)
            // The 304 may have changed Vary, and with it what other requests are answered.
            if let selection = RequestSelection.make(
                response: updated.fields, request: request, fingerprint: fingerprint,
                nominatesAuthorization: !policy.isShared)
            {
                updated.selection = selection
            } else {
                removesAfterUse = true
            }
            // §4.3.4 lets a 304 change everything, no-store included.
            let storability = Storability(
                status: updated.status, fields: updated.fields, request: request, policy: policy)
            if storability != .storable { removesAfterUse = true }
            updates[index] = updated
        }
    }

    /// Which stored responses the validators of a 304 identify.
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
            // A strong validator: all that have "one of those same strong validators", and none else. A weak one: "the most
            // recent of those matching".
            return tag.isWeak ? latest(matching, of: candidates).map { [$0] } ?? [] : matching
        }
        if let lastModified = reply.first(where: { $0.name == .lastModified }) {
            // Weak unless proved otherwise (RFC 9110 §8.8.2.2). Of two states within one second the tag that was asked about
            // tells which.
            let tag = EntityTag(candidates[validated].fields)
            let matching = selected.filter { index in
                let fields = candidates[index].fields
                return EntityTag(fields) == tag
                    && fields.first { $0.name == .lastModified }?.hasSameBytes(as: lastModified) ?? false
            }
            return latest(matching, of: candidates).map { [$0] } ?? []
        }
        // No validator at all. The RFC then updates a response only if it is the one there is; but servers leave the ETag
        // out, and the request asked about one response and no other.
        return isUnambiguous && selected.contains(validated) ? [validated] : []
    }

    /// Whether a 304 whose tag matches no stored response is about `response`, the only one that the request asked about.
    ///
    /// A server that compresses while it sends weakens the tag of a 200, but sends the original tag with a 304: nginx does.
    /// Others send a weak tag with the 304 only; then `Last-Modified` decides.
    private static func isAbout(_ response: StoredResponse, _ tag: EntityTag, _ reply: HTTPFields) -> Bool {
        if let stored = EntityTag(response.fields) { return stored.isWeaklyEqual(to: tag) }
        guard tag.isWeak, let lastModified = reply.first(where: { $0.name == .lastModified }) else { return false }
        return response.fields.first { $0.name == .lastModified }?.hasSameBytes(as: lastModified) ?? false
    }

    private static func latest(_ indices: [Int], of candidates: [StoredResponse]) -> Int? {
        indices.max { candidates[$0].recency < candidates[$1].recency }
    }
}

extension StoredResponse {
    /// RFC 9111 §4: of several responses the one with the latest `Date` is the most recent.
    fileprivate var recency: (HTTPDate, HTTPDate) {
        let date = fields.first { $0.name == .date }.flatMap { HTTPDate($0, now: responseTime) }
        return (date ?? responseTime, responseTime)
    }
}

extension HTTPField {
    fileprivate func hasSameBytes(as other: HTTPField) -> Bool {
        withUnsafeBytesOfValue { bytes in other.withUnsafeBytesOfValue { bytes.trimmed.elementsEqual($0.trimmed) } }
    }
}

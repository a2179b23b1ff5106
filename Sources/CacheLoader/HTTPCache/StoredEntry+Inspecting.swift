package import CacheFoundation
package import CacheStore

/// Reads a stored entry as HTTP, for an inspector of the store.
extension StoredEntry {
    /// The status of the response, clamped to three digits, because an altered index may contain any number.
    package var responseStatus: HTTPResponse.Status { HTTPResponse.Status(stored: metadata.status) }

    /// The fields of the response, in order.
    package var responseFields: HTTPFields { EntryCodec.fields(ofHead: metadata.head) }

    /// The fields that `Vary` of the response nominates, with their values in the request. The value of an absent field
    /// is `nil`, and the value of a credential is a fingerprint.
    package var nominatedFields: [(name: String, value: String?)] {
        VaryKey(text: metadata.variant).lines.map { line in
            (String(line.prefix { $0 != ":" }), VaryKey.value(in: line))
        }
    }

    /// Describes the response at a time: its freshness lifetime, age and validators.
    package func described(policy: CachePolicy, at date: Date) -> Explanation.Candidate {
        Explanation.Candidate(
            Explanation.Stored(EntryCodec.response(of: self), url: key.text, byteCount: byteCount), isChosen: false,
            HTTPRequest(method: .get, scheme: nil, authority: nil, path: nil), policy: policy, now: HTTPDate(date),
            fingerprint: { _, value in value })
    }
}

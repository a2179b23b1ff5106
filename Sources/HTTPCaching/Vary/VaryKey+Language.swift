extension VaryKey {
    /// Whether a response selected by another `Accept-Language` is in the language that `request` prefers. `response`
    /// has the fields of the stored response of this key.
    package func selects(
        _ response: HTTPFields, for request: HTTPRequest, fingerprint: Fingerprint, nominatesAuthorization: Bool = false
    ) -> Bool {
        // RFC 9111 §4.1: "When a nominated request header field has a known mechanism for ranking preference (e.g.,
        // qvalues on Accept and similar request header fields), that mechanism MAY be used to choose a preferred
        // response." Used only where an origin would hardly choose otherwise, which takes two conditions. First, `Vary`
        // nominates `Accept-Language`, and every other nominated field matches. Second, except for case, the only
        // language of the content equals the one range with the highest weight in the request.
        guard nominates("accept-language"), let language = response.contentLanguage,
            language == request.headerFields.preferredLanguage
        else { return false }
        return matches(
            request, but: "accept-language", fingerprint: fingerprint, nominatesAuthorization: nominatesAuthorization)
    }
}

extension HTTPFields {
    /// The only `Content-Language` in lower case, or `nil` for several.
    fileprivate var contentLanguage: [UInt8]? {
        let ranges = weightedRanges(of: .contentLanguage)
        guard let ranges, ranges.count == 1, ranges[0].weight == 1000 else { return nil }
        return ranges[0].range
    }

    /// The range of `Accept-Language` with the highest weight, in lower case. `nil` when several ranges have that
    /// weight, when the range is `*` or refused, or when an element is invalid.
    fileprivate var preferredLanguage: [UInt8]? {
        // RFC 9110 §12.4.2: "a value of 0 means 'not acceptable'".
        guard let ranges = weightedRanges(of: .acceptLanguage), let highest = ranges.map(\.weight).max(), highest > 0
        else { return nil }
        let preferred = Set(ranges.filter { $0.weight == highest }.map(\.range))
        guard preferred.count == 1, let language = preferred.first, language != Array("*".utf8) else { return nil }
        return language
    }

    private func weightedRanges(of name: HTTPField.Name) -> [WeightedRange]? {
        var ranges: [WeightedRange] = []
        for field in self where field.name == name {
            guard let more = field.withUnsafeBytesOfValue({ WeightedRange.list($0, isMediaRange: false) }) else {
                return nil
            }
            ranges += more
        }
        return ranges
    }
}

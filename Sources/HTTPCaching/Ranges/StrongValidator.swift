/// A validator that proves that two responses have bytes of the same representation (RFC 9110 §8.8.1). Two validators
/// are equal if they are the same strong entity tag or, without entity tags, the same strong date. A response with a
/// weak or malformed entity tag has no strong validator, not even a date, because the date could contradict the
/// origin's tag.
package struct StrongValidator: Hashable, Sendable {
    private enum Kind: Hashable {
        case entityTag([UInt8])
        case lastModified([UInt8])
    }

    private let kind: Kind

    /// `responseTime` is the time when the response arrived; it resolves a two-digit year.
    package init?(_ fields: HTTPFields, responseTime: HTTPDate) {
        let tags = fields.filledLines(.eTag)
        if let tag = tags.first {
            let bytes = tag.trimmedBytes
            guard tags.count == 1, bytes.isStrongEntityTag else { return nil }
            kind = .entityTag(bytes)
        } else {
            guard let bytes = Self.strongLastModified(of: fields, responseTime: responseTime) else { return nil }
            kind = .lastModified(bytes)
        }
    }

    /// The `If-Range` that requests more of the same representation (RFC 9110 §13.1.5). A client "MUST NOT generate an
    /// If-Range header field containing an entity tag that is marked as weak", nor "an HTTP-date unless […] the client
    /// has no entity tag […] and the date is a strong validator".
    package var ifRange: HTTPField {
        switch kind {
        case .entityTag(let bytes), .lastModified(let bytes): HTTPField(name: .ifRange, lenientValue: bytes)
        }
    }
}

extension StrongValidator {
    /// Returns the bytes of a strong `Last-Modified`, regardless of the entity tag. RFC 9110 §8.8.2.2: a date is weak
    /// unless it is at least one second before the `Date` of the response. Within that second the representation could
    /// have changed again. Without a `Date` of the same clock the date proves nothing.
    static func strongLastModified(of fields: HTTPFields, responseTime: HTTPDate) -> [UInt8]? {
        let lines = fields.filledLines(.lastModified)
        let dates = fields.filledLines(.date)
        guard lines.count == 1, dates.count == 1,
            let modified = HTTPDate(lines[0], now: responseTime), let date = HTTPDate(dates[0], now: responseTime),
            date.seconds(since: modified) >= 1
        else { return nil }
        return lines[0].trimmedBytes
    }
}

extension HTTPFields {
    /// Returns the non-empty lines with this name. An empty line counts as absent, as for ``EntityTag``.
    func filledLines(_ name: HTTPField.Name) -> [HTTPField] {
        filter { $0.name == name && !$0.trimmedBytes.isEmpty }
    }
}

extension [UInt8] {
    /// Whether the bytes are a strong entity tag (RFC 9110 §8.8.3): `opaque-tag = DQUOTE *etagc DQUOTE`, without the
    /// `W/` of a weak one. The tag goes into an `If-Range`, where a value without an opening quote would be read as a
    /// date. A repaired tag proves nothing.
    var isStrongEntityTag: Bool {
        guard count >= 2, first == UInt8(ascii: "\""), last == UInt8(ascii: "\""), !isRepaired else { return false }
        return dropFirst().dropLast().allSatisfy { $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80 }
    }
}

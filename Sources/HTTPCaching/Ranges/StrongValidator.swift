package import HTTPTypes

/// A validator that proves that two responses have bytes of the same representation (RFC 9110 §8.8.1).
///
/// Two validators are equal if they are the same strong entity tag or, without entity tags, the same strong date. A
/// weak or malformed entity tag leaves a response without a strong validator. The date could contradict the tag of the
/// origin.
package struct StrongValidator: Hashable, Sendable {
    private enum Kind: Hashable {
        case entityTag([UInt8])
        case lastModified([UInt8])
    }

    private let kind: Kind

    /// Reads the strong validator of a response; `nil` when there is none.
    ///
    /// - Parameters:
    ///   - fields: The fields of the response.
    ///   - responseTime: The time when the response arrived, which resolves a year with two digits.
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

    /// The `If-Range` that requests more of the same representation (RFC 9110 §13.1.5).
    ///
    /// A client "MUST NOT generate an If-Range header field containing an entity tag that is marked as weak", nor "an
    /// HTTP-date unless […] the client has no entity tag […] and the date is a strong validator".
    package var ifRange: HTTPField {
        switch kind {
        case .entityTag(let bytes), .lastModified(let bytes): HTTPField(name: .ifRange, lenientValue: bytes)
        }
    }
}

extension StrongValidator {
    /// Returns the bytes of `Last-Modified` if the date is strong, regardless of the entity tag.
    ///
    /// RFC 9110 §8.8.2.2: a date is weak unless it is at least one second before the `Date` of the response. The
    /// representation could have changed again within that second. Without a `Date` of the same clock, nothing can be
    /// deduced.
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
    package func filledLines(_ name: HTTPField.Name) -> [HTTPField] {
        filter { $0.name == name && !$0.trimmedBytes.isEmpty }
    }
}

extension [UInt8] {
    /// Whether the bytes are a strong entity tag (RFC 9110 §8.8.3): `opaque-tag = DQUOTE *etagc DQUOTE`, without the
    /// `W/` of a weak one.
    ///
    /// The tag goes into an `If-Range`, where a value without a quote at its beginning is read as a date. A repaired tag
    /// proves nothing.
    package var isStrongEntityTag: Bool {
        guard count >= 2, first == UInt8(ascii: "\""), last == UInt8(ascii: "\""), !isRepaired else { return false }
        return dropFirst().dropLast().allSatisfy { $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80 }
    }
}

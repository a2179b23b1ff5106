package import HTTPTypes

/// What tells that two responses have bytes of one and the same representation (RFC 9110 §8.8.1).
///
/// Two are equal when they have the same strong entity-tag or, where there is no entity-tag, the same strong date. A
/// response with an entity-tag that is weak, or is none by the grammar, has no strong validator: its date would be a second
/// opinion against the origin's own.
package struct StrongValidator: Hashable, Sendable {
    private enum Kind: Hashable {
        case entityTag([UInt8])
        case lastModified([UInt8])
    }

    private let kind: Kind

    /// The strong validator of a response; `nil` when it has none.
    ///
    /// - Parameters:
    ///   - fields: The fields of the response.
    ///   - responseTime: When it arrived; a year with two digits is read by it.
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

    /// The `If-Range` that asks for more of the same representation.
    package var ifRange: HTTPField {
        switch kind {
        case .entityTag(let bytes), .lastModified(let bytes): HTTPField(name: .ifRange, lenientValue: bytes)
        }
    }
}

extension StrongValidator {
    /// The bytes of `Last-Modified` if it is strong, whatever the entity-tag.
    ///
    /// RFC 9110 §8.8.2.2: a date is weak unless it is at least one second before the `Date` of the response: the representation
    /// could have changed again within the second. Without a `Date` of the same clock nothing can be deduced.
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
    /// The lines with this name that have something in them. As for ``EntityTag``, an empty one is none.
    func filledLines(_ name: HTTPField.Name) -> [HTTPField] {
        filter { $0.name == name && !$0.trimmedBytes.isEmpty }
    }
}

extension HTTPField {
    /// The value without whitespace at either end.
    var trimmedBytes: [UInt8] { withUnsafeBytesOfValue { Array($0.trimmed) } }
}

extension [UInt8] {
    /// RFC 9110 §8.8.3: `opaque-tag = DQUOTE *etagc DQUOTE`, without the `W/` of a weak one.
    ///
    /// It goes into an `If-Range`, where what does not begin with a quote is taken for a date.
    var isStrongEntityTag: Bool {
        guard count >= 2, first == UInt8(ascii: "\""), last == UInt8(ascii: "\"") else { return false }
        return dropFirst().dropLast().allSatisfy { $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80 }
    }
}

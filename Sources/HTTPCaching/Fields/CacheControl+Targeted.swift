internal import RawStructuredFieldValues

// RFC 9213: targeted fields, such as CDN-Cache-Control, address one class of caches.
extension CacheControl {
    /// Reads the directives of the first valid, non-empty field in `names`.
    ///
    /// RFC 9213 §2.2: this field replaces `Cache-Control` and `Expires`. A field that does not parse as a Dictionary
    /// counts as absent (§2.1). Directives in capitals, and elements that `Cache-Control` would tolerate, make the
    /// field invalid.
    ///
    /// - Parameters:
    ///   - fields: The fields of the response.
    ///   - names: The cache's target list, in order. Empty for a cache that no targeted field addresses.
    public init?(targeted fields: HTTPFields, names: [String]) {
        for name in names {
            guard let name = HTTPField.Name(name)?.canonicalName,
                let members = fields.structuredDictionary(named: name)
            else { continue }
            self.init()
            for (name, value) in members { apply(name, value) }
            return
        }
        return nil
    }

    /// Applies a member by its inferred type (§2.1): Boolean without an argument, Integer for a number, String or Token
    /// for field names. As in `Cache-Control`, a member of another type may restrict but never permits. The last value
    /// of a duplicate name counts, as in every Dictionary (RFC 9651 §4.2.2).
    private mutating func apply(_ name: String, _ value: ItemOrInnerList) {
        switch name {
        case "max-age": maxAge = DeltaSeconds(value)
        case "s-maxage": sharedMaxAge = DeltaSeconds(value)
        case "stale-while-revalidate": staleWhileRevalidate = DeltaSeconds(value)
        case "stale-if-error": staleIfError = DeltaSeconds(value)
        case "public": isPublic = value.bareItem == true
        case "immutable": isImmutable = value.bareItem == true
        case "must-understand": mustUnderstand = value.bareItem == true
        case "private":
            isPrivate = value.bareItem != false
            privateIsMalformed =
                switch value.bareItem {
                case .bool, .string, .token: false
                default: true
                }
        case "no-store": noStore = value.bareItem != false
        case "must-revalidate":
            mustRevalidate = value.bareItem != false
            mustRevalidateIsMalformed = mustRevalidate && value.bareItem != true
        case "proxy-revalidate": proxyRevalidate = value.bareItem != false
        case "no-cache": setNoCache(value)
        // Ignores unknown directives and request directives.
        default: break
        }
    }

    private mutating func setNoCache(_ value: ItemOrInnerList) {
        switch value.bareItem {
        case .bool(false):
            return
        case .string(let text), .token(let text):
            var text = text
            guard let names = text.withUTF8(\.lowercasedTokens), !names.isEmpty else { fallthrough }
            noCacheFields = names
        default:
            noCache = true
        }
    }
}

extension DeltaSeconds {
    /// Reads the number in a member of a targeted field.
    fileprivate init(_ value: ItemOrInnerList) {
        guard case .integer(let number) = value.bareItem, number >= 0 else {
            self = .malformed
            return
        }
        // RFC 9111 §1.2.2: a greater number counts as the limit.
        self = .seconds(min(number, Self.limit))
    }
}

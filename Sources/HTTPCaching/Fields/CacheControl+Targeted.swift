package import HTTPTypes
internal import RawStructuredFieldValues

// RFC 9213: fields such as CDN-Cache-Control, which speak to one class of caches only.
extension CacheControl {
    /// The directives of the first of the fields `names` that is valid and not empty; `nil` when none is.
    ///
    /// RFC 9213 §2.2: when there is one, it alone says what the cache does: `Cache-Control` and `Expires` are ignored.
    /// Each counts as absent when it cannot be parsed as a Dictionary (§2.1): so do directives in capitals, and elements
    /// that `Cache-Control` would let pass.
    ///
    /// - Parameter names: The cache's target list, in order. Empty for a cache that no field is aimed at.
    package init?(targeted fields: HTTPFields, names: [String]) {
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

    /// §2.1 infers the types: Boolean for what has no argument, Integer for numbers, String or Token for field names.
    ///
    /// What has another type is read as in `Cache-Control`: it restricts, and permits nothing. A name that comes twice has
    /// the last value, as in every Dictionary (RFC 9651 §4.2.2).
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
            privateIsReadable =
                switch value.bareItem {
                case .bool(true), .string, .token: true
                default: false
                }
        case "no-store": noStore = value.bareItem != false
        case "must-revalidate":
            mustRevalidate = value.bareItem != false
            mustRevalidateIsReadable = value.bareItem == true
        case "proxy-revalidate": proxyRevalidate = value.bareItem != false
        case "no-cache": setNoCache(value)
        // Others are unknown, or for requests.
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
    /// The number that a member of a targeted field writes.
    fileprivate init(_ value: ItemOrInnerList) {
        guard case .integer(let number) = value.bareItem, number >= 0 else {
            self = .malformed
            return
        }
        // RFC 9111 §1.2.2
        self = .seconds(min(number, Self.limit))
    }
}

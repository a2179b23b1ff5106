package import HTTPTypes

/// What an origin wants to be forgotten of itself (W3C Clear Site Data, https://www.w3.org/TR/clear-site-data/).
///
/// Whether to heed it is for the user of the cache to say; it counts only in a response that came over TLS.
package struct ClearSiteData: Hashable, Sendable {
    /// Whether `"cache"` or `"*"` is among the types, to the letter.
    package let clearsCache: Bool

    /// Reads every `Clear-Site-Data` line. What is not a list of quoted strings clears nothing.
    package init(_ fields: HTTPFields) {
        var clearsCache = false
        for field in fields where field.name.canonicalName == "clear-site-data" {
            guard let isNamed = field.withUnsafeBytesOfValue(Self.namesCache) else {
                self.clearsCache = false
                return
            }
            clearsCache = clearsCache || isNamed
        }
        self.clearsCache = clearsCache
    }

    /// `1#( quoted-string )`, a list by RFC 9110 §5.6.1 and not a structured field; `nil` when it is something else.
    private static func namesCache(_ bytes: FieldBytes) -> Bool? {
        var scanner = FieldScanner(bytes)
        var isNamed = false
        while scanner.skipToElement() {
            guard let type = scanner.quotedString(), scanner.isAtEndOfElement() else { return nil }
            isNamed = isNamed || type.elementsEqual("cache".utf8) || type.elementsEqual("*".utf8)
        }
        return isNamed
    }
}

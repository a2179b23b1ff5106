/// The data that an origin asks clients to clear (W3C Clear Site Data, https://www.w3.org/TR/clear-site-data/). The
/// caller decides whether to obey the field, which is valid only in a response over TLS.
package struct ClearSiteData: Hashable, Sendable {
    /// Whether the types include `"cache"` or `"*"`, byte for byte.
    package let clearsCache: Bool

    /// Reads all `Clear-Site-Data` lines. A line other than a list of quoted strings makes the field clear nothing.
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

    /// Reads `1#( quoted-string )`, a list by RFC 9110 §5.6.1 and no structured field. Returns `nil` for any other
    /// syntax.
    private static func namesCache(_ bytes: FieldBytes) -> Bool? {
        var scanner = FieldScanner(bytes)
        let types = scanner.list { $0.quotedString() }
        return types?.contains { $0.elementsEqual("cache".utf8) || $0.elementsEqual("*".utf8) }
    }
}

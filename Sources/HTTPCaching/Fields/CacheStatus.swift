internal import ByteText
internal import RawStructuredFieldValues

/// Describes how this cache handled a request, for the field `Cache-Status` (RFC 9211).
///
/// A status belongs to one delivery of a response and is never stored. RFC 9211 §2: a response that the cache generates
/// itself, such as the 504 to `only-if-cached`, gets no `Cache-Status`.
public struct CacheStatus: Hashable, Sendable {
    /// The reason for forwarding the request to the origin, or `nil` for an answer without the origin.
    public var forward: ForwardReason?
    /// The status code of the origin's reply, for forwarded requests only. May be `nil` when the delivered response has
    /// the same status code.
    public var forwardStatus: Int?
    /// The remaining freshness lifetime in seconds. Negative for a stale response.
    public var ttl: Int64?
    /// Whether the cache stored the response, for forwarded requests only.
    public var stored: Bool?
    /// Whether the request was collapsed with another, for forwarded requests only. `false` after a failed attempt to
    /// collapse it.
    public var collapsed: Bool?
    /// The cache key of the response.
    public var key: String?
    /// Additional information for debugging.
    public var detail: String?

    /// The longest ``key`` or ``detail`` in bytes. The cache omits a longer one.
    static let maxTextByteCount = 1024

    /// Creates the status of an answer from a stored response.
    public static func hit(ttl: Int64? = nil, key: String? = nil, detail: String? = nil) -> CacheStatus {
        CacheStatus(ttl: ttl, key: key, detail: detail)
    }

    /// Creates the status of a forwarded request.
    public static func forward(
        _ reason: ForwardReason, status: Int? = nil, ttl: Int64? = nil, stored: Bool? = nil, collapsed: Bool? = nil,
        key: String? = nil, detail: String? = nil
    ) -> CacheStatus {
        CacheStatus(
            forward: reason, forwardStatus: status, ttl: ttl, stored: stored, collapsed: collapsed, key: key,
            detail: detail)
    }

    /// Whether a stored response answered without the origin.
    public var isHit: Bool { forward == nil }
}

// MARK: - Writing

extension CacheStatus {
    /// Returns the list member for the cache called `name`.
    public func member(name: String) -> String {
        var member = Self.printable(name).map(Self.tokenOrString) ?? "cache"
        // RFC 9211 §2.2: "hit" and "fwd" exclude each other. The parameters of §2.3, §2.5 and §2.6 require "fwd".
        if let forward {
            member += ";fwd=" + forward.rawValue
            if let forwardStatus { member += ";fwd-status=\(Self.integer(Int64(forwardStatus)))" }
        } else {
            member += ";hit"
        }
        if let ttl { member += ";ttl=\(Self.integer(ttl))" }
        if forward != nil {
            if let stored { member += stored ? ";stored" : ";stored=?0" }
            if let collapsed { member += collapsed ? ";collapsed" : ";collapsed=?0" }
        }
        if let key = key.flatMap(Self.printable) { member += ";key=" + Self.quoted(key) }
        if let detail = detail.flatMap({ Self.printable(Self.ascii($0)) }) {
            member += ";detail=" + Self.tokenOrString(detail)
        }
        return member
    }

    /// Appends the member for the cache called `name` after the members of caches nearer to the origin.
    ///
    /// RFC 9211 §2: existing members stay unchanged, malformed or not. So this method adds a separate field line.
    public func append(to fields: inout HTTPFields, name: String) {
        guard let fieldName = Self.fieldName else { return }
        fields.append(HTTPField(name: fieldName, value: member(name: name)))
    }

    private static let fieldName = HTTPField.Name("Cache-Status")

    /// RFC 9651 §3.3.1: an Integer has at most fifteen digits.
    private static func integer(_ number: Int64) -> Int64 {
        min(max(number, -999_999_999_999_999), 999_999_999_999_999)
    }

    private static func tokenOrString(_ text: String) -> String {
        text.structuredHeadersIsValidToken ? text : quoted(text)
    }

    /// Returns a printable text as a String (RFC 9651 §4.1.6).
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }

    /// Writes the signs of rules as ASCII, because a String has no other characters: `RFC 9111 Section 4.2`.
    private static func ascii(_ detail: String) -> String {
        if detail.utf8.allSatisfy({ $0 < 0x80 }) { return detail }
        return detail.unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "§": text += "Section "
            case "…": text += "..."
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    /// Percent-encodes the bytes that a String cannot contain (RFC 9651 §3.3.3). Returns `nil` for text that is too
    /// long.
    private static func printable(_ text: String) -> String? {
        guard text.utf8.count <= maxTextByteCount else { return nil }
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
        let encoded = PercentEncoding.encoded(text.utf8) { (0x20...0x7E).contains($0) }
        return encoded.utf8.count <= maxTextByteCount ? encoded : nil
    }
}

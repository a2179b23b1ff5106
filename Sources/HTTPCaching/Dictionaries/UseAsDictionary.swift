internal import RawStructuredFieldValues

/// The requests for which a response can be the compression dictionary (RFC 9842 §2.1). Supports URL patterns of
/// literal text and `*`, for a path and for a query. A pattern with groups, names, modifiers, escapes or dot segments
/// matches nothing.
package struct UseAsDictionary: Hashable, Sendable {
    /// The longest `id` (RFC 9842 §2.1.3).
    static let maxIDLength = 1024

    /// The pattern as sent by the server.
    package let match: String
    /// The identifier to repeat in requests, or an empty text.
    package let id: String
    /// The `scheme://authority` of the dictionary and of all matching URLs (RFC 9842 §2.2.2).
    private let origin: String
    private let path: Glob
    /// `nil` matches any query and no query.
    private let query: Glob?

    /// Returns `nil` for a response that is no dictionary, or an unsupported one. RFC 9842 §2.1.2: a client without
    /// request destinations treats `match-dest` as empty. `url` is the normalised URL of the response.
    package init?(_ fields: HTTPFields, of url: String) {
        guard let members = fields.structuredDictionary(named: "use-as-dictionary"),
            let match = members["match"]?.string,
            members["match-dest"].map({ $0.strings != nil }) ?? true,
            // §2.1.4: "If a client receives a dictionary with a type that it does not understand, it MUST NOT use the
            // dictionary".
            members["type"].map({ $0.token == "raw" }) ?? true
        else { return nil }
        if let member = members["id"] {
            guard let id = member.string, id.utf8.count <= Self.maxIDLength else { return nil }
            self.id = id
        } else {
            id = ""
        }
        guard let base = URLParts(url), let pattern = Pattern(match, base) else { return nil }
        self.match = match
        origin = base.origin
        path = Glob(pattern.path.utf8)
        query = pattern.query.map { Glob($0.utf8) }
    }

    /// Whether the response is a dictionary for a request of a normalised URL (RFC 9842 §2.2.2).
    package func matches(_ url: String) -> Bool {
        guard let parts = URLParts(url), parts.origin == origin, path.matches(parts.path) else { return false }
        return query?.matches(parts.query) ?? true
    }

    /// Whether this dictionary takes precedence over another matching dictionary (RFC 9842 §2.2.3).
    package func precedes(_ other: UseAsDictionary, fetchedAt time: HTTPDate, otherFetchedAt: HTTPDate) -> Bool {
        let (length, otherLength) = (match.utf8.count, other.match.utf8.count)
        return length == otherLength ? time > otherFetchedAt : length > otherLength
    }
}

/// The parts of a normalised URL.
private struct URLParts {
    let origin: String
    let path: Substring
    let query: Substring

    init?(_ url: String) {
        // Works on bytes: in a String, a combining character would hide the delimiter before it.
        let bytes = url.utf8
        guard let scheme = bytes.firstRange(of: "://".utf8),
            let slash = bytes[scheme.upperBound...].firstIndex(of: UInt8(ascii: "/"))
        else { return nil }
        origin = String(url[..<slash])
        let end = bytes[slash...].firstIndex(of: UInt8(ascii: "#")) ?? url.endIndex
        let mark = bytes[slash..<end].firstIndex(of: UInt8(ascii: "?")) ?? end
        path = url[slash..<mark]
        query = mark < end ? url[bytes.index(after: mark)..<end] : ""
    }
}

/// A URL pattern of literal text and `*`.
private struct Pattern {
    let path: String
    let query: String?

    init?(_ match: String, _ base: URLParts) {
        guard !match.isEmpty, match.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        var rest = match[...]
        if rest.hasPrefix(base.origin + "/") { rest = rest.dropFirst(base.origin.count) }
        // After a star, another star, a question mark or a plus would be a modifier.
        guard !rest.contains(where: { ":(){}\\#".contains($0) }),
            !["**", "*?", "*+", "//"].contains(where: { rest.contains($0) })
        else { return nil }
        let mark = rest.firstIndex(of: "?")
        let query = mark.map { rest[rest.index(after: $0)...] }
        guard query?.contains("?") != true else { return nil }
        var path = String(rest[..<(mark ?? rest.endIndex)])
        guard !path.isEmpty else { return nil }
        if !path.hasPrefix("/") {
            // A relative path begins at the folder of the dictionary.
            path = String(base.path[...(base.path.lastIndex(of: "/") ?? base.path.startIndex)]) + path
        }
        guard !path.split(separator: "/").contains(where: { [".", ".."].contains($0) }) else { return nil }
        self.path = path
        self.query = query.map(String.init)
    }
}

extension Glob {
    fileprivate func matches(_ text: Substring) -> Bool {
        var text = String(text)
        return text.withUTF8 { matches($0[...]) }
    }
}

extension ItemOrInnerList {
    /// The value of a Token item, or `nil` for any other member.
    fileprivate var token: String? {
        guard case .token(let token) = bareItem else { return nil }
        return token
    }
}

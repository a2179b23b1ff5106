internal import ByteText

/// A URI or relative reference, split into components by RFC 3986 §3. Keeps each component byte for byte (RFC 3986
/// §2.4: "implementations must not percent-encode or decode the same string more than once"). Except in the authority,
/// percent-encodes spaces, control characters and bytes beyond ASCII, as browsers do. Servers send these bytes in
/// `Location`, although no URI may contain them.
struct URIReference: Sendable {
    private var scheme: [UInt8]?
    private var authority: [UInt8]?
    private var path: [UInt8]
    private var query: [UInt8]?
    var fragment: [UInt8]?

    /// Returns `nil` for an invalid scheme before the first colon.
    init?(_ text: some Collection<UInt8>) {
        var rest = Array(text)[...]
        if let sign = rest.firstIndex(of: UInt8(ascii: "#")) {
            fragment = Self.encoded(rest[(sign + 1)...])
            rest = rest[..<sign]
        }
        if let end = rest.firstIndex(where: { ":/?".utf8.contains($0) }), rest[end] == UInt8(ascii: ":") {
            guard Self.isScheme(rest[..<end]) else { return nil }
            scheme = rest[..<end].map(\.asciiLowercased)
            rest = rest[(end + 1)...]
        }
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let host = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            authority = Array(host)
            rest = rest[host.endIndex...]
        }
        let end = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        path = Self.encoded(rest[..<end])
        query = end < rest.endIndex ? Self.encoded(rest[(end + 1)...]) : nil
    }

    private static func encoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        Array(PercentEncoding.encoded(bytes) { (0x21...0x7E).contains($0) }.utf8)
    }

    private static func isScheme(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, (0x61...0x7A).contains(first.asciiLowercased) else { return false }
        return bytes.allSatisfy {
            (0x61...0x7A).contains($0.asciiLowercased) || $0.isASCIIDigit || "+-.".utf8.contains($0)
        }
    }

    /// The reference recomposed (RFC 3986 §5.3), or `nil` for an authority that is not UTF-8.
    var text: String? {
        var bytes: [UInt8] = []
        if let scheme { bytes += scheme + Array(":".utf8) }
        if let authority { bytes += Array("//".utf8) + authority }
        bytes += path
        if let query { bytes += Array("?".utf8) + query }
        if let fragment { bytes += Array("#".utf8) + fragment }
        return String(validating: bytes, as: UTF8.self)
    }
}

// MARK: - Resolution

extension URIReference {
    /// Resolves this reference against `base` (RFC 3986 §5.2.2).
    func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme != nil {
            target.path = Self.withoutDotSegments(path)
            return target
        }
        target.scheme = base.scheme
        if authority != nil {
            target.path = Self.withoutDotSegments(path)
            return target
        }
        target.authority = base.authority
        if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else if path.first == UInt8(ascii: "/") {
            target.path = Self.withoutDotSegments(path)
        } else {
            target.path = Self.withoutDotSegments(base.merged(with: path))
        }
        return target
    }

    /// RFC 3986 §5.2.3: replaces everything after the last slash with the relative path.
    private func merged(with relative: [UInt8]) -> [UInt8] {
        if authority != nil, path.isEmpty { return Array("/".utf8) + relative }
        let lastSlash = path.lastIndex(of: UInt8(ascii: "/"))
        return Array(path.prefix(lastSlash.map { $0 + 1 } ?? 0)) + relative
    }

    /// RFC 3986 §5.2.4, for a path that begins with a slash. Returns any other path unchanged.
    private static func withoutDotSegments(_ path: [UInt8]) -> [UInt8] {
        guard path.first == UInt8(ascii: "/") else { return path }
        var kept: [ArraySlice<UInt8>] = []
        var endsInDots = false
        for segment in path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let isParent = segment.elementsEqual("..".utf8)
            endsInDots = isParent || segment.elementsEqual(".".utf8)
            if isParent {
                _ = kept.popLast()
            } else if !endsInDots {
                kept.append(segment)
            }
        }
        // A dot segment at the end names a directory, so the path ends with a slash.
        if endsInDots { kept.append([]) }
        return Array("/".utf8) + Array(kept.joined(separator: "/".utf8))
    }
}

// MARK: - Comparison

extension URIReference {
    /// The scheme, host and port (RFC 9110 §4.3.1). `nil` without a host, with userinfo, or with an invalid port.
    var origin: Origin? { Origin(scheme: scheme, authority: authority) }

    /// Whether both URIs are equivalent by scheme-based normalization (RFC 3986 §6.2.3), without decoding
    /// percent-encoding.
    func isEquivalent(to other: URIReference) -> Bool {
        guard let origin, let otherOrigin = other.origin else { return false }
        return origin == otherOrigin && rootedPath == other.rootedPath && query == other.query
    }

    private var rootedPath: [UInt8] { path.isEmpty ? Array("/".utf8) : path }

    struct Origin: Hashable {
        let scheme: [UInt8]
        let host: [UInt8]
        let port: UInt16?

        fileprivate init?(scheme: [UInt8]?, authority: [UInt8]?) {
            guard let scheme, let authority, !authority.contains(UInt8(ascii: "@")) else { return nil }
            // The brackets of an IPv6 address contain colons.
            let closing = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
            let colon = authority[closing...].firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
            guard colon > authority.startIndex else { return nil }
            self.scheme = scheme
            host = authority[..<colon].map(\.asciiLowercased)
            let digits = authority[colon...].dropFirst()
            if digits.isEmpty {
                port = Self.defaultPort(of: scheme)
            } else {
                guard digits.allSatisfy(\.isASCIIDigit), let number = UInt16(String(decoding: digits, as: UTF8.self))
                else { return nil }
                port = number
            }
        }

        private static func defaultPort(of scheme: [UInt8]) -> UInt16? {
            if scheme.elementsEqual("http".utf8) { return 80 }
            if scheme.elementsEqual("https".utf8) { return 443 }
            return nil
        }
    }
}

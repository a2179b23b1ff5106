/// A pattern for normalised URLs: scheme, host, port and path, each optional.
struct URLPattern: Hashable, Sendable {
    struct Malformed: Error { let reason: String }

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private enum Host: Hashable {
        case all
        case only([UInt8])
        /// All hosts that end in these bytes, which begin with a dot.
        case below([UInt8])
    }

    private let scheme: [UInt8]?
    private let host: Host
    private let port: Int?
    /// Matched against path and query if it has a query, otherwise against the path, or `nil` for all paths.
    private let path: Glob?
    private let hasQuery: Bool

    init(_ text: String) throws(Malformed) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Malformed(reason: "it contains a space, a control character or one beyond ASCII: percent-encode it")
        }
        guard !text.isEmpty else { throw Malformed(reason: "it is empty") }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw Malformed(reason: "no key has a fragment") }
        var rest = Array(text.utf8)[...]
        let start = rest.firstIndex { "/?".utf8.contains($0) } ?? rest.endIndex
        if rest[start...].starts(with: "//".utf8), rest[..<start].last == UInt8(ascii: ":") {
            let scheme = rest[..<start].dropLast().map(Self.lowercased)
            guard [Array("http".utf8), Array("https".utf8)].contains(scheme) else {
                throw Malformed(reason: "its scheme is not http or https")
            }
            self.scheme = scheme
            rest = rest[(start + 2)...]
        } else {
            scheme = nil
        }
        let end = rest.firstIndex { "/?".utf8.contains($0) } ?? rest.endIndex
        (host, port) = try Self.authority(rest[..<end], isRequired: scheme != nil)
        guard end == rest.endIndex || rest[end] == UInt8(ascii: "/") else {
            throw Malformed(reason: "its path does not begin with a slash")
        }
        path = end == rest.endIndex ? nil : Glob(rest[end...])
        hasQuery = rest[end...].contains(UInt8(ascii: "?"))
    }

    private static func authority(
        _ bytes: ArraySlice<UInt8>, isRequired: Bool
    ) throws(Malformed) -> (Host, port: Int?) {
        guard !bytes.isEmpty else {
            guard !isRequired else { throw Malformed(reason: "it has a scheme, but no host") }
            return (.all, nil)
        }
        // The colons of an IPv6 address are between brackets.
        let closing = bytes.lastIndex(of: UInt8(ascii: "]")) ?? bytes.startIndex
        let colon = bytes[closing...].firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        var port: Int?
        if colon != bytes.endIndex {
            let digits = bytes[(colon + 1)...]
            guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = UInt16(String(decoding: digits, as: UTF8.self))
            else { throw Malformed(reason: "its port is not a number up to 65535") }
            port = Int(number)
        }
        return (try host(bytes[..<colon]), port)
    }

    private static func host(_ bytes: ArraySlice<UInt8>) throws(Malformed) -> Host {
        let star = UInt8(ascii: "*")
        guard !bytes.isEmpty else { throw Malformed(reason: "it has a port, but no host") }
        guard !bytes.contains(where: { "@\\\"<>^`{|}".utf8.contains($0) }) else {
            throw Malformed(reason: "its host has a character that no host has")
        }
        if bytes.elementsEqual([star]) { return .all }
        let name = bytes.first == star ? bytes.dropFirst() : bytes
        guard !name.contains(star), name.count == bytes.count || name.first == UInt8(ascii: ".") && name.count > 1
        else {
            throw Malformed(reason: "a * in a host is the whole host, or is followed by a dot and the rest of the host")
        }
        return name.count == bytes.count ? .only(name.map(lowercased)) : .below(name.map(lowercased))
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    // MARK: Matching

    /// Whether the pattern matches a normalised URL: `scheme://host[:port]/path[?query]`.
    func matches(_ url: String) -> Bool {
        var url = url
        return url.withUTF8 { matches($0) }
    }

    private func matches(_ url: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let colon = url.firstIndex(of: UInt8(ascii: ":")), colon + 3 <= url.count,
            let slash = url[(colon + 3)...].firstIndex(of: UInt8(ascii: "/"))
        else { return false }
        if let scheme, !url[..<colon].elementsEqual(scheme) { return false }
        return matches(authority: url[(colon + 3)..<slash], isSecure: colon == 5) && matches(path: url[slash...])
    }

    private func matches(authority: Bytes, isSecure: Bool) -> Bool {
        let closing = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
        let colon = authority[closing...].firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
        if let port {
            // A normalised URL leaves out the default port of its scheme.
            let digits = authority[colon...].dropFirst()
            let number = digits.isEmpty ? (isSecure ? 443 : 80) : digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
            guard number == port else { return false }
        }
        let name = authority[..<colon]
        return switch host {
        case .all: true
        case .only(let host): name.elementsEqual(host)
        case .below(let suffix): name.count > suffix.count && name.suffix(suffix.count).elementsEqual(suffix)
        }
    }

    private func matches(path target: Bytes) -> Bool {
        guard let path else { return true }
        if hasQuery { return path.matches(target) }
        return path.matches(target.prefix { $0 != UInt8(ascii: "?") })
    }
}

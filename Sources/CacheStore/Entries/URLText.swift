/// Parses and normalises URLs as text, by the grammar of RFC 3986 §3.
///
/// Foundation's `URL` takes longer than a whole lookup.
enum URLText {
    /// Returns the normalised URL: equal for all URLs with the same key.
    static func normalized(_ url: String) throws(StoreError) -> String {
        var url = url
        // `withUTF8` rethrows, and would lose the type of the error.
        let result = url.withUTF8 { bytes in
            Result { () throws(Malformed) in try normalized(bytes) }
        }
        return try result.mapError { StoreError.invalidKey(url, reason: $0.reason) }.get()
    }

    private struct Malformed: Error { let reason: String }

    private static func normalized(_ bytes: UnsafeBufferPointer<UInt8>) throws(Malformed) -> String {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), isScheme(bytes[..<colon]) else {
            throw Malformed(reason: "it has no scheme")
        }
        let authorityStart = colon + 3
        guard authorityStart <= bytes.count, bytes[colon + 1] == UInt8(ascii: "/"),
            bytes[colon + 2] == UInt8(ascii: "/")
        else { throw Malformed(reason: "it has no host") }
        let afterScheme = bytes[authorityStart...]
        let authorityEnd = afterScheme.firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
        let authority = try Authority(bytes[authorityStart..<authorityEnd])
        let end = bytes[authorityEnd...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex

        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 1)
        result.append(contentsOf: bytes[..<colon].lazy.map(lowercased))
        result.append(contentsOf: "://".utf8)
        result.append(contentsOf: authority.host.lazy.map(lowercased))
        if let port = authority.port, port != defaultPort(ofScheme: result.prefix(colon)) {
            result.append(UInt8(ascii: ":"))
            result.append(contentsOf: String(port).utf8)
        }
        if authorityEnd == end || bytes[authorityEnd] != UInt8(ascii: "/") { result.append(UInt8(ascii: "/")) }
        for byte in bytes[authorityEnd..<end] {
            guard byte > 0x20, byte != 0x7F else {
                throw Malformed(reason: "it contains a space or a control character")
            }
            if byte > 0x7F || notInURLs.contains(byte) {
                result.append(contentsOf: percentEncoded(byte))
            } else {
                result.append(byte)
            }
        }
        guard result.count <= CacheKey.maxByteCount else {
            throw Malformed(reason: "it has more than \(CacheKey.maxByteCount) bytes")
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// RFC 3986 §2 does not allow these characters in a URL; Foundation and browsers percent-encode them.
    private static let notInURLs = Array("\"<>\\^`{|}".utf8)

    private struct Authority {
        let host: Slice<UnsafeBufferPointer<UInt8>>
        let port: UInt16?

        init(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) throws(Malformed) {
            guard !bytes.contains(UInt8(ascii: "@")) else {
                throw Malformed(reason: "it contains a user or password, which do not belong into a cache")
            }
            // The colons of an IPv6 address are between brackets.
            let closing = bytes.lastIndex(of: UInt8(ascii: "]")) ?? bytes.startIndex
            let colon = bytes[closing...].firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            host = bytes[..<colon]
            guard URLText.isHost(host) else {
                throw Malformed(reason: "it has no host, or one with characters that no host has")
            }
            let digits = bytes[colon...].dropFirst()
            if digits.isEmpty {
                port = nil
            } else if digits.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = UInt16(String(decoding: digits, as: UTF8.self))
            {
                port = number
            } else {
                throw Malformed(reason: "its port is not a number up to 65535")
            }
        }
    }

    /// Returns whether the bytes are a host by RFC 3986 §3.2.2: a registered name or an IPv4 address, or an IPv6
    /// address between brackets.
    private static func isHost(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard host.first == UInt8(ascii: "[") else {
            return !host.isEmpty
                && host.allSatisfy {
                    isLetter($0) || (0x30...0x39).contains($0) || "-._~!$&'()*+,;=%".utf8.contains($0)
                }
        }
        let address = host.dropFirst().dropLast()
        return host.last == UInt8(ascii: "]") && !address.isEmpty
            && address.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || ":.%-".utf8.contains($0) }
    }

    private static func isScheme(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard let first = bytes.first, isLetter(first) else { return false }
        return bytes.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "+-.".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

    private static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

    private static func defaultPort(ofScheme scheme: ArraySlice<UInt8>) -> UInt16? {
        if scheme.elementsEqual("http".utf8) { return 80 }
        if scheme.elementsEqual("https".utf8) { return 443 }
        return nil
    }

    private static func percentEncoded(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0xf)]]
    }

    /// Returns the host of a normalised URL, without its port; `nil` if the text is no URL.
    static func host(ofNormalized url: String) -> String? {
        let bytes = url.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let rest = bytes[colon...]
        guard rest.starts(with: "://".utf8), !bytes[..<colon].contains(UInt8(ascii: "=")) else { return nil }
        let authority = rest.dropFirst(3).prefix { $0 != UInt8(ascii: "/") }
        if authority.first == UInt8(ascii: "["), let closing = authority.firstIndex(of: UInt8(ascii: "]")) {
            return String(Substring(authority[...closing]))
        }
        return String(Substring(authority.prefix { $0 != UInt8(ascii: ":") }))
    }
}

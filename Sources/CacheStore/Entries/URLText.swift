internal import ByteText

/// Parses and normalises URLs as text, by RFC 3986 §3. Foundation's `URL` takes longer than a whole lookup.
enum URLText {
    /// Returns the normalised URL: equal for all URLs with the same key.
    static func normalized(_ url: String) throws(StoreError) -> String {
        var url = url
        // `withUTF8` rethrows, and would lose the type of the error.
        let result = url.withUTF8 { bytes in
            Result { () throws(Malformed) in try normalized(bytes) }
        }
        return try result.mapError { StoreError.invalidKey(withoutCredentials(url), reason: $0.reason) }.get()
    }

    /// Returns a URL without its user and password, for messages. The text may be no URL.
    static func withoutCredentials(_ url: String) -> String {
        guard let start = url.firstRange(of: "//")?.upperBound else { return url }
        let authority = url[start...].prefix { !"/?#".contains($0) }
        // Find the last `@`: no part of a password with an `@` may reach a message.
        guard let end = authority.lastIndex(of: "@") else { return url }
        return String(url[..<start] + url[url.index(after: end)...])
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
        let authorityEnd = bytes[authorityStart...].firstIndex(where: \.endsAuthority) ?? bytes.endIndex
        let authority = try Authority(bytes[authorityStart..<authorityEnd])
        let end = bytes[authorityEnd...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        var encodedCount = 0
        for byte in bytes[authorityEnd..<end] {
            guard byte > 0x20, byte != 0x7F else {
                throw Malformed(reason: "it contains a space or a control character")
            }
            if byte.isPercentEncoded { encodedCount += 1 }
        }

        let text = String(unsafeUninitializedCapacity: bytes.count + 1 + 2 * encodedCount) { buffer in
            var result = Output(buffer)
            for byte in bytes[..<colon] { result.append(byte.asciiLowercased) }
            for byte in "://".utf8 { result.append(byte) }
            for byte in authority.host { result.append(byte.asciiLowercased) }
            if let port = authority.port, port != defaultPort(ofScheme: bytes[..<colon]) {
                result.append(UInt8(ascii: ":"))
                for byte in String(port).utf8 { result.append(byte) }
            }
            // RFC 3986 §6.2.3: "a URI that uses the generic syntax for authority with an empty path should be
            // normalized to a path of "/"."
            if authorityEnd == end || bytes[authorityEnd] != UInt8(ascii: "/") { result.append(UInt8(ascii: "/")) }
            for byte in bytes[authorityEnd..<end] {
                if byte.isPercentEncoded { result.appendEncoded(byte) } else { result.append(byte) }
            }
            return result.count
        }
        guard text.utf8.count <= CacheKey.maxByteCount else {
            throw Malformed(reason: "it has more than \(CacheKey.maxByteCount) bytes")
        }
        return text
    }

    /// Writes the bytes of a normalised URL. The buffer has enough room.
    private struct Output {
        private let buffer: UnsafeMutableBufferPointer<UInt8>
        private(set) var count = 0

        init(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
            self.buffer = buffer
        }

        mutating func append(_ byte: UInt8) {
            buffer[count] = byte
            count += 1
        }

        mutating func appendEncoded(_ byte: UInt8) {
            let (percent, high, low) = PercentEncoding.triplet(byte)
            append(percent)
            append(high)
            append(low)
        }
    }

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
                throw Malformed(
                    reason: "it has no host, or one with characters that no host has; beyond ASCII, write xn--…")
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

    /// Whether these are a host by RFC 3986 §3.2.2: a registered name, an IPv4 address, or an IPv6 address in brackets.
    private static func isHost(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard host.first == UInt8(ascii: "[") else { return !host.isEmpty && host.allSatisfy(\.isInRegisteredName) }
        let address = host.dropFirst().dropLast()
        return host.last == UInt8(ascii: "]") && !address.isEmpty && address.allSatisfy(\.isInAddress)
    }

    private static func isScheme(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard let first = bytes.first, first.isASCIILetter else { return false }
        return bytes.allSatisfy(\.isInScheme)
    }

    private static func defaultPort(ofScheme scheme: Slice<UnsafeBufferPointer<UInt8>>) -> UInt16? {
        if scheme.elementsEqual("http".utf8, by: { $0.asciiLowercased == $1 }) { return 80 }
        if scheme.elementsEqual("https".utf8, by: { $0.asciiLowercased == $1 }) { return 443 }
        return nil
    }

    /// Returns the host of a normalised URL, without its port, or `nil` for any other text.
    static func host(ofNormalized url: String) -> String? {
        var url = url
        return url.withUTF8 { bytes in
            guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8),
                !bytes[..<colon].contains(UInt8(ascii: "="))
            else { return nil }
            let authority = bytes[(colon + 3)...].prefix { $0 != UInt8(ascii: "/") }
            if authority.first == UInt8(ascii: "["), let closing = authority.firstIndex(of: UInt8(ascii: "]")) {
                return String(decoding: authority[...closing], as: UTF8.self)
            }
            return String(decoding: authority.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
        }
    }
}

/// The characters of a URL by RFC 3986.
extension UInt8 {
    private var isLetterOrDigit: Bool { isASCIILetter || isASCIIDigit }

    /// §3.1
    fileprivate var isInScheme: Bool {
        switch self {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: isLetterOrDigit
        }
    }

    /// §3.2: a slash, a question mark or a number sign.
    fileprivate var endsAuthority: Bool {
        switch self {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): true
        default: false
        }
    }

    /// §3.2.2: one of `-._~!$&'()*+,;=%`, a letter or a digit.
    fileprivate var isInRegisteredName: Bool {
        switch self {
        case 0x2D, 0x2E, 0x5F, 0x7E, 0x21, 0x24, 0x25...0x2C, 0x3B, 0x3D: true
        default: isLetterOrDigit
        }
    }

    /// §3.2.2: an IPv6 address, perhaps with a zone.
    fileprivate var isInAddress: Bool {
        switch self {
        case UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "-"): true
        default: isLetterOrDigit
        }
    }

    /// §2 does not allow these characters in a URL: one of ``"<>\^`{|}``, or beyond ASCII. Foundation and browsers
    /// percent-encode them.
    fileprivate var isPercentEncoded: Bool {
        switch self {
        case 0x22, 0x3C, 0x3E, 0x5C, 0x5E, 0x60, 0x7B, 0x7C, 0x7D: true
        default: self > 0x7F
        }
    }
}

internal import ByteText

/// The media type in `Content-Type` (RFC 9110 §8.3.1).
package struct MediaType: Hashable, Sendable {
    /// The type in lower case, such as `text` of `text/html`.
    package let type: String
    /// The subtype in lower case, such as `html` of `text/html`.
    package let subtype: String
    /// The value of the first `charset`, if any: unquoted, in its original case.
    package let charset: String?

    /// Parses the value of a field. Malformed parameters count as absent; the type remains valid. Returns `nil` without
    /// a value, and for a value that does not begin with one type, such as a list.
    package init?(_ text: String?) {
        guard let text else { return nil }
        var copy = text
        let parts = copy.withUTF8 { bytes in Self.parts(bytes.trimmed) }
        guard let parts else { return nil }
        (type, subtype, charset) = parts
    }

    private static func parts(_ bytes: FieldBytes) -> (type: String, subtype: String, charset: String?)? {
        var scanner = FieldScanner(bytes)
        let type = scanner.token()
        guard !type.isEmpty, scanner.skip(UInt8(ascii: "/")) else { return nil }
        let subtype = scanner.token()
        scanner.skipWhitespace()
        guard !subtype.isEmpty, scanner.next == nil || scanner.next == UInt8(ascii: ";") else { return nil }
        return (lowercased(type), lowercased(subtype), charset(&scanner))
    }

    private static func charset(_ scanner: inout FieldScanner) -> String? {
        while scanner.skip(UInt8(ascii: ";")) {
            scanner.skipWhitespace()
            let name = scanner.token()
            if !name.isEmpty, scanner.skip(UInt8(ascii: "=")) {
                let value = scanner.quotedString().map(unescaped) ?? String(decoding: scanner.token(), as: UTF8.self)
                if name.isCaseInsensitively("charset"), !value.isEmpty { return value }
            }
            while let byte = scanner.next, byte != UInt8(ascii: ";") { scanner.advance() }
        }
        return nil
    }

    /// RFC 9110 §5.6.4: a quoted-pair stands for the byte after the backslash.
    private static func unescaped(_ bytes: FieldBytes) -> String {
        var plain: [UInt8] = []
        var isEscaped = false
        for byte in bytes {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
            } else {
                plain.append(byte)
                isEscaped = false
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    private static func lowercased(_ bytes: FieldBytes) -> String {
        String(decoding: bytes.lazy.map(\.asciiLowercased), as: UTF8.self)
    }
}

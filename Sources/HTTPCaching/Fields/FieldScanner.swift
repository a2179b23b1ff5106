/// The bytes of a field value, or a part of them. They need not be UTF-8.
typealias FieldBytes = UnsafeBufferPointer<UInt8>

/// Reads a field value by the grammar of RFC 9110 §5.6.
///
/// It reads each byte once or twice, allocates nothing and never passes the end, whatever the bytes are. It and what it
/// returns live as long as the buffer: inside `withUnsafeBytesOfValue`.
struct FieldScanner {
    private let bytes: FieldBytes
    private var position = 0

    init(_ bytes: FieldBytes) {
        self.bytes = bytes
    }

    /// The byte to be read next; `nil` at the end.
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Steps over the next byte.
    mutating func advance() {
        if position < bytes.count { position += 1 }
    }

    /// Steps over `byte` if it comes next.
    mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    mutating func skipWhitespace() {
        while let byte = next, byte.isFieldWhitespace { position += 1 }
    }

    /// Goes to the next list element; `false` if there is none.
    ///
    /// RFC 9110 §5.6.1.2: a recipient must parse and ignore a reasonable number of empty list elements.
    mutating func skipToElement() -> Bool {
        while let byte = next {
            guard byte == UInt8(ascii: ",") || byte.isFieldWhitespace else { return true }
            position += 1
        }
        return false
    }

    /// Whether nothing but whitespace comes before the next comma or the end.
    mutating func isAtEndOfElement() -> Bool {
        skipWhitespace()
        return next == nil || next == UInt8(ascii: ",")
    }

    /// The token that comes next; empty when another byte does.
    mutating func token() -> FieldBytes {
        let start = position
        while let byte = next, byte.isTokenByte { position += 1 }
        return FieldBytes(rebasing: bytes[start..<position])
    }

    /// The digits that come next; `nil` when another byte does.
    mutating func digits() -> FieldBytes? {
        let start = position
        while let byte = next, byte.isASCIIDigit { position += 1 }
        return position == start ? nil : FieldBytes(rebasing: bytes[start..<position])
    }

    /// What stands between the quotes of the quoted-string that comes next, its quoted-pairs still in place.
    ///
    /// - Returns: `nil` when the closing quote is missing; then only the opening one has been read.
    mutating func quotedString() -> FieldBytes? {
        guard skip(UInt8(ascii: "\"")) else { return nil }
        var end = position
        while end < bytes.count {
            switch bytes[end] {
            case UInt8(ascii: "\""):
                defer { position = end + 1 }
                return FieldBytes(rebasing: bytes[position..<end])
            case UInt8(ascii: "\\"):
                end += 2
            default:
                end += 1
            }
        }
        return nil
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the bytes are the ASCII text `name`, in any case.
    func isCaseInsensitively(_ name: StaticString) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        for index in indices where self[index].asciiLowercased != name.utf8Start[index].asciiLowercased { return false }
        return true
    }

    /// The bytes without spaces and tabs at either end.
    var trimmed: FieldBytes {
        var range = indices
        while let first = range.first, self[first].isFieldWhitespace { range.removeFirst() }
        while let last = range.last, self[last].isFieldWhitespace { range.removeLast() }
        return FieldBytes(rebasing: self[range])
    }

    /// The tokens of a comma-separated list, in lower case; `nil` if it has elements that are no tokens.
    var lowercasedTokens: [String]? {
        var scanner = FieldScanner(self)
        var tokens: [String] = []
        while scanner.skipToElement() {
            let token = scanner.token()
            guard !token.isEmpty, scanner.isAtEndOfElement() else { return nil }
            tokens.append(String(decoding: token.lazy.map(\.asciiLowercased), as: UTF8.self))
        }
        return tokens
    }
}

extension UInt8 {
    /// RFC 9110 §5.6.3: `OWS = *( SP / HTAB )`.
    var isFieldWhitespace: Bool { self == 0x20 || self == 0x09 }

    var isASCIIDigit: Bool { (0x30...0x39).contains(self) }

    /// The letter in lower case; other bytes as they are. Knows no locale.
    var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }

    /// RFC 9110 §5.6.2: `tchar`.
    var isTokenByte: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}

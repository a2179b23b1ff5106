internal import ByteText

/// The bytes of a field value or of a part of it, not necessarily UTF-8.
package typealias FieldBytes = UnsafeBufferPointer<UInt8>

/// Reads a field value by the grammar of RFC 9110 §5.6. Reads each byte once or twice, allocates nothing and never
/// passes the end, for any input. The scanner and its results are valid only while the buffer is: inside
/// `withUnsafeBytesOfValue`.
///
/// The folder `Fields/` reads and writes fields: lists, dates, numbers, directives, URI references and structured
/// fields. The folder may use the bytes of fields. The folder names no type of another folder, such as a policy or a
/// stored response.
struct FieldScanner {
    private let bytes: FieldBytes
    private var position = 0

    init(_ bytes: FieldBytes) {
        self.bytes = bytes
    }

    /// The next byte, or `nil` at the end.
    var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    mutating func advance() {
        if position < bytes.count { position += 1 }
    }

    /// Skips the next byte if it equals `byte`, and returns whether it did.
    mutating func skip(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    mutating func skipWhitespace() {
        while let byte = next, byte.isFieldWhitespace { position += 1 }
    }

    /// Returns `false` at the end. RFC 9110 §5.6.1.2: a recipient must parse and ignore a reasonable number of empty
    /// list elements.
    mutating func skipToElement() -> Bool {
        while let byte = next {
            guard byte == UInt8(ascii: ",") || byte.isFieldWhitespace else { return true }
            position += 1
        }
        return false
    }

    /// Reads the rest as a list. Returns `nil` when `read` refuses an element or does not consume all of it.
    mutating func list<Element>(_ read: (_ scanner: inout FieldScanner) -> Element?) -> [Element]? {
        var elements: [Element] = []
        while skipToElement() {
            guard let element = read(&self), isAtEndOfElement() else { return nil }
            elements.append(element)
        }
        return elements
    }

    /// Skips whitespace and returns whether a comma or the end follows.
    mutating func isAtEndOfElement() -> Bool {
        skipWhitespace()
        return next == nil || next == UInt8(ascii: ",")
    }

    /// Reads the next token. Returns an empty token if the next byte belongs to no token.
    mutating func token() -> FieldBytes {
        let start = position
        while let byte = next, byte.isTokenByte { position += 1 }
        return FieldBytes(rebasing: bytes[start..<position])
    }

    /// Reads the next digits, or returns `nil` without digits.
    mutating func digits() -> FieldBytes? {
        let start = position
        while let byte = next, byte.isASCIIDigit { position += 1 }
        return position == start ? nil : FieldBytes(rebasing: bytes[start..<position])
    }

    /// Reads the next quoted-string and returns its content without unescaping quoted-pairs. Returns `nil` without a
    /// closing quote; the scanner is then after the opening quote.
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
    /// Whether the bytes equal the ASCII text `name`, ignoring case.
    func isCaseInsensitively(_ name: StaticString) -> Bool {
        guard count == name.utf8CodeUnitCount else { return false }
        for index in indices where self[index].asciiLowercased != name.utf8Start[index].asciiLowercased { return false }
        return true
    }

    /// The bytes without leading and trailing spaces and tabs.
    package var trimmed: FieldBytes {
        var range = indices
        while let first = range.first, self[first].isFieldWhitespace { range.removeFirst() }
        while let last = range.last, self[last].isFieldWhitespace { range.removeLast() }
        return FieldBytes(rebasing: self[range])
    }

    /// The tokens of a comma-separated list in lower case, or `nil` for a list with other elements.
    var lowercasedTokens: [String]? {
        var scanner = FieldScanner(self)
        return scanner.list { scanner in
            let token = scanner.token()
            return token.isEmpty ? nil : String(decoding: token.lazy.map(\.asciiLowercased), as: UTF8.self)
        }
    }
}

extension UInt8 {
    /// RFC 9110 §5.6.3: `OWS = *( SP / HTAB )`.
    var isFieldWhitespace: Bool { self == 0x20 || self == 0x09 }

    /// RFC 9110 §5.6.2: `tchar`.
    var isTokenByte: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23, 0x24, 0x25, 0x26, 0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}

/// Removes insignificant whitespace from JSON (RFC 8259 §2), and changes nothing else.
///
/// Numbers, escapes, and the order and repetition of names stay as they are. Text that is not JSON has no compact form:
/// without this check, different texts could become equal, such as `1 2` and `12`.
struct CompactJSON {
    /// The deepest nesting; JSON that is nested deeper counts as malformed.
    private static let maxDepth = 512

    private enum Expected { case value, valueOrEnd, name, nameOrEnd, colon, commaOrEnd }

    private var rest: ArraySlice<UInt8>
    private var compact: [UInt8] = []
    private var expected = Expected.value
    /// The closing brackets of the open arrays and objects, the innermost last.
    private var closing: [UInt8] = []

    /// Returns the JSON without insignificant whitespace; `nil` if the text is not JSON. Takes one pass.
    static func bytes(of text: some Collection<UInt8>) -> [UInt8]? {
        var json = CompactJSON(text)
        return json.read() ? json.compact : nil
    }

    private init(_ text: some Collection<UInt8>) {
        rest = Array(text)[...]
        compact.reserveCapacity(rest.count)
    }

    private mutating func read() -> Bool {
        while let byte = rest.first {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): rest = rest.dropFirst()
            default: guard readToken(byte) else { return false }
            }
        }
        return expected == .commaOrEnd && closing.isEmpty
    }

    private mutating func readToken(_ byte: UInt8) -> Bool {
        switch (byte, expected) {
        case (UInt8(ascii: "{"), .value), (UInt8(ascii: "{"), .valueOrEnd):
            return open(UInt8(ascii: "}"), .nameOrEnd)
        case (UInt8(ascii: "["), .value), (UInt8(ascii: "["), .valueOrEnd):
            return open(UInt8(ascii: "]"), .valueOrEnd)
        case (UInt8(ascii: "}"), .nameOrEnd), (UInt8(ascii: "]"), .valueOrEnd),
            (UInt8(ascii: "}"), .commaOrEnd), (UInt8(ascii: "]"), .commaOrEnd):
            guard closing.popLast() == byte else { return false }
            take(1)
            expected = .commaOrEnd
            return true
        case (UInt8(ascii: ","), .commaOrEnd):
            guard let end = closing.last else { return false }
            take(1)
            expected = end == UInt8(ascii: "}") ? .name : .value
            return true
        case (UInt8(ascii: ":"), .colon):
            take(1)
            expected = .value
            return true
        case (UInt8(ascii: "\""), .name), (UInt8(ascii: "\""), .nameOrEnd):
            expected = .colon
            return takeString()
        case (_, .value), (_, .valueOrEnd):
            expected = .commaOrEnd
            return byte == UInt8(ascii: "\"") ? takeString() : takeLiteral() || takeNumber()
        default:
            return false
        }
    }

    private mutating func open(_ end: UInt8, _ next: Expected) -> Bool {
        guard closing.count < Self.maxDepth else { return false }
        closing.append(end)
        take(1)
        expected = next
        return true
    }

    private mutating func take(_ count: Int) {
        compact.append(contentsOf: rest.prefix(count))
        rest = rest.dropFirst(count)
    }

    /// RFC 8259 §7
    private mutating func takeString() -> Bool {
        var index = rest.startIndex + 1
        while index < rest.endIndex {
            switch rest[index] {
            case UInt8(ascii: "\""):
                take(index + 1 - rest.startIndex)
                return true
            case UInt8(ascii: "\\"):
                guard index + 1 < rest.endIndex else { return false }
                switch rest[index + 1] {
                case UInt8(ascii: "u"):
                    let digits = rest[(index + 2)...].prefix(4)
                    guard digits.count == 4, digits.allSatisfy(\.isHexDigit) else { return false }
                    index += 6
                case let escape where "\"\\/bfnrt".utf8.contains(escape): index += 2
                default: return false
                }
            case 0..<0x20: return false
            default: index += 1
            }
        }
        return false
    }

    private mutating func takeLiteral() -> Bool {
        for literal in ["true", "false", "null"] where rest.starts(with: literal.utf8) {
            take(literal.utf8.count)
            return true
        }
        return false
    }

    /// RFC 8259 §6: `[ minus ] int [ frac ] [ exp ]`
    private mutating func takeNumber() -> Bool {
        var index = rest.startIndex
        func digits(_ index: inout Int) -> Bool {
            let start = index
            while index < rest.endIndex, rest[index].isDigit { index += 1 }
            return index > start
        }
        func skip(_ characters: String, _ index: inout Int) -> Bool {
            guard index < rest.endIndex, characters.utf8.contains(rest[index]) else { return false }
            index += 1
            return true
        }
        _ = skip("-", &index)
        // No leading zeros.
        if !skip("0", &index) { guard digits(&index) else { return false } }
        if skip(".", &index) { guard digits(&index) else { return false } }
        if skip("eE", &index) {
            _ = skip("+-", &index)
            guard digits(&index) else { return false }
        }
        take(index - rest.startIndex)
        return true
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    fileprivate var isHexDigit: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }
}

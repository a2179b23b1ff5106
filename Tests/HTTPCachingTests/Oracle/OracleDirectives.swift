/// The oracle's parser of `Cache-Control`. It is slow, follows the grammar of RFC 9111 §5.2, and shares no code with
/// the tested parser.
struct OracleDirectives {
    /// The argument of a directive.
    enum Argument: Hashable {
        case none
        case text(String)
        /// A directive in a malformed element.
        case unreadable
    }

    /// The argument of a numeric directive.
    enum Seconds: Hashable {
        case absent
        case unreadable
        case number(Int64)
    }

    /// All directives, in order, their names in lower case.
    private(set) var members: [(name: String, argument: Argument)] = []
    /// Whether every element is `token [ "=" ( token / quoted-string ) ]`.
    private(set) var isWellFormed = true
    /// Whether field names contain quoted-pairs. RFC 9111 §5.2.2.4 lets a cache ignore such names.
    private(set) var hasEscapedNames = false

    init(_ lines: [String]) {
        for line in lines { read(Array(line.utf8)) }
    }

    /// Whether the directive occurs, well-formed or not.
    func mentions(_ name: String) -> Bool { members.contains { $0.name == name } }

    /// Whether the directive occurs in a well-formed element.
    func states(_ name: String) -> Bool { members.contains { $0.name == name && $0.argument != .unreadable } }

    /// RFC 9111 §1.2.2, and §4.2.1: the first of two counts.
    func seconds(_ name: String) -> Seconds {
        guard let member = members.first(where: { $0.name == name }) else { return .absent }
        guard case .text(let text) = member.argument, !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) })
        else { return .unreadable }
        return .number(min(Int64(text) ?? .max, 2_147_483_648))
    }

    /// Whether the restriction covers the whole message, and not only fields named by its argument.
    func restrictsAll(_ name: String) -> Bool {
        members.contains { $0.name == name && Self.fieldNames($0.argument).isEmpty }
    }

    /// The fields, in lower case, that arguments of the restriction name.
    func fields(of name: String) -> [String] {
        members.filter { $0.name == name }.flatMap { Self.fieldNames($0.argument) }
    }

    private static func fieldNames(_ argument: Argument) -> [String] {
        guard case .text(let text) = argument else { return [] }
        let names = text.split(separator: ",").map { trim(Array($0.utf8)) }.filter { !$0.isEmpty }
        return names.allSatisfy { $0.allSatisfy(isTokenByte) } ? names.map(lowercased) : []
    }

    // MARK: Reading

    /// Splits a line at the commas outside quotes.
    private mutating func read(_ line: [UInt8]) {
        var element: [UInt8] = []
        var openQuote: Int?
        var isEscaped = false
        for byte in line {
            if openQuote != nil {
                if isEscaped {
                    isEscaped = false
                } else if byte == Self.backslash {
                    isEscaped = true
                } else if byte == Self.quote {
                    openQuote = nil
                }
            } else if byte == Self.comma {
                add(element)
                element = []
                continue
            } else if byte == Self.quote {
                openQuote = element.count
            }
            element.append(byte)
        }
        guard let openQuote else { return add(element) }
        // After an unclosed quote the meaning is unknown, so every word counts.
        isWellFormed = false
        addWords(Self.unquoted(Array(element[..<openQuote])))
        addWords(Array(element[openQuote...]))
    }

    private mutating func add(_ element: [UInt8]) {
        let element = Self.trim(element)
        guard !element.isEmpty else { return }
        let name = element.prefix(while: Self.isTokenByte)
        let rest = element.dropFirst(name.count)
        if !name.isEmpty, rest.isEmpty {
            members.append((Self.lowercased(Array(name)), .none))
        } else if !name.isEmpty, rest.first == UInt8(ascii: "="), let text = Self.text(Array(rest.dropFirst())) {
            members.append((Self.lowercased(Array(name)), .text(text)))
            if members.last?.name == "no-cache", rest.contains(Self.backslash) { hasEscapedNames = true }
        } else {
            isWellFormed = false
            addWords(Self.unquoted(element))
        }
    }

    /// The content of a token or a quoted-string, or `nil`.
    private static func text(_ argument: [UInt8]) -> String? {
        if !argument.isEmpty, argument.allSatisfy(isTokenByte) { return String(decoding: argument, as: UTF8.self) }
        guard argument.count >= 2, argument.first == quote else { return nil }
        var text: [UInt8] = []
        var position = 1
        while position < argument.count, argument[position] != quote {
            if argument[position] == backslash { position += 1 }
            if position < argument.count { text.append(argument[position]) }
            position += 1
        }
        return position == argument.count - 1 ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Adds the words, except arguments after "=".
    private mutating func addWords(_ bytes: [UInt8]) {
        for word in bytes.split(whereSeparator: { !Self.isTokenByte($0) }) {
            if word.startIndex > 0, bytes[word.startIndex - 1] == UInt8(ascii: "=") { continue }
            members.append((Self.lowercased(Array(word)), .unreadable))
        }
    }

    /// The bytes, with a space in place of each quoted-string.
    private static func unquoted(_ bytes: [UInt8]) -> [UInt8] {
        var rest: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for byte in bytes {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == backslash {
                isEscaped = true
            } else if byte == quote {
                isQuoted.toggle()
                rest.append(32)
            } else if !isQuoted {
                rest.append(byte)
            }
        }
        return rest
    }

    // MARK: Bytes

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
    private static let comma = UInt8(ascii: ",")

    private static let isToken: [Bool] = (0...255).map { byte in
        let others = Array("!#$%&'*+-.^_`|~".utf8)
        return (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
            || others.contains(UInt8(byte))
    }

    static func isTokenByte(_ byte: UInt8) -> Bool { isToken[Int(byte)] }

    /// The bytes without spaces and tabs around them.
    static func trim(_ bytes: [UInt8]) -> [UInt8] {
        let start = bytes.drop { $0 == 32 || $0 == 9 }
        return Array(start.reversed().drop { $0 == 32 || $0 == 9 }.reversed())
    }

    static func lowercased(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}

/// Assembles the heads of a response from their lines, as they arrive: first the interim ones, then the final one.
/// Pure. Lenient where RFC 9112 is: a line may end in LF alone, a folded line continues the value before it (§5.2), and
/// whitespace before a colon is removed (§5.1). Values keep their bytes.
struct ResponseHeadReader: Sendable {
    /// The meaning of a line.
    enum Event {
        /// The head is not complete, or the line is a trailer field, which is dropped (RFC 9110 §6.5.1).
        case none
        /// The line completes an interim response (RFC 9110 §15.2).
        case interim(HTTPResponse)
        /// The line completes the head of the final response.
        case final(HTTPResponse)
    }

    private(set) var byteCount = 0
    /// The length of the body that the final head declares, without a transfer coding.
    private(set) var contentLength: Int64?
    /// Whether the framing of the response is ambiguous, so that no other response may follow on its connection.
    private(set) var mustClose = false
    /// Whether libcurl does not recognise the line with the length: a space stands before its colon.
    private(set) var hasHiddenLength = false

    /// The most fields of a head. HTTPFields traps at 65,535 fields.
    private static let maxFieldCount = 32_768

    private let maxByteCount: Int
    private var status: HTTPResponse.Status?
    private var fields: [(name: HTTPField.Name, value: [UInt8])] = []
    private var isComplete = false

    /// `maxByteCount` is the largest number of bytes of all heads and trailer fields of a response together.
    init(maxByteCount: Int) {
        self.maxByteCount = maxByteCount
    }

    /// Returns a reader for the response to the next attempt, with the same limit.
    func emptied() -> ResponseHeadReader { ResponseHeadReader(maxByteCount: maxByteCount) }

    /// Adds a line, with its end.
    mutating func append(_ line: UnsafeRawBufferPointer) throws(TransportError) -> Event {
        byteCount += line.count
        guard byteCount <= maxByteCount else {
            throw Self.malformed("its head has more than \(maxByteCount) bytes")
        }
        if isComplete { return .none }
        var line = line[...]
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard let status else {
            // RFC 9112 §2.2: empty lines before a start line are ignored.
            if !line.isEmpty { status = try Self.status(in: line) }
            return .none
        }
        guard let first = line.first else { return try finish(status) }
        if first.isHorizontalSpace {
            try unfold(line)
        } else {
            try addField(line)
        }
        return .none
    }

    private mutating func finish(_ status: HTTPResponse.Status) throws(TransportError) -> Event {
        defer {
            self.status = nil
            fields = []
        }
        if status.kind == .informational, status.code != 101 { return .interim(head(status)) }
        isComplete = true
        try readLength()
        return .final(head(status))
    }

    private func head(_ status: HTTPResponse.Status) -> HTTPResponse {
        var head = HTTPResponse(status: status)
        head.headerFields.reserveCapacity(fields.count)
        for field in fields { head.headerFields.append(HTTPField(name: field.name, value: field.value)) }
        return head
    }

    /// Reads the declared length of the body, and leaves one line of it.
    private mutating func readLength() throws(TransportError) {
        guard let place = fields.firstIndex(where: { $0.name == .contentLength }) else { return }
        let values = fields.filter { $0.name == .contentLength }.flatMap {
            $0.value.split(separator: UInt8(ascii: ","))
        }
        // RFC 9112 §6.3: a line without a number is an invalid length, and not an absent one.
        if values.isEmpty { throw Self.malformed("its Content-Length is not one number") }
        let hasTransferCoding = fields.contains { $0.name == .transferEncoding }
        var length: Int64?
        for value in values {
            let digits = value.trimmed
            // RFC 9112 §6.3: different lengths are an error, equal ones are one.
            guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int64(String(decoding: digits, as: UTF8.self)), length ?? number == number
            else { throw Self.malformed("its Content-Length is not one number") }
            length = number
        }
        let name = fields[place].name
        fields.removeAll { $0.name == .contentLength }
        guard let length, !hasTransferCoding else {
            // RFC 9112 §6.1, §6.3: the transfer coding overrides the length, which may be an attempt at smuggling.
            mustClose = true
            return
        }
        fields.insert((name, Array("\(length)".utf8)), at: place)
        contentLength = length
    }

    private mutating func addField(_ line: Slice<UnsafeRawBufferPointer>) throws(TransportError) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw Self.malformed("a line of its head has no colon")
        }
        let name = line[..<colon].trimmed
        guard name.startIndex == line.startIndex, let parsed = HTTPField.Name(String(decoding: name, as: UTF8.self))
        else {
            throw Self.malformed("a line of its head has no valid name")
        }
        // libcurl does not recognise such a line, so it would read the body with another framing.
        if parsed == .transferEncoding, name.endIndex != colon {
            throw Self.malformed("its Transfer-Encoding has a space before the colon")
        }
        if parsed == .contentLength, name.endIndex != colon { hasHiddenLength = true }
        guard fields.count < Self.maxFieldCount else {
            throw Self.malformed("its head has more than \(Self.maxFieldCount) fields")
        }
        fields.append((parsed, Array(line[line.index(after: colon)...].trimmed)))
    }

    private mutating func unfold(_ line: Slice<UnsafeRawBufferPointer>) throws(TransportError) {
        // RFC 9112 §2.2: whitespace between the start line and the first field is ignored.
        guard let last = fields.indices.last else { return }
        guard fields[last].name != .transferEncoding, fields[last].name != .contentLength else {
            throw Self.malformed("a field that frames its body is folded")
        }
        let rest = line.trimmed
        if !rest.isEmpty { fields[last].value += (fields[last].value.isEmpty ? [] : [UInt8(ascii: " ")]) + rest }
    }

    /// Parses a status line, such as `HTTP/1.1 200 OK` or `HTTP/2 200`.
    private static func status(in line: Slice<UnsafeRawBufferPointer>) throws(TransportError) -> HTTPResponse.Status {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].starts(with: "HTTP/".utf8), parts[1].count == 3,
            let code = Int(String(decoding: parts[1], as: UTF8.self)), code >= 100
        else { throw malformed("its status line is not one of HTTP") }
        let reason = parts.count == 3 ? String(decoding: parts[2].trimmed, as: UTF8.self) : ""
        return HTTPResponse.Status(code: code, reasonPhrase: reason)
    }

    private static func malformed(_ reason: String) -> TransportError {
        TransportError(.malformedResponse, message: "the response is not valid HTTP: \(reason)")
    }
}

extension UInt8 {
    fileprivate var isHorizontalSpace: Bool { self == 0x20 || self == 0x09 }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without the whitespace around them.
    fileprivate var trimmed: SubSequence {
        var part = self[...]
        while part.first?.isHorizontalSpace == true { part = part.dropFirst() }
        while part.last?.isHorizontalSpace == true { part = part.dropLast() }
        return part
    }
}

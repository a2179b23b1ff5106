package import HTTPTypes

/// The `Content-Range` of a response (RFC 9110 §14.4): in a 206 what it holds, in a 416 how much there is.
package struct ContentRange: Hashable, Sendable {
    /// The bytes that come with the response; `nil` for none, as in a 416.
    package let range: ByteRange?
    /// The length of the whole representation; `nil` when it was not known. Without a range it is always there.
    package let completeLength: Int64?

    /// What a 206 with this part says.
    package init(_ part: StoredPart) {
        range = part.range
        completeLength = part.completeLength
    }

    private init(range: ByteRange?, completeLength: Int64?) {
        self.range = range
        self.completeLength = completeLength
    }

    /// What a 416 says about a representation of this length.
    package static func unsatisfied(completeLength: Int64) -> ContentRange {
        ContentRange(range: nil, completeLength: max(0, completeLength))
    }

    /// The part that a 206 holds.
    package var part: StoredPart? { range.flatMap { StoredPart(range: $0, completeLength: completeLength) } }

    /// As a response writes it: `bytes 0-99/1234`, `bytes 0-99/*` or `bytes */1234`.
    package var fieldValue: String {
        let range = range.map { "\($0.first)-\($0.last)" } ?? "*"
        let length = completeLength.map(String.init) ?? "*"
        return "bytes \(range)/\(length)"
    }
}

extension ContentRange: CustomStringConvertible {
    package var description: String { fieldValue }
}

extension ContentRange {
    /// The `Content-Range` of a response; `nil` when there is none that is valid.
    ///
    /// §14.4: of one that is invalid "the recipient […] MUST NOT attempt to recombine the received content with a stored
    /// representation". What is nearly right is not mended: bytes in the wrong place are wrong bytes.
    package init?(_ fields: HTTPFields) {
        var value: HTTPField?
        for field in fields where field.name == .contentRange {
            guard value == nil else { return nil }
            value = field
        }
        guard let value, let parsed = value.withUnsafeBytesOfValue({ Self.parsed($0.trimmed) }) else { return nil }
        self = parsed
    }

    /// Reads `range-unit SP ( first-pos "-" last-pos "/" ( complete-length / "*" ) / "*/" complete-length )`.
    private static func parsed(_ bytes: FieldBytes) -> ContentRange? {
        var scanner = FieldScanner(bytes)
        guard scanner.token().isCaseInsensitively("bytes"), scanner.skip(UInt8(ascii: " ")) else { return nil }
        if scanner.skip(UInt8(ascii: "*")) {
            guard scanner.skip(UInt8(ascii: "/")), let length = scanner.digits()?.decimalNumber, scanner.next == nil
            else {
                return nil
            }
            return ContentRange(range: nil, completeLength: length)
        }
        // The end of a range that holds the largest offset is no offset any more.
        guard let first = scanner.digits()?.decimalNumber, scanner.skip(UInt8(ascii: "-")),
            let last = scanner.digits()?.decimalNumber, scanner.skip(UInt8(ascii: "/")),
            let range = ByteRange(first: first, end: last.saturatingAdding(1)), range.last == last
        else { return nil }
        if scanner.skip(UInt8(ascii: "*")) {
            return scanner.next == nil ? ContentRange(range: range, completeLength: nil) : nil
        }
        // "invalid if […] last-pos value less than its first-pos value, or a complete-length value less than or equal to its
        // last-pos value".
        guard let length = scanner.digits()?.decimalNumber, scanner.next == nil else { return nil }
        return StoredPart(range: range, completeLength: length).map { ContentRange($0) }
    }
}

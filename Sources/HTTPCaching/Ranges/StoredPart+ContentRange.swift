package import HTTPTypes

/// The `Content-Range` of a response (RFC 9110 §14.4): the range in a 206, the complete length in a 416.
package struct ContentRange: Hashable, Sendable {
    /// The bytes in the response; `nil` if there are none, as in a 416.
    package let range: ByteRange?
    /// The length of the whole representation; `nil` when unknown, but never without a range.
    package let completeLength: Int64?

    /// Creates the value for a 206 with this part.
    package init(_ part: StoredPart) {
        range = part.range
        completeLength = part.completeLength
    }

    private init(range: ByteRange?, completeLength: Int64?) {
        self.range = range
        self.completeLength = completeLength
    }

    /// Returns the value for a 416 about a representation of this length.
    package static func unsatisfied(completeLength: Int64) -> ContentRange {
        ContentRange(range: nil, completeLength: max(0, completeLength))
    }

    /// The part that a 206 contains.
    package var part: StoredPart? { range.flatMap { StoredPart(range: $0, completeLength: completeLength) } }

    /// The value in a response, such as `bytes 0-99/1234`, `bytes 0-99/*` or `bytes */1234`.
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
    /// Reads the `Content-Range` of a response; `nil` when there is no valid one.
    ///
    /// §14.4: with an invalid field, "the recipient […] MUST NOT attempt to recombine the received content with a
    /// stored representation". Does not repair a nearly valid value: bytes in the wrong place are wrong bytes.
    package init?(_ fields: HTTPFields) {
        guard let value = fields.onlyLine(.contentRange),
            let parsed = value.withUnsafeBytesOfValue({ Self.parsed($0.trimmed) })
        else { return nil }
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
        // A range that ends with the largest offset cannot be represented: its end would overflow.
        guard let first = scanner.digits()?.decimalNumber, scanner.skip(UInt8(ascii: "-")),
            let last = scanner.digits()?.decimalNumber, scanner.skip(UInt8(ascii: "/")),
            let range = ByteRange(first: first, end: last.saturatingAdding(1)), range.last == last
        else { return nil }
        if scanner.skip(UInt8(ascii: "*")) {
            return scanner.next == nil ? ContentRange(range: range, completeLength: nil) : nil
        }
        // "invalid if […] last-pos value less than its first-pos value, or a complete-length value less than or equal
        // to its last-pos value".
        guard let length = scanner.digits()?.decimalNumber, scanner.next == nil else { return nil }
        return StoredPart(range: range, completeLength: length).map { ContentRange($0) }
    }
}

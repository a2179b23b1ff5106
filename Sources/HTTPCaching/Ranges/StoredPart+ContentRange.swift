extension StoredPart {
    /// Reads the `Content-Range` of a 206 (RFC 9110 §14.4). Returns `nil` without a valid field. §14.4: with an invalid
    /// field, "the recipient […] MUST NOT attempt to recombine the received content with a stored representation". Does
    /// not repair a nearly valid value, because misplaced bytes would corrupt the representation.
    package init?(contentRange fields: HTTPFields) {
        guard let value = fields.onlyLine(.contentRange),
            let part = value.withUnsafeBytesOfValue({ Self.part($0.trimmed) })
        else { return nil }
        self = part
    }

    /// Reads `range-unit SP first-pos "-" last-pos "/" ( complete-length / "*" )`.
    private static func part(_ bytes: FieldBytes) -> StoredPart? {
        var scanner = FieldScanner(bytes)
        // Refuses a range that ends with the largest offset, because its end would overflow.
        guard scanner.token().isCaseInsensitively("bytes"), scanner.skip(UInt8(ascii: " ")),
            let first = scanner.digits()?.decimalNumber, scanner.skip(UInt8(ascii: "-")),
            let last = scanner.digits()?.decimalNumber, scanner.skip(UInt8(ascii: "/")),
            first <= last, last < .max
        else { return nil }
        var completeLength: Int64?
        if !scanner.skip(UInt8(ascii: "*")) {
            guard let length = scanner.digits()?.decimalNumber else { return nil }
            completeLength = length
        }
        // "invalid if […] last-pos value less than its first-pos value, or a complete-length value less than or equal
        // to its last-pos value".
        return scanner.next == nil ? StoredPart(bytes: first..<(last + 1), completeLength: completeLength) : nil
    }

    /// The `Content-Range` of a 206 with this part, such as `bytes 0-99/1234` or `bytes 0-99/*`.
    package var contentRange: String {
        "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(completeLength.map(String.init) ?? "*")"
    }
}

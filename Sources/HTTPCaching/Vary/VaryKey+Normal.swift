extension VaryKey {
    /// The text, with each value of a known syntax in the normal form that all values with the same meaning share. Two
    /// requests have equal texts if ``matches(_:fingerprint:nominatesAuthorization:)`` takes them for the same.
    package var normalText: String {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { Self.normalLine(Array($0)) }.joined(separator: "\n")
    }

    private static func normalLine(_ line: [UInt8]) -> String {
        // An absent field has no colon, and a value that is not UTF-8 no space after it.
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), line[(colon + 1)...].first == UInt8(ascii: " ") else {
            return String(decoding: line, as: UTF8.self)
        }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        let normal = line[(colon + 2)...].withUnsafeBufferPointer { bytes in
            ListSyntax(fieldName: name).flatMap { NormalizedValue(bytes, $0) }
        }
        return normal.map { "\(name): \($0.text)" } ?? String(decoding: line, as: UTF8.self)
    }
}

extension NormalizedValue {
    /// The elements, sorted if their order has no meaning.
    fileprivate var text: String {
        switch self {
        case .set(let ranges):
            ranges.map { "\(String(decoding: $0.range, as: UTF8.self));q=\($0.weight)" }.sorted().joined(separator: ",")
        case .list(let elements):
            elements.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",")
        }
    }
}

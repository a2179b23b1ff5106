// RFC 9110 §5.5: a field value is a sequence of bytes, in any superset of US-ASCII. `HTTPField.value` repairs bytes
// that are not UTF-8, so different values can have equal texts. Compare, join and send the bytes. Use the text only for
// display.
extension HTTPField {
    /// The value without whitespace at either end.
    package var trimmedBytes: [UInt8] { withUnsafeBytesOfValue { Array($0.trimmed) } }

    /// The value for people and for SQL, as UTF-8, or else as ISO 8859-1, the historic encoding by RFC 9110 §5.5.
    package var text: String { withUnsafeBytesOfValue { $0.fieldText } }
}

extension HTTPFields {
    /// Returns the only line of a field that is no list, or `nil` for several lines.
    func onlyLine(_ name: HTTPField.Name) -> HTTPField? {
        var lines = lazy.filter { $0.name == name }.makeIterator()
        guard let line = lines.next(), lines.next() == nil else { return nil }
        return line
    }

    /// The bytes of the first line of a field, without whitespace at either end.
    func firstBytes(of name: HTTPField.Name) -> [UInt8]? { first { $0.name == name }?.trimmedBytes }

    /// The text of all lines of a field, for people and for SQL.
    package func text(of name: HTTPField.Name) -> String? {
        let texts = self[fields: name].map(\.text)
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }
}

extension Collection<UInt8> {
    /// The text of these bytes of a field value: UTF-8, or else ISO 8859-1.
    var fieldText: String {
        String(validating: self, as: UTF8.self) ?? latin1Text
    }

    /// The text of these bytes in ISO 8859-1: one character for each byte.
    var latin1Text: String {
        var scalars = String.UnicodeScalarView()
        for byte in self { scalars.append(Unicode.Scalar(byte)) }
        return String(scalars)
    }

    /// Whether the bytes contain U+FFFD, which may replace any other bytes of the origin. Transports with string
    /// values, among them `URLSession`, repair values that are not UTF-8. Two repaired entity tags can be equal
    /// although the origin's tags differ, so a repaired tag must match nothing.
    var isRepaired: Bool {
        var matched = 0
        for byte in self {
            switch (matched, byte) {
            case (_, 0xEF): matched = 1
            case (1, 0xBF): matched = 2
            case (2, 0xBD): return true
            default: matched = 0
            }
        }
        return false
    }
}

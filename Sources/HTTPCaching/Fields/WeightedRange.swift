internal import ByteText

/// An element of a field with a request's preferences, such as `Accept-Language` (RFC 9110 §12.5). Contains a range of
/// languages, codings, charsets or media types, and its weight.
struct WeightedRange: Hashable {
    /// The range in lower case, except for the values of parameters.
    let range: [UInt8]
    /// The qvalue in thousandths, 1000 without a stated weight (RFC 9110 §12.4.2).
    let weight: Int

    /// Parses the elements of a list. Returns `nil` for an element that violates the grammar.
    static func list(_ bytes: FieldBytes, isMediaRange: Bool) -> [WeightedRange]? {
        var scanner = FieldScanner(bytes)
        return scanner.list { WeightedRange(&$0, isMediaRange: isMediaRange) }
    }

    private init?(_ scanner: inout FieldScanner, isMediaRange: Bool) {
        let name = scanner.token()
        guard !name.isEmpty else { return nil }
        var range = name.map(\.asciiLowercased)
        if isMediaRange {
            guard scanner.skip(UInt8(ascii: "/")) else { return nil }
            let subtype = scanner.token()
            guard !subtype.isEmpty else { return nil }
            range += Array("/".utf8) + subtype.map(\.asciiLowercased)
        }
        var weight: Int?
        while !scanner.isAtEndOfElement() {
            // The weight comes last (§12.5.1): parameters after it would be ambiguous.
            guard weight == nil, scanner.skip(UInt8(ascii: ";")) else { return nil }
            scanner.skipWhitespace()
            let parameter = scanner.token()
            guard !parameter.isEmpty, scanner.skip(UInt8(ascii: "=")) else { return nil }
            if parameter.isCaseInsensitively("q") {
                guard let value = Self.weight(scanner.token()) else { return nil }
                weight = value
            } else {
                guard isMediaRange, let value = Self.value(&scanner) else { return nil }
                range += Array(";".utf8) + parameter.map(\.asciiLowercased) + Array("=".utf8) + value
            }
        }
        self.range = range
        self.weight = weight ?? 1000
    }

    /// Reads the value of a parameter in its original case, because only some parameters are case-insensitive.
    private static func value(_ scanner: inout FieldScanner) -> [UInt8]? {
        let quote = UInt8(ascii: "\"")
        if scanner.next == quote { return scanner.quotedString().map { [quote] + Array($0) + [quote] } }
        let token = scanner.token()
        return token.isEmpty ? nil : Array(token)
    }

    /// RFC 9110 §12.4.2: `qvalue = ( "0" [ "." 0*3DIGIT ] ) / ( "1" [ "." 0*3("0") ] )`.
    private static func weight(_ bytes: FieldBytes) -> Int? {
        guard let first = bytes.first, first == UInt8(ascii: "0") || first == UInt8(ascii: "1"), bytes.count <= 5,
            bytes.count == 1 || bytes[1] == UInt8(ascii: ".")
        else { return nil }
        var weight = Int(first - UInt8(ascii: "0"))
        for index in 2..<5 {
            weight *= 10
            guard index < bytes.count else { continue }
            guard bytes[index].isASCIIDigit else { return nil }
            weight += Int(bytes[index] - UInt8(ascii: "0"))
        }
        return weight <= 1000 ? weight : nil
    }
}

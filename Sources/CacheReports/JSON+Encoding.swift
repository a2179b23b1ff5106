import Foundation

extension JSON {
    /// Encodes a value as the tool does: names in snake case, numbers exact.
    package init(encoding value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        // `<`, `>` and `&` occur in texts only.
        let escaped = try encoder.encode(value).flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "<"): Array("\\u003c".utf8)
            case UInt8(ascii: ">"): Array("\\u003e".utf8)
            case UInt8(ascii: "&"): Array("\\u0026".utf8)
            default: [byte]
            }
        }
        self = .encoded(escaped)
    }
}

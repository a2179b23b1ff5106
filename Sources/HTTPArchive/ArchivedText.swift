internal import CacheFoundation

/// The bytes of a body and the text that an archive keeps of it.
///
/// An archive has the characters of a text, without its encoding and without a byte order mark. The declared size tells
/// which of the possible encodings the body had.
enum ArchivedText {
    /// Returns the text of `data`, and the name of its encoding. Text without control characters stays readable.
    static func text(of data: Data) -> (text: String, encoding: String?) {
        let isReadable = data.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        let hasMark = data.starts(with: [0xEF, 0xBB, 0xBF])
        if isReadable, !hasMark, let text = String(validating: data, as: UTF8.self) { return (text, nil) }
        return (data.base64EncodedString(), "base64")
    }

    /// Returns the bytes of a text.
    ///
    /// - Parameters:
    ///   - encoding: "base64", or `nil` for text.
    ///   - size: The number of bytes, if it is known. Then it decides about the encoding of a text.
    static func bytes(_ text: String, encoding: String?, size: Int64?) throws(ArchiveError) -> Data {
        switch encoding?.lowercased() {
        case nil, "": break
        case "base64":
            guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
                throw ArchiveError(reason: "the body is not base64")
            }
            return data
        case let name?: throw ArchiveError(reason: "the encoding “\(name)” of the body is unknown")
        }
        let utf8 = Data(text.utf8)
        guard let size, size > 0, Int64(utf8.count) != size else { return utf8 }
        let marked = Data([0xEF, 0xBB, 0xBF]) + utf8
        let units = Array(text.utf16)
        let candidates = [marked, windows1252(text), utf16(units), utf16([0xFEFF] + units)].compactMap(\.self)
        return candidates.first { Int64($0.count) == size } ?? utf8
    }

    private static func utf16(_ units: [UInt16]) -> Data {
        Data(units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] })
    }

    /// Returns the bytes in windows-1252, the encoding that browsers use for ISO-8859-1, or `nil` for other characters.
    private static func windows1252(_ text: String) -> Data? {
        var data = Data(capacity: text.utf8.count)
        for scalar in text.unicodeScalars {
            if scalar.value < 0x80 || (0xA0...0xFF).contains(scalar.value) {
                data.append(UInt8(scalar.value))
            } else if let index = windows1252Block.firstIndex(of: scalar) {
                data.append(0x80 + UInt8(index))
            } else {
                return nil
            }
        }
        return data
    }

    /// The characters of the bytes 0x80 to 0x9F (https://encoding.spec.whatwg.org/#windows-1252).
    private static let windows1252Block = Array(
        "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ".unicodeScalars)
}

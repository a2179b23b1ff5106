internal import CacheFoundation

/// The bytes of a body and the text that an archive keeps of it. An archive has the characters of a text, without its
/// encoding and without a byte order mark. The declared size tells which of the possible encodings the body had.
enum ArchivedText {
    /// Returns the text of `data`, and the name of its encoding. Text without control characters stays readable.
    static func text(of data: Data) -> (text: String, encoding: String?) {
        let isReadable = data.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        let hasMark = data.starts(with: [0xEF, 0xBB, 0xBF])
        if isReadable, !hasMark, let text = String(validating: data, as: UTF8.self) { return (text, nil) }
        return (data.base64EncodedString(), "base64")
    }

    /// Returns the bytes of a text. `encoding` is "base64", or `nil` for text. `size` is the number of bytes, if known.
    /// Then it decides among the encodings that the media type `contentType` permits. Throws if the bytes cannot be
    /// those of the origin. Edited text in UTF-8 may have another size.
    static func bytes(
        _ text: String, encoding: String?, size: Int64?, contentType: String?
    ) throws(ArchiveError) -> Data {
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
        let charset = charset(of: contentType)
        let isUTF8 = ["", "utf-8", "utf8", "us-ascii"].contains(charset)
        let units = Array(text.utf16)
        var candidates = [utf8, Data([0xEF, 0xBB, 0xBF]) + utf8]
        switch charset {
        case "utf-16", "utf-16le": candidates = [utf16(units), utf16([0xFEFF] + units)]
        case "utf-16be": candidates = [utf16(units.map(\.byteSwapped)), utf16(([0xFEFF] + units).map(\.byteSwapped))]
        default: if let data = windows1252(text) { candidates.append(data) }
        }
        if let size, size >= 0, let match = candidates.first(where: { Int64($0.count) == size }) { return match }
        // Browsers replace bytes that are no text.
        if isUTF8, size ?? -1 < 0 || !text.unicodeScalars.contains("\u{FFFD}") { return utf8 }
        if utf8.count == units.count, !charset.hasPrefix("utf-16") { return utf8 }
        throw ArchiveError(reason: "the text of the body is not in an encoding of its size")
    }

    /// Returns the charset of a media type in lower case, or an empty text.
    private static func charset(of contentType: String?) -> String {
        guard let type = contentType?.lowercased(), let start = type.firstRange(of: "charset=")?.upperBound else {
            return ""
        }
        return type[start...].prefix { $0 != ";" }.filter { $0 != "\"" && $0 != " " }
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

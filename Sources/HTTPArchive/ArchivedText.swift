internal import CacheFoundation
internal import HTTPCaching

/// The bytes of a body and the text that an archive keeps of it. An archive has the characters of a text, without its
/// encoding and without a byte order mark. The declared size tells which of the possible encodings the body had.
enum ArchivedText {
    /// The byte order mark of UTF-8.
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the text of `data`, and the name of its encoding. Text without control characters stays readable.
    static func text(of data: Data) -> (text: String, encoding: String?) {
        let isReadable = data.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        let hasMark = data.starts(with: mark)
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
        let charset = Charset(label: charsetLabel(in: contentType))
        var candidates = [Array(utf8), mark + utf8]
        switch charset {
        case .utf16LittleEndian?, .utf16BigEndian?:
            candidates = ["", "\u{FEFF}"].compactMap { charset?.bytes(of: $0 + text) }
        default: if let bytes = Charset.windows1252.bytes(of: text) { candidates.append(bytes) }
        }
        if let size, size >= 0, let match = candidates.first(where: { Int64($0.count) == size }) { return Data(match) }
        // Browsers replace bytes that are no text.
        let isUTF8 = charset == .utf8 || charset == .ascii
        if isUTF8, size ?? -1 < 0 || !text.unicodeScalars.contains("\u{FFFD}") { return utf8 }
        let isUTF16 = charset == .utf16LittleEndian || charset == .utf16BigEndian
        if !isUTF16, Charset.ascii.bytes(of: text) != nil { return utf8 }
        throw ArchiveError(reason: "the text of the body is not in an encoding of its size")
    }

    /// Returns the label of the charset of a media type: "utf-8" for a type without one.
    private static func charsetLabel(in contentType: String?) -> String {
        if let type = MediaType(contentType) { return type.charset ?? "utf-8" }
        // A malformed type may still name its charset.
        guard let type = contentType?.lowercased(), let start = type.firstRange(of: "charset=")?.upperBound else {
            return "utf-8"
        }
        return type[start...].prefix { $0 != ";" }.filter { $0 != "\"" && $0 != " " }
    }
}

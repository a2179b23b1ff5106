internal import ByteText

/// The character encoding of a text, in the terms of the WHATWG Encoding Standard.
package enum Charset: String, Sendable, CaseIterable {
    case utf8 = "utf-8"
    case utf16LittleEndian = "utf-16le"
    case utf16BigEndian = "utf-16be"
    case windows1252 = "windows-1252"
    case ascii = "us-ascii"

    /// Returns `nil` for an unknown label. Two labels have the meaning that browsers give them, not that of their
    /// specifications (Encoding Standard §4.2). `iso-8859-1` is windows-1252, whose C1 range has printable characters.
    /// `utf-16` without a byte order mark is little-endian, although RFC 2781 §4.3 makes it big-endian. Ignores case.
    package init?(label: String) {
        switch String(decoding: label.utf8.map(\.asciiLowercased), as: UTF8.self) {
        case "utf-8", "utf8": self = .utf8
        case "utf-16", "utf-16le": self = .utf16LittleEndian
        case "utf-16be": self = .utf16BigEndian
        case "windows-1252", "cp1252", "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1": self = .windows1252
        // Browsers decode these labels as windows-1252, too. Here a byte outside ASCII is an error, because the label
        // is wrong.
        case "us-ascii", "ascii": self = .ascii
        default: return nil
        }
    }

    /// The charset of the byte order mark at the front, and the length of that mark (Encoding Standard §6).
    package static func marked(_ bytes: some Sequence<UInt8>) -> (Charset, length: Int)? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return (.utf8, 3) }
        if bytes.starts(with: [0xFE, 0xFF]) { return (.utf16BigEndian, 2) }
        if bytes.starts(with: [0xFF, 0xFE]) { return (.utf16LittleEndian, 2) }
        return nil
    }

    /// Returns `nil` when the bytes are not valid in the charset. Reads every byte once or twice, and copies the text.
    package func text(_ bytes: UnsafeRawBufferPointer) -> String? {
        switch self {
        case .utf8: String(validating: bytes, as: UTF8.self)
        case .ascii: bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
        case .windows1252: String(decoding: bytes.lazy.map(Self.unit), as: UTF16.self)
        case .utf16LittleEndian: Self.text(of: bytes) { low, high in UInt16(high) << 8 | UInt16(low) }
        case .utf16BigEndian: Self.text(of: bytes) { high, low in UInt16(high) << 8 | UInt16(low) }
        }
    }

    /// Returns the bytes of a text, or `nil` for a character that the charset lacks.
    package func bytes(of text: String) -> [UInt8]? {
        switch self {
        case .utf8: return Array(text.utf8)
        case .ascii: return text.utf8.allSatisfy { $0 < 0x80 } ? Array(text.utf8) : nil
        case .windows1252:
            let bytes = text.utf16.compactMap(Self.byte)
            return bytes.count == text.utf16.count ? bytes : nil
        case .utf16LittleEndian: return text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        case .utf16BigEndian: return text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        }
    }

    private static func text(of bytes: UnsafeRawBufferPointer, _ unit: (UInt8, UInt8) -> UInt16) -> String? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        return withoutActuallyEscaping(unit) { unit in
            let units = stride(from: 0, to: bytes.count, by: 2).lazy.map { unit(bytes[$0], bytes[$0 + 1]) }
            return String(validating: units, as: UTF16.self)
        }
    }

    /// Returns the code unit of a byte. Encoding Standard §9, index windows-1252: every byte has one.
    private static func unit(_ byte: UInt8) -> UInt16 {
        (0x80...0x9F).contains(byte) ? windows1252Controls[Int(byte - 0x80)] : UInt16(byte)
    }

    /// Returns the byte of a code unit, or `nil` without one.
    private static func byte(_ unit: UInt16) -> UInt8? {
        if unit < 0x80 || (0xA0...0xFF).contains(unit) { return UInt8(unit) }
        return windows1252Controls.firstIndex(of: unit).map { 0x80 + UInt8($0) }
    }

    private static let windows1252Controls: [UInt16] = [
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D,
        0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x009D, 0x017E, 0x0178,
    ]
}

/// The header of a file in a tar archive, as it was read.
struct TarHeader {
    let name: String
    let type: UInt8
    private let size: ArraySlice<UInt8>

    init(_ block: [UInt8], offset: Int64) throws(ArchiveError) {
        let magic = block[TarField.magic]
        let isPOSIX = magic.elementsEqual("ustar\u{0}00".utf8)
        guard isPOSIX || magic.elementsEqual("ustar  \u{0}".utf8),
            Self.octal(block[TarField.checksum]) == TarChecksum.sum(block)
        else { throw .damagedHeader(offset: offset) }
        let name = Self.text(block[TarField.name])
        // GNU tar has other things in the place of the prefix.
        let prefix = isPOSIX ? Self.text(block[TarField.prefix]) : ""
        self.name = prefix.isEmpty ? name : "\(prefix)/\(name)"
        type = block[TarField.type]
        size = block[TarField.size]
    }

    func byteCount() throws(ArchiveError) -> Int64 {
        guard let count = Self.octal(size) else { throw .invalidSize(name: name) }
        return count
    }

    /// Up to the first NUL.
    private static func text(_ field: ArraySlice<UInt8>) -> String {
        String(decoding: field.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// Digits, and around them spaces or NULs. `nil` for everything else, such as the binary numbers of GNU tar.
    private static func octal(_ field: ArraySlice<UInt8>) -> Int64? {
        let digits = field.drop { $0 == UInt8(ascii: " ") }.prefix {
            (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0)
        }
        guard !digits.isEmpty, field[digits.endIndex...].allSatisfy({ $0 == 0 || $0 == UInt8(ascii: " ") }) else {
            return nil
        }
        // Twelve digits at most.
        return digits.reduce(0) { $0 << 3 | Int64($1 - UInt8(ascii: "0")) }
    }
}

/// What the records of a `pax` header say of the file that follows them.
struct TarRecords {
    private(set) var name: String?
    private(set) var byteCount: Int64?

    init() {}

    /// - Parameter bytes: Each record is `length key=value\n`; the length counts all of the record.
    init(_ bytes: [UInt8], headerOffset: Int64) throws(ArchiveError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let digits = rest.prefix { $0 != UInt8(ascii: " ") }
            guard let length = Self.number(digits).flatMap({ Int(exactly: $0) }), length > digits.count + 2,
                length <= rest.count,
                rest[rest.startIndex + length - 1] == UInt8(ascii: "\n")
            else { throw .damagedHeader(offset: headerOffset) }
            let record = rest.prefix(length - 1).dropFirst(digits.count + 1)
            guard let equals = record.firstIndex(of: UInt8(ascii: "=")) else {
                throw .damagedHeader(offset: headerOffset)
            }
            try take(String(decoding: record[..<equals], as: UTF8.self), record[(equals + 1)...])
            rest = rest.dropFirst(length)
        }
    }

    private mutating func take(_ key: String, _ value: ArraySlice<UInt8>) throws(ArchiveError) {
        switch key {
        case "path":
            name = String(decoding: value, as: UTF8.self)
        case "size":
            guard let number = Self.number(value) else { throw .invalidSize(name: name ?? "") }
            byteCount = number
        case _ where key.hasPrefix("GNU.sparse."):
            // What follows would be no plain bytes.
            throw .unsupportedType(name: name ?? "", type: TarType.extended)
        default:
            // Times, owners and the like.
            break
        }
    }

    /// Decimal digits and nothing else.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }
}

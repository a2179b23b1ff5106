/// The bytes of a tar archive besides those of its files.
///
/// An archive is: for each file ``header(of:modifiedAt:)``, its bytes and ``TarEntry/paddingByteCount`` zeros; at last
/// ``end``. What comes out is `ustar`; only a file of 8 GiB or more needs a record in the way of `pax`.
package enum TarWriter {
    /// What ends an archive.
    package static let end = [UInt8](repeating: 0, count: 2 * TarEntry.blockByteCount)

    /// What comes before a file.
    ///
    /// - Parameter time: Seconds since 1970.
    package static func header(of entry: TarEntry, modifiedAt time: Int64) -> [UInt8] {
        guard entry.byteCount > TarEntry.maxOctal else { return block(entry, type: TarType.file, time) }
        let record = Array(self.record("size", "\(entry.byteCount)").utf8)
        let extended = TarEntry(name: "PaxHeaders/\(entry.name)", byteCount: Int64(record.count))
        return block(extended, type: TarType.extended, time)
            + record + [UInt8](repeating: 0, count: extended.paddingByteCount)
            // The record counts; what stands here must only be a number.
            + block(TarEntry(name: entry.name, byteCount: 0), type: TarType.file, time)
    }

    private static func block(_ entry: TarEntry, type: UInt8, _ time: Int64) -> [UInt8] {
        precondition(entry.name.utf8.count <= TarField.name.count, "the name is too long for a header")
        var block = [UInt8](repeating: 0, count: TarEntry.blockByteCount)
        block.put(entry.name.utf8, in: TarField.name)
        block.put(octal: 0o600, in: TarField.mode)
        block.put(octal: 0, in: TarField.owner)
        block.put(octal: 0, in: TarField.group)
        block.put(octal: entry.byteCount, in: TarField.size)
        block.put(octal: min(max(0, time), TarEntry.maxOctal), in: TarField.time)
        block[TarField.type] = type
        block.put("ustar\u{0}00".utf8, in: TarField.magic)
        // Six digits, NUL, space: the only field that ends so.
        let checksum = String(TarChecksum.sum(block), radix: 8)
        block.put((String(repeating: "0", count: 6 - checksum.count) + checksum + "\u{0} ").utf8, in: TarField.checksum)
        return block
    }

    /// `length key=value\n`, in which the length counts its own digits too.
    private static func record(_ key: String, _ value: String) -> String {
        let rest = " \(key)=\(value)\n"
        var length = rest.utf8.count
        while String(length).utf8.count + rest.utf8.count != length { length += 1 }
        return "\(length)\(rest)"
    }
}

/// The sum over the bytes of a header.
enum TarChecksum {
    /// The field itself counts as spaces.
    static func sum(_ block: [UInt8]) -> Int64 {
        let spaces = Int64(TarField.checksum.count) * Int64(UInt8(ascii: " "))
        return block.indices.reduce(spaces) { TarField.checksum.contains($1) ? $0 : $0 + Int64(block[$1]) }
    }
}

extension [UInt8] {
    fileprivate mutating func put(_ bytes: some Collection<UInt8>, in field: Range<Int>) {
        for (index, byte) in zip(field, bytes) { self[index] = byte }
    }

    /// As many digits as there is room for, then NUL.
    fileprivate mutating func put(octal number: Int64, in field: Range<Int>) {
        let digits = String(number, radix: 8)
        put((String(repeating: "0", count: field.count - 1 - digits.count) + digits).utf8, in: field)
    }
}

/// A file in a tar archive.
package struct TarEntry: Hashable {
    /// The name, with slashes; in an archive of unknown origin it may be anything.
    package let name: String
    /// The length of the file; as far as the archive says so.
    package let byteCount: Int64

    package init(name: String, byteCount: Int64) {
        self.name = name
        self.byteCount = byteCount
    }

    /// Bytes in a block: headers are one, files begin at one.
    static let blockByteCount = 512

    /// The largest number that eleven octal digits hold: 8 GiB less one.
    static let maxOctal: Int64 = 0o777_7777_7777

    /// Bytes between the end of the file and the next block.
    package var paddingByteCount: Int {
        (Self.blockByteCount - Int(byteCount % Int64(Self.blockByteCount))) % Self.blockByteCount
    }
}

/// Where the fields of a header are; the format `ustar` of
/// [POSIX pax](https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_06).
enum TarField {
    static let name = 0..<100
    static let mode = 100..<108
    static let owner = 108..<116
    static let group = 116..<124
    static let size = 124..<136
    static let time = 136..<148
    static let checksum = 148..<156
    static let type = 156
    /// Magic and version.
    static let magic = 257..<265
    static let prefix = 345..<500
}

/// What a name in an archive stands for.
enum TarType {
    static let file = UInt8(ascii: "0")
    /// Before `ustar`, a file.
    static let oldFile: UInt8 = 0
    /// Records that say more of the file that follows.
    static let extended = UInt8(ascii: "x")
}

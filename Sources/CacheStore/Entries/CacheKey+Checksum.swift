/// Checksums of a key, for places that do not need the key itself: 64 bits of FNV-1a
/// (http://www.isthe.com/chongo/tech/comp/fnv/), which is fast for short texts and the same in every process.
///
/// The checksum beside an entry shows whether the index led to the right row, which SQLite does not check. A damaged
/// page could otherwise answer one key with the response of another. The list of removals contains the checksum of a
/// removed key instead of the key.
struct KeyChecksum {
    /// The checksum of the partition alone.
    let partition: Int64
    /// The checksum of partition and key.
    let key: Int64

    init(_ key: CacheKey) {
        let partition = Self.hash(key.partition, from: 0xcbf2_9ce4_8422_2325)
        self.partition = Int64(bitPattern: partition)
        // A NUL separates partition and key: neither contains one.
        self.key = Int64(bitPattern: Self.hash(key.text, from: partition &* Self.prime))
    }

    init(partition: String) {
        self.partition = Int64(bitPattern: Self.hash(partition, from: 0xcbf2_9ce4_8422_2325))
        key = 0
    }

    private static let prime: UInt64 = 0x0000_0100_0000_01b3

    private static func hash(_ text: String, from start: UInt64) -> UInt64 {
        var text = text
        return text.withUTF8 { bytes in
            var hash = start
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* prime }
            return hash
        }
    }
}

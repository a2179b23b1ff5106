internal import ByteText

/// Checksums of a key, where the key itself is not needed. Each entry has the checksum of its key. It shows whether the
/// index led to the right row, which SQLite does not check: a damaged page could otherwise answer one key with the
/// response of another. The list of removals contains checksums instead of keys.
struct KeyChecksum {
    /// The checksum of the partition alone.
    let partition: Int64
    /// The checksum of partition and key.
    let key: Int64

    init(_ key: CacheKey) {
        // A cryptographic hash is not needed. A collision hides a damaged row, or lets a lock, a ghost count or a
        // removal affect one more key. While the index is sound, no collision answers a key with the response of
        // another.
        var hash = FNV1a()
        hash.update(key.partition)
        partition = Int64(bitPattern: hash.value)
        // A NUL separates partition and key: neither contains one.
        hash.update(0)
        hash.update(key.text)
        self.key = Int64(bitPattern: hash.value)
    }

    init(partition: String) {
        self.partition = Int64(bitPattern: FNV1a.hash(partition.utf8))
        key = 0
    }
}

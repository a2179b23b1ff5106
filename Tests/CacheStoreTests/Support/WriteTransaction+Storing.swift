internal import TestSupport

extension WriteTransaction {
    /// Inserts an entry, or replaces the one with the same key, kind, variant and part.
    func store(
        _ metadata: EntryMetadata, for key: CacheKey, options: EntryOptions = EntryOptions(), digest: ContentDigest?,
        byteCount: Int64, at now: Int64
    ) throws -> StoredEntry {
        try store(
            metadata, for: key, replacing: replacedEntry(metadata, key), options: options, digest: digest,
            byteCount: byteCount, at: now)
    }
}

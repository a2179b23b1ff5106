internal import Synchronization

/// The entries of a key at one time, and an object that a caller has derived from them.
package final class HotKey: Sendable {
    let key: CacheKey
    let entries: [StoredEntry]
    /// The checksum of the key.
    let checksum: Int64
    /// Guards the derived object.
    private let reading = Mutex<(any AnyObject & Sendable)?>(nil)

    init(_ key: CacheKey, _ entries: [StoredEntry], checksum: Int64) {
        self.key = key
        self.checksum = checksum
        self.entries = entries
    }

    /// Returns the object that `make` derives from the entries, once while the key is hot. All lookups share it.
    package func reading<Reading: AnyObject & Sendable>(_ make: ([StoredEntry]) -> Reading) -> Reading {
        if let reading = reading.withLock({ $0 }) as? Reading { return reading }
        // Call `make` without the mutex, because the caller's code may take long. Two callers may both make an object.
        let made = make(entries)
        reading.withLock { $0 = made }
        return made
    }
}

/// The state of a key in the index at one time. One read serves every decision about a request. A later decision can
/// use the snapshot again while ``ResponseStore/isCurrent(_:)`` is true. So a load whose response is not stored reads
/// the index only once: before it begins, and not again when it starts or has locked its key.
package struct KeySnapshot: Sendable {
    /// The key with every variant, part, content and error response, in no order.
    package let hot: HotKey
    /// For a key without entries, whether failed loads of the key are recorded; otherwise `nil`.
    package internal(set) var hasFailures: Bool?
    /// For a key without entries, the keys of the latest 64 entries that may answer URLs with another query
    /// (``EntryMetadata/searchBase``), the latest row first.
    package internal(set) var relatedKeys: [CacheKey] = []
    /// The generation. `nil` for a key without entries if no request to the origin could follow.
    package let generation: StoreGeneration?
    /// The version. While it is unknown, the snapshot is never current.
    var version: IndexVersion?

    /// Whether the key has nothing that a decision asks for.
    var isAbsent: Bool { entries.isEmpty && hasFailures == false && relatedKeys.isEmpty }

    package var key: CacheKey { hot.key }
    package var entries: [StoredEntry] { hot.entries }

    init(_ hot: HotKey, generation: StoreGeneration?, version: IndexVersion? = nil) {
        self.hot = hot
        self.generation = generation
        self.version = version
    }
}

extension ResponseStore {
    /// Returns everything stored for `key`. Does not count as an access. Runs on the calling thread, for some
    /// microseconds. `searchBase` is the prefix of the key's text that related keys have as their search base; not
    /// evaluated for a hot key. With `isForOrigin`, a request to the origin may follow: for a key without entries, also
    /// reads its failures and related keys.
    package func snapshot(
        of key: CacheKey, searchBase: @autoclosure () -> Substring? = nil, isForOrigin: Bool = true
    ) throws(StoreError) -> KeySnapshot {
        if let hot = hotKeys.find(key) { return hot }
        return try read { (connection) throws(StoreError) in
            // Read the version first: a later commit changes it.
            let header = connection.header
            let version = header?.version
            let searchBase = searchBase()
            var snapshot = try connection.snapshot(
                of: key, searchBase: searchBase, isForOrigin: isForOrigin,
                generation: version.flatMap { hotKeys.generation(in: $0) })
            snapshot.version = version
            hotKeys.insert(snapshot, from: header, isWhole: isForOrigin && searchBase != nil)
            return snapshot
        }
    }

    /// Whether the index has not changed since the snapshot. Runs on the calling thread, without a statement.
    package func isCurrent(_ snapshot: KeySnapshot) -> Bool {
        guard let version = snapshot.version else { return false }
        return hotKeys.version == version
    }
}

internal import Synchronization

/// The entries of a key at one time, and an object that a reader has made of them.
package final class HotKey: Sendable {
    package let key: CacheKey
    package let entries: [StoredEntry]
    /// The checksum of the key.
    let checksum: Int64
    /// Guards the object.
    private let reading = Mutex<(any AnyObject & Sendable)?>(nil)

    init(_ key: CacheKey, _ entries: [StoredEntry], checksum: Int64) {
        self.key = key
        self.checksum = checksum
        self.entries = entries
    }

    /// Returns the object that an earlier caller has made of the entries. Without one, makes it. While the key is hot, all
    /// lookups share it.
    package func reading<Reading: AnyObject & Sendable>(_ make: ([StoredEntry]) -> Reading) -> Reading {
        if let reading = reading.withLock({ $0 }) as? Reading { return reading }
        let made = make(entries)
        reading.withLock { $0 = made }
        return made
    }
}

/// The state of a key in the index at one time: one read serves every decision about a request.
///
/// A later decision uses it again if ``ResponseStore/isCurrent(_:)``. So a load whose response is not stored reads the index
/// once: before it begins, not again when its turn comes or when it has locked its key.
package struct KeySnapshot: Sendable {
    /// The key with each variant, content, part and error response, in no order.
    package let hot: HotKey
    /// Without entries: whether failed loads of the key are recorded. Otherwise `nil`.
    package internal(set) var hasFailures: Bool?
    /// Without entries: the keys of the latest 64 entries that may answer URLs with another query
    /// (``EntryMetadata/searchBase``), the latest row first.
    package internal(set) var relatedKeys: [CacheKey] = []
    /// `nil` for a key without entries if no request to the origin was to follow.
    package let generation: StoreGeneration?
    /// `nil` if SQLite does not tell: then the snapshot is never current.
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
    /// Returns everything stored for `key`. Does not count as an access. Runs on the calling thread, for some microseconds.
    ///
    /// - Parameters:
    ///   - searchBase: The beginning of the key's text that related keys have as their search base. Not asked for a hot key.
    ///   - isForOrigin: Whether a request to the origin may follow. A key without entries then has its failures and its
    ///     related keys read.
    package func snapshot(
        of key: CacheKey, searchBase: @autoclosure () -> Substring? = nil, isForOrigin: Bool = true
    ) throws(StoreError) -> KeySnapshot {
        if let hot = hotKeys.find(key) { return hot }
        return try read { (connection) throws(StoreError) in
            // First: a later commit makes the present version another one.
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

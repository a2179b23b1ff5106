/// The state of a key in the index at one time: one read serves every decision about a request.
///
/// A later decision uses it again if ``ResponseStore/isCurrent(_:)``. So a load whose response is not stored reads the index
/// once: before it begins, not again when its turn comes or when it has locked its key.
package struct KeySnapshot: Sendable {
    package let key: CacheKey
    /// Each variant, content, part and error response, in no order.
    package internal(set) var entries: [StoredEntry] = []
    /// Without entries: whether failed loads of the key are recorded. Otherwise `nil`.
    package internal(set) var hasFailures: Bool?
    /// Without entries: the keys of the latest 64 entries that may answer URLs with another query
    /// (``EntryMetadata/searchBase``), the latest row first.
    package internal(set) var relatedKeys: [CacheKey] = []
    package internal(set) var generation = StoreGeneration(number: 0)
    /// `nil` if SQLite does not tell: then the snapshot is never current.
    fileprivate(set) var version: IndexVersion?

    init(key: CacheKey) {
        self.key = key
    }
}

extension ResponseStore {
    /// Returns everything stored for `key`. Does not count as an access. Runs on the calling thread, for some microseconds.
    ///
    /// - Parameter searchBase: The beginning of the key's text that related keys have as their search base.
    package func snapshot(of key: CacheKey, searchBase: Substring?) throws(StoreError) -> KeySnapshot {
        try read { (connection) throws(StoreError) in
            // First: a later commit makes the present version another one.
            let version = connection.version
            var snapshot = try connection.snapshot(of: key, searchBase: searchBase)
            snapshot.version = version
            return snapshot
        }
    }

    /// Whether the index has not changed since the snapshot. Runs on the calling thread, without a statement.
    package func isCurrent(_ snapshot: KeySnapshot) -> Bool {
        guard let version = snapshot.version else { return false }
        let present = try? read { (connection) throws(StoreError) in connection.version }
        return present == version
    }
}

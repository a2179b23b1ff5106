internal import CPlatform
internal import CacheFoundation

/// Records the import of a `URLCache`. The record is an empty file in the directory of the store and not a row, so that
/// removing all entries does not bring the old responses back. A snapshot contains no such file.
extension ResponseStore {
    /// Whether all of `database` was imported into `partition` before.
    package func hasImported(_ database: URLCacheDatabase, into partition: String) throws(StoreError) -> Bool {
        try checkOpen()
        return try place.root.status(of: Self.recordName(database, partition)) != nil
    }

    /// Records that all of `database` was imported into `partition`.
    package func noteImported(_ database: URLCacheDatabase, into partition: String) throws(StoreError) {
        try checkWritable()
        _ = try place.root.open(Self.recordName(database, partition), O_CREAT | O_WRONLY)
        if configuration.isDurable { try place.root.sync() }
    }

    /// The inode stays when iOS moves the container of an app to another path, but the device number may change.
    private static func recordName(_ database: URLCacheDatabase, _ partition: String) -> String {
        let name = "urlcache-imported-" + String(database.identity.inode, radix: 36)
        guard !partition.isEmpty else { return name }
        return name + "-\(ContentDigest(of: Data(partition.utf8)))".prefix(17)
    }
}

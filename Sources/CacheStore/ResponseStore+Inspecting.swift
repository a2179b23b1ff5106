/// Reads information that only an inspector of the store needs.
extension ResponseStore {
    /// Returns the entry with this id, or `nil`. Does not count as an access.
    package func entry(id: Int64) throws(StoreError) -> StoredEntry? {
        try read { (connection) throws(StoreError) in
            guard let key = try connection.key(ofEntry: id) else { return nil }
            return try connection.entries(for: key).first { $0.id == id }
        }
    }

    /// Returns the keys of the entries in a selection, in the order in which the first of their bodies was stored.
    package func keys(in selection: EntrySelection, limit: Int) throws(StoreError) -> [CacheKey] {
        try readLong { (connection) throws(StoreError) in
            var keys: [CacheKey] = []
            var seen: Set<CacheKey> = []
            for id in try connection.ids(in: selection).sorted() {
                guard let key = try connection.key(ofEntry: id), seen.insert(key).inserted else { continue }
                keys.append(key)
                if keys.count == limit { break }
            }
            return keys
        }
    }

    /// Returns the ids of the entries in a selection, in ascending order.
    package func entryIDs(in selection: EntrySelection) throws(StoreError) -> [Int64] {
        try readLong { (connection) throws(StoreError) in try connection.ids(in: selection).sorted() }
    }

    /// Returns the entries and bytes of each host, media type and age, the largest first. Reads every entry.
    package func byteGroups() throws(StoreError) -> [ByteGroup] {
        let now = now
        return try readLong { (connection) throws(StoreError) in try connection.byteGroups(now: now) }
    }

    /// The processes that wrote to the store and have not closed it. Killed ones count until the next only opener.
    package func writerCount() throws(StoreError) -> Int64 {
        try read { (connection) throws(StoreError) in
            try connection.prepared("SELECT writer_count FROM state").integer()
        }
    }
}

/// The entries of one host, media type and age.
package struct ByteGroup: Hashable, Sendable {
    package let host: String
    /// In lower case and without parameters. Empty without a media type.
    package let contentType: String
    /// The time since the last access: `hour`, `day`, `week`, `month` or `older`.
    package let age: String
    package let entries: Int64
    package let bytes: Int64
}

extension Connection {
    /// Reads the tables instead of the view, whose formatting would take ten times as long.
    fileprivate func byteGroups(now: Int64) throws(StoreError) -> [ByteGroup] {
        let statement = try prepare(
            """
            SELECT
                host,
                coalesce(lower(trim(substr(content_type, 1, instr(content_type || ';', ';') - 1))), ''),
                CASE
                    WHEN coalesce(accessed_at, created_at) > ?1 - 3600000 THEN 'hour'
                    WHEN coalesce(accessed_at, created_at) > ?1 - 86400000 THEN 'day'
                    WHEN coalesce(accessed_at, created_at) > ?1 - 604800000 THEN 'week'
                    WHEN coalesce(accessed_at, created_at) > ?1 - 2592000000 THEN 'month'
                    ELSE 'older'
                END,
                count(*), CAST(total(byte_count) AS INTEGER) AS bytes
            FROM entry LEFT JOIN access ON entry_id = id
            WHERE session IS NULL OR session = (SELECT session FROM state)
            GROUP BY 1, 2, 3
            ORDER BY bytes DESC, 1, 2, 3
            """)
        statement.bind(now, at: 1)
        var groups: [ByteGroup] = []
        while try statement.step() {
            groups.append(
                ByteGroup(
                    host: statement.text(0), contentType: statement.text(1), age: statement.text(2),
                    entries: statement.int64(3), bytes: statement.int64(4)))
        }
        return groups
    }
}

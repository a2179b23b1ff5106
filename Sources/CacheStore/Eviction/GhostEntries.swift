/// The ghost entries: access counts of evicted entries, which a later entry with the same key inherits. Without them, a
/// returning entry counts as new, and a popular entry that is slightly too large never stays. Only the value-aware
/// policy has ghost entries, of 8 bytes for the key and a count. Evicting an unused entry writes no row. The row stays
/// when the entry returns, and the next eviction of the entry adds to it.
extension WriteTransaction {
    /// The most ghost entries that one eviction deletes. Bounds how long the write lock is held.
    static let maxDeletedGhosts: Int64 = 1024

    /// Adds the accesses of an entry to its ghost entry, just before the eviction. Returns whether that inserted a row.
    /// Session entries get no ghost entry, because nothing of them outlives the session.
    func rememberUses(of entry: Int64) throws(StoreError) -> Bool {
        let query = try connection.prepared(
            """
            SELECT key_checksum, min(hit_count, 1 << 20) FROM access JOIN entry ON entry.id = access.entry_id
            WHERE access.entry_id = ?1 AND hit_count > 0 AND session IS NULL
            """)
        query.bind(entry, at: 1)
        defer { query.reset() }
        guard try query.step() else { return false }
        // The bounds keep a damaged count from overflowing. `entry_value` counts no more than 2^20 accesses either.
        let update = try connection.prepared(
            "UPDATE ghost SET hit_count = min(max(hit_count, 0), 1 << 20) + ?2 WHERE key_checksum = ?1")
        update.bind(query.int64(0), at: 1)
        update.bind(query.int64(1), at: 2)
        try update.run()
        guard connection.changes == 0 else { return false }
        let insertion = try connection.prepared("INSERT INTO ghost VALUES (?1, ?2)")
        insertion.bind(query.int64(0), at: 1)
        insertion.bind(query.int64(1), at: 2)
        try insertion.run()
        return true
    }

    /// Counts added ghost entries, and deletes as many as exceed the number of entries.
    func boundGhosts(added: Int64) throws(StoreError) {
        let query = try connection.prepared("SELECT ghost_count, entry_count, ghost_position FROM total")
        defer { query.reset() }
        guard try query.step() else { return }
        var (count, position) = (max(0, query.int64(0)) &+ added, query.int64(2))
        let excess = count.saturatingSubtracting(max(0, query.int64(1)))
        guard added > 0 || excess > 0 else { return }
        if excess > 0 {
            // Continue where the previous deletion ended, in the order of the checksums, which is as good as random and
            // needs no additional index.
            var left = min(excess, Self.maxDeletedGhosts)
            left -= try deleteGhosts(after: &position, limit: left)
            if left > 0 {
                // Continue at the lowest checksum.
                position = .min
                left -= try deleteGhosts(after: &position, limit: left)
            }
            // If rows to delete are left over, the table is empty, and the count was wrong.
            count = left > 0 ? 0 : count - min(excess, Self.maxDeletedGhosts)
        }
        let update = try connection.prepared("UPDATE total SET ghost_count = ?1, ghost_position = ?2")
        update.bind(count, at: 1)
        update.bind(position, at: 2)
        try update.run()
    }

    /// Deletes up to `limit` ghost entries after a position, and moves the position to the last deleted one.
    private func deleteGhosts(after position: inout Int64, limit: Int64) throws(StoreError) -> Int64 {
        let query = try connection.prepared(
            "SELECT key_checksum FROM ghost WHERE key_checksum > ?1 ORDER BY key_checksum LIMIT ?2")
        query.bind(position, at: 1)
        query.bind(limit, at: 2)
        let checksums = try query.integers()
        guard let last = checksums.last else { return 0 }
        let deletion = try connection.prepared("DELETE FROM ghost WHERE key_checksum > ?1 AND key_checksum <= ?2")
        deletion.bind(position, at: 1)
        deletion.bind(last, at: 2)
        try deletion.run()
        position = last
        return Int64(checksums.count)
    }
}

extension Connection {
    /// Deletes the ghost entry of a key, or all of them for `nil`. Returns whether a row was deleted; otherwise writes
    /// nothing.
    @discardableResult
    func forgetUses(of key: CacheKey?) throws(StoreError) -> Bool {
        let deletion: Statement
        if let key {
            deletion = try prepared("DELETE FROM ghost WHERE key_checksum = ?1")
            deletion.bind(KeyChecksum(key).key, at: 1)
        } else {
            // Without WHERE, SQLite frees the pages of the table, some 300 rows each, without reading the rows.
            deletion = try prepared("DELETE FROM ghost")
        }
        try deletion.run()
        let count = changes
        guard count > 0 else { return false }
        let update = try prepared("UPDATE total SET ghost_count = max(0, ghost_count - ?1)")
        update.bind(Int64(count), at: 1)
        try update.run()
        return true
    }
}

/// Which entries an eviction takes first.
extension Connection {
    /// Entries removed in one transaction; bounds how long the write lock is held.
    static let evictionBite = 256

    /// Removes up to ``evictionBite`` entries, as long as their bodies have more than `maxBytes` in all.
    ///
    /// What has expired goes first, the longest expired before the others; then what was used least recently. The bodies
    /// are deleted in a later transaction.
    package func evictBite(maxBytes: Int64, now: Int64) throws(SQLiteError) -> (report: EvictionReport, isDone: Bool) {
        var report = EvictionReport()
        let before = try referencedBytes()
        guard before > maxBytes else { return (report, true) }
        var after = before
        var victims = try expired(by: now).makeIterator()
        var areExpired = true
        while after > maxBytes, report.entries < Self.evictionBite {
            guard let victim = victims.next() else {
                guard areExpired else { break }
                areExpired = false
                victims = try leastRecentlyUsed().makeIterator()
                continue
            }
            if try removeEntry(id: victim) {
                report.entries += 1
                after = try referencedBytes()
            }
        }
        // Sums that somebody has edited must not trap.
        report.bytes = max(0, before &- after)
        return (report, after <= maxBytes || report.entries == 0)
    }

    /// Cuts up to 1024 empty pages off the file of the index; whether there are more.
    package func releasePages() throws(SQLiteError) -> Bool {
        try prepared("PRAGMA incremental_vacuum(1024)").run()
        let statement = try prepared("PRAGMA freelist_count")
        defer { statement.reset() }
        return try statement.step() && statement.int64(0) > 0
    }

    /// The bytes of bodies that some entry needs.
    private func referencedBytes() throws(SQLiteError) -> Int64 {
        let statement = try prepared("SELECT physical_bytes - unreferenced_bytes FROM total")
        defer { statement.reset() }
        guard try statement.step() else { throw error(0, sql: statement.sql) }
        return statement.int64(0)
    }

    private func expired(by now: Int64) throws(SQLiteError) -> [Int64] {
        let statement = try prepared("SELECT id FROM entry WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2")
        statement.bind(now, at: 1)
        statement.bind(Int64(Self.evictionBite), at: 2)
        return try ids(of: statement)
    }

    private func leastRecentlyUsed() throws(SQLiteError) -> [Int64] {
        let statement = try prepared("SELECT entry_id FROM access ORDER BY accessed_at LIMIT ?1")
        statement.bind(Int64(Self.evictionBite), at: 1)
        return try ids(of: statement)
    }

    private func ids(of statement: Statement) throws(SQLiteError) -> [Int64] {
        defer { statement.reset() }
        var ids: [Int64] = []
        while try statement.step() { ids.append(statement.int64(0)) }
        return ids
    }
}

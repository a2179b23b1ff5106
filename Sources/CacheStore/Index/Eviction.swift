/// Which entries an eviction takes, and which of them first.
extension Connection {
    /// Entries removed in one transaction; bounds how long the write lock is held.
    static let evictionBite = 256

    /// Removes up to ``evictionBite`` entries that `rule` wants gone. Their bodies are deleted in a later transaction.
    package func evictBite(
        _ rule: EvictionRule, now: Int64
    ) throws(SQLiteError) -> (report: EvictionReport, isDone: Bool) {
        let before = try sizes()
        let entries: Int
        switch rule {
        case .maxBytes(let limit):
            entries = try evict(now: now) { $0.referencedBytes > limit }
        case .maxEntries(let limit):
            entries = try evict(now: now) { $0.entries > limit }
        case .unusedFor(let age):
            entries = try remove(ids(unusedSince: now.saturatingSubtracting(age.milliseconds)))
        case .olderThan(let age):
            entries = try remove(ids(storedBefore: now.saturatingSubtracting(age.milliseconds)))
        }
        // Sums that somebody has edited must not trap.
        let bytes = max(0, before.referencedBytes &- (try sizes().referencedBytes))
        return (EvictionReport(entries: entries, bytes: bytes), entries < Self.evictionBite)
    }

    /// Removes entries while there is too much of something: those that have expired, the longest expired before the
    /// others, then those that were used least recently.
    private func evict(
        now: Int64, while isTooMuch: (Sizes) -> Bool
    ) throws(SQLiteError) -> Int {
        var count = 0
        for id in try ids(expiredBy: now) {
            guard isTooMuch(try sizes()) else { return count }
            if try removeEntry(id: id) { count += 1 }
        }
        guard count < Self.evictionBite, isTooMuch(try sizes()) else { return count }
        for id in try idsByLastUse() {
            guard count < Self.evictionBite, isTooMuch(try sizes()) else { return count }
            if try removeEntry(id: id) { count += 1 }
        }
        return count
    }

    private func remove(_ ids: [Int64]) throws(SQLiteError) -> Int {
        var count = 0
        for id in ids where try removeEntry(id: id) { count += 1 }
        return count
    }

    // MARK: Sizes

    private struct Sizes {
        let entries: Int64
        /// The bytes of bodies that some entry needs.
        let referencedBytes: Int64
    }

    private func sizes() throws(SQLiteError) -> Sizes {
        let statement = try prepared("SELECT entry_count, physical_bytes - unreferenced_bytes FROM total")
        defer { statement.reset() }
        guard try statement.step() else { throw error(0, sql: statement.sql) }
        return Sizes(entries: statement.int64(0), referencedBytes: statement.int64(1))
    }

    // MARK: Candidates, at most a bite

    private func ids(expiredBy now: Int64) throws(SQLiteError) -> [Int64] {
        try ids(prepared("SELECT id FROM entry WHERE expires_at <= ?2 ORDER BY expires_at LIMIT ?1"), now)
    }

    private func idsByLastUse() throws(SQLiteError) -> [Int64] {
        try ids(prepared("SELECT entry_id FROM access ORDER BY accessed_at LIMIT ?1"), nil)
    }

    private func ids(unusedSince time: Int64) throws(SQLiteError) -> [Int64] {
        try ids(prepared("SELECT entry_id FROM access WHERE accessed_at < ?2 ORDER BY accessed_at LIMIT ?1"), time)
    }

    private func ids(storedBefore time: Int64) throws(SQLiteError) -> [Int64] {
        try ids(prepared("SELECT id FROM entry WHERE created_at < ?2 ORDER BY created_at LIMIT ?1"), time)
    }

    private func ids(_ statement: Statement, _ time: Int64?) throws(SQLiteError) -> [Int64] {
        defer { statement.reset() }
        statement.bind(Int64(Self.evictionBite), at: 1)
        if let time { statement.bind(time, at: 2) }
        var ids: [Int64] = []
        while try statement.step() { ids.append(statement.int64(0)) }
        return ids
    }

    // MARK: Pages

    /// Cuts up to 1024 empty pages off the file of the index; whether there are more.
    package func releasePages() throws(SQLiteError) -> Bool {
        try prepared("PRAGMA incremental_vacuum(1024)").run()
        let statement = try prepared("PRAGMA freelist_count")
        defer { statement.reset() }
        return try statement.step() && statement.int64(0) > 0
    }
}

extension Int64 {
    fileprivate func saturatingSubtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }
}

/// Writes the rows of `access` and `request`: accesses of entries, and requests by host.
extension WriteTransaction {
    /// The most hosts whose requests are counted. Above it, the least recently requested hosts lose their counts.
    static let maxHosts: Int64 = 10_000

    /// Writes up to `limit` pending accesses, and requests of as many hosts.
    func writeAccesses(limit: Int = .max) throws(StoreError) {
        guard let batch = accessLog?.take(limit: limit) else { return }
        writtenAccesses.add(batch)
        try write(batch)
    }

    /// Writes accesses, the sum of hits, and requests by host.
    package func write(_ batch: AccessLog.Batch) throws(StoreError) {
        guard !batch.isEmpty else { return }
        let raisesPriorities = try connection.evictionPolicy() == .valueAware
        var requests = batch.requests
        var (answers, latest) = (Int64(0), batch.requestedAt)
        // Write in the order of the table, so that its pages change one after the other.
        for (entry, access) in batch.accesses.sorted(by: { $0.key < $1.key }) {
            try write(access, entry)
            if raisesPriorities { try raisePriority(of: entry) }
            answers &+= access.counts.answers
            latest = max(latest, access.accessedAt)
            if let host = try host(of: access, entry) { requests[host, default: RequestCounts()] += access.counts }
        }
        if answers > 0 { try addHits(answers) }
        var isHostNew = false
        for (host, counts) in requests where try add(counts, host: host, at: latest) { isHostNew = true }
        if isHostNew { try forgetOldestHosts() }
    }

    /// Writes the pending access of an entry. Returns whether one was pending.
    func writePendingAccess(of entry: Int64) throws(StoreError) -> Bool {
        guard let access = accessLog?.take(entry) else { return false }
        var batch = AccessLog.Batch()
        batch.accesses[entry] = access
        writtenAccesses.add(batch)
        try write(batch)
        return true
    }

    private func write(_ access: AccessLog.Access, _ entry: Int64) throws(StoreError) {
        let update = try connection.prepared(
            """
            UPDATE OR ROLLBACK access SET
                recency = CASE WHEN recency > ?2 THEN recency ELSE ?2 END,
                accessed_at = CASE WHEN accessed_at > ?3 THEN accessed_at ELSE ?3 END,
                hit_count = CASE WHEN hit_count < 9223372036854775807 - ?4 THEN hit_count + ?4 ELSE 9223372036854775807 END
            WHERE entry_id = ?1
            """)
        try run(update, access, entry)
        // The first access inserts the row. Selecting from `entry` inserts nothing for a removed entry.
        if connection.changes == 0 {
            // Use OR ROLLBACK, and CASE in place of min() and max(): if one of several changes may fail by itself,
            // SQLite first copies each page that it changes. The copies took a third of the instructions. The
            // statements that write below run once for each batch or host.
            let insertion = try connection.prepared(
                """
                INSERT OR ROLLBACK INTO access (entry_id, recency, accessed_at, hit_count, is_pinned)
                SELECT id, CASE WHEN id << 24 > ?2 THEN id << 24 ELSE ?2 END,
                    CASE WHEN created_at > ?3 THEN created_at ELSE ?3 END, ?4, is_pinned
                FROM entry WHERE id = ?1
                """)
            try run(insertion, access, entry)
        }
    }

    private func run(_ statement: Statement, _ access: AccessLog.Access, _ entry: Int64) throws(StoreError) {
        statement.bind(entry, at: 1)
        statement.bind(access.recency, at: 2)
        statement.bind(access.accessedAt, at: 3)
        statement.bind(access.counts.answers, at: 4)
        try statement.run()
    }

    private func addHits(_ count: Int64) throws(StoreError) {
        let statement = try connection.prepared(
            "UPDATE total SET hit_count = min(hit_count, 9223372036854775807 - ?1) + ?1")
        statement.bind(count, at: 1)
        try statement.run()
    }

    /// Returns the host of an access: from its key, or else from the entry. Returns `nil` for a removed entry.
    private func host(of access: AccessLog.Access, _ entry: Int64) throws(StoreError) -> String? {
        if let host = access.key?.host { return host }
        let statement = try connection.prepared("SELECT host FROM entry WHERE id = ?1")
        defer { statement.reset() }
        statement.bind(entry, at: 1)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Adds requests of a host. Returns whether the host had no row before.
    private func add(_ counts: RequestCounts, host: String, at time: Int64) throws(StoreError) -> Bool {
        let update = try connection.prepared(
            """
            UPDATE request SET
                hit_count = min(hit_count, 9223372036854775807 - ?2) + ?2,
                stale_count = min(stale_count, 9223372036854775807 - ?3) + ?3,
                revalidated_count = min(revalidated_count, 9223372036854775807 - ?4) + ?4,
                tier_count = min(tier_count, 9223372036854775807 - ?5) + ?5,
                miss_count = min(miss_count, 9223372036854775807 - ?6) + ?6,
                error_count = min(error_count, 9223372036854775807 - ?7) + ?7,
                counted_at = max(counted_at, ?8)
            WHERE host = ?1
            """)
        try run(update, counts, host, time)
        // Most hosts have a row. Only a new row can exceed the bound of the table.
        if connection.changes == 1 { return false }
        try run(connection.prepared("INSERT INTO request VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"), counts, host, time)
        return true
    }

    private func run(
        _ statement: Statement, _ counts: RequestCounts, _ host: String, _ time: Int64
    ) throws(StoreError) {
        statement.bind(host, at: 1)
        statement.bind(counts.hits, at: 2)
        statement.bind(counts.stale, at: 3)
        statement.bind(counts.revalidated, at: 4)
        statement.bind(counts.tier, at: 5)
        statement.bind(counts.misses, at: 6)
        statement.bind(counts.errors, at: 7)
        statement.bind(time, at: 8)
        try statement.run()
    }

    private func forgetOldestHosts() throws(StoreError) {
        let statement = try connection.prepared(
            """
            DELETE FROM request WHERE host IN (
                SELECT host FROM request
                ORDER BY counted_at LIMIT max(0, (SELECT count(*) FROM request) - ?1)
            )
            """)
        statement.bind(Self.maxHosts, at: 1)
        try statement.run()
    }
}

extension Connection {
    /// Returns the largest recency of an unpinned entry, or 0 if no unpinned entry was accessed.
    package func largestRecency() throws(StoreError) -> Int64 {
        try prepared("SELECT recency FROM access WHERE is_pinned = 0 ORDER BY recency DESC LIMIT 1").integer()
    }

    /// Drops the counts of hosts without entries. Reads every entry.
    func forgetUnneededHosts() throws(StoreError) {
        try prepared("DELETE FROM request WHERE host NOT IN (SELECT host FROM entry)").run()
    }
}

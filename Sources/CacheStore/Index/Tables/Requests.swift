/// The rows of `access` and `request`: uses of entries, and requests by host.
extension Connection {
    /// Hosts whose requests are remembered: the counts of those that were asked for least recently are forgotten.
    static let maxHosts: Int64 = 10_000

    package func apply(_ notes: Touches.Notes) throws(SQLiteError) {
        guard !notes.isEmpty else { return }
        var requests = notes.requests
        var (answers, latest) = (Int64(0), notes.requestedAt)
        for (entry, touch) in notes.touches {
            try apply(touch, entry)
            answers &+= touch.counts.answers
            latest = max(latest, touch.accessedAt)
            // None where the entry has gone in the meantime.
            if let host = try host(ofEntry: entry) { requests[host, default: RequestCounts()] += touch.counts }
        }
        if answers > 0 { try addHits(answers) }
        var isHostNew = false
        for (host, counts) in requests where try add(counts, host: host, at: latest) { isHostNew = true }
        if isHostNew { try forgetOldestHosts() }
    }

    private func apply(_ touch: Touches.Touch, _ entry: Int64) throws(SQLiteError) {
        let statement = try prepared(
            """
            UPDATE access SET
                accessed_at = max(accessed_at, ?2), hit_count = min(hit_count, 9223372036854775807 - ?3) + ?3,
                age = (SELECT iif(eviction_policy = 1, eviction_age, NULL) FROM state, total)
            WHERE entry_id = ?1
            """)
        statement.bind(entry, at: 1)
        statement.bind(touch.accessedAt, at: 2)
        statement.bind(touch.counts.answers, at: 3)
        try statement.run()
    }

    private func addHits(_ count: Int64) throws(SQLiteError) {
        let statement = try prepared("UPDATE total SET hit_count = min(hit_count, 9223372036854775807 - ?1) + ?1")
        statement.bind(count, at: 1)
        try statement.run()
    }

    private func host(ofEntry entry: Int64) throws(SQLiteError) -> String? {
        let statement = try prepared("SELECT host FROM entry WHERE id = ?1")
        defer { statement.reset() }
        statement.bind(entry, at: 1)
        return try statement.step() ? statement.text(0) : nil
    }

    /// Whether there was no row of the host.
    private func add(_ counts: RequestCounts, host: String, at time: Int64) throws(SQLiteError) -> Bool {
        let insertion = try prepared("INSERT OR IGNORE INTO request VALUES (?1, 0, 0, 0, 0, 0, 0)")
        insertion.bind(host, at: 1)
        try insertion.run()
        let isNew = changes == 1
        let statement = try prepared(
            """
            UPDATE request SET
                hit_count = min(hit_count, 9223372036854775807 - ?2) + ?2,
                stale_count = min(stale_count, 9223372036854775807 - ?3) + ?3,
                revalidated_count = min(revalidated_count, 9223372036854775807 - ?4) + ?4,
                miss_count = min(miss_count, 9223372036854775807 - ?5) + ?5,
                error_count = min(error_count, 9223372036854775807 - ?6) + ?6,
                counted_at = max(counted_at, ?7)
            WHERE host = ?1
            """)
        statement.bind(host, at: 1)
        statement.bind(counts.hits, at: 2)
        statement.bind(counts.stale, at: 3)
        statement.bind(counts.revalidated, at: 4)
        statement.bind(counts.misses, at: 5)
        statement.bind(counts.errors, at: 6)
        statement.bind(time, at: 7)
        try statement.run()
        return isNew
    }

    private func forgetOldestHosts() throws(SQLiteError) {
        let statement = try prepared(
            """
            DELETE FROM request WHERE host IN (
                SELECT host FROM request
                ORDER BY counted_at LIMIT max(0, (SELECT count(*) FROM request) - ?1)
            )
            """)
        statement.bind(Self.maxHosts, at: 1)
        try statement.run()
    }

    /// Forgets the counts of hosts that no entry comes from.
    func forgetUnneededHosts() throws(SQLiteError) {
        try prepared(
            "DELETE FROM request WHERE NOT EXISTS (SELECT 1 FROM entry WHERE entry.host = request.host)"
        ).run()
    }
}

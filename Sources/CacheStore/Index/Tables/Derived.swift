/// The rows of `derived`.
///
/// A row is found by the entry as somebody has read it, key and body included: the number alone may be that of another one
/// by now.
extension Connection {
    /// Forms of one entry that are kept at once: they all go in one transaction.
    package static let maxDerived: Int64 = 64

    /// The body of a form; `nil` if there is none, or its entry is gone or has another body. One point lookup.
    package func derived(
        _ name: String, of entry: StoredEntry
    ) throws(SQLiteError) -> (digest: ContentDigest?, byteCount: Int64)? {
        let statement = try prepared(
            """
            SELECT derived.body, derived.byte_count FROM derived JOIN entry ON entry.id = derived.entry_id
            WHERE derived.entry_id = ?1 AND derived.name = ?2
                AND entry.partition = ?3 AND entry.key = ?4 AND entry.body IS ?5
                AND (entry.session IS NULL OR entry.session = (SELECT session FROM state))
            """)
        defer { statement.reset() }
        statement.bind(entry.id, at: 1)
        statement.bind(name, at: 2)
        statement.bind(entry.key.partition, at: 3)
        statement.bind(entry.key.text, at: 4)
        statement.bind(entry.digest, at: 5)
        guard try statement.step() else { return nil }
        let (digest, byteCount) = (statement.digest(0), statement.int64(1))
        // As with entries: a row that somebody has damaged is a miss.
        guard digest == nil ? statement.isNull(0) && byteCount == 0 : byteCount > 0 else { return nil }
        return (digest, byteCount)
    }

    /// Whether an entry is there, with the body that it had.
    package func contains(_ entry: StoredEntry) throws(SQLiteError) -> Bool {
        let statement = try prepared(
            """
            SELECT 1 FROM entry
            WHERE id = ?1 AND partition = ?2 AND key = ?3 AND body IS ?4
                AND (session IS NULL OR session = (SELECT session FROM state))
            """)
        defer { statement.reset() }
        statement.bind(entry.id, at: 1)
        statement.bind(entry.key.partition, at: 2)
        statement.bind(entry.key.text, at: 3)
        statement.bind(entry.digest, at: 4)
        return try statement.step()
    }

    /// Inserts a form of an entry that is there, or replaces the one of the same name. Beyond ``maxDerived`` the oldest go.
    package func storeDerived(
        _ name: String, of entry: StoredEntry, digest: ContentDigest?, byteCount: Int64, at now: Int64
    ) throws(SQLiteError) {
        let insertion = try prepared(
            """
            INSERT INTO derived (entry_id, name, created_at, byte_count, body) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (entry_id, name) DO UPDATE SET
                created_at = excluded.created_at, byte_count = excluded.byte_count, body = excluded.body
            """)
        insertion.bind(entry.id, at: 1)
        insertion.bind(name, at: 2)
        insertion.bind(now, at: 3)
        insertion.bind(byteCount, at: 4)
        insertion.bind(digest, at: 5)
        try insertion.run()
        guard try derivedCount(of: entry) > Self.maxDerived else { return }
        let deletion = try prepared(
            """
            DELETE FROM derived WHERE entry_id = ?1 AND name IN (
                SELECT name FROM derived WHERE entry_id = ?1
                ORDER BY name = ?2 DESC, created_at DESC LIMIT -1 OFFSET ?3
            )
            """)
        deletion.bind(entry.id, at: 1)
        deletion.bind(name, at: 2)
        deletion.bind(Self.maxDerived, at: 3)
        try deletion.run()
    }

    private func derivedCount(of entry: StoredEntry) throws(SQLiteError) -> Int64 {
        let statement = try prepared("SELECT count(*) FROM derived WHERE entry_id = ?1")
        defer { statement.reset() }
        statement.bind(entry.id, at: 1)
        return try statement.step() ? statement.int64(0) : 0
    }

    package func removeDerived(_ name: String, of entry: StoredEntry) throws(SQLiteError) {
        let statement = try prepared("DELETE FROM derived WHERE entry_id = ?1 AND name = ?2")
        statement.bind(entry.id, at: 1)
        statement.bind(name, at: 2)
        try statement.run()
    }

    /// Removes the forms that have a body; returns how many there were.
    package func removeDerived(withBody digest: ContentDigest) throws(SQLiteError) -> Int {
        let statement = try prepared("DELETE FROM derived WHERE body = ?1")
        defer { statement.reset() }
        statement.bind(digest, at: 1)
        while try statement.step() {}
        return changes
    }
}

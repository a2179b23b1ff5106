/// Reads the rows of `derived`. An entry finds a row only while its key and body are those that the caller has read.
extension Connection {
    /// The number of derived representations kept for one entry. One transaction may remove all of them.
    package static let maxDerived: Int64 = 64

    /// Returns the body of a derived representation. Returns `nil` without such a representation, and if the entry was
    /// removed or its body replaced. Takes one point lookup.
    package func derived(
        _ name: String, of entry: StoredEntry
    ) throws(StoreError) -> (digest: ContentDigest?, byteCount: Int64)? {
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
        // As with entries, a damaged row is a miss.
        guard digest == nil ? statement.isNull(0) && byteCount == 0 : byteCount > 0 else { return nil }
        return (digest, byteCount)
    }
}

/// Changes the rows of `derived`.
extension WriteTransaction {
    /// Stores or replaces a derived representation of an entry. Removes the oldest beyond ``Connection/maxDerived``.
    package func storeDerived(
        _ name: String, of entry: StoredEntry, digest: ContentDigest?, byteCount: Int64, at now: Int64
    ) throws(StoreError) {
        // A deletion returns the digest of the old body, whose file goes after the commit. An upsert would lose it.
        try removeDerived(name, ofEntry: entry.id)
        let insertion = try connection.prepared(
            """
            INSERT OR ROLLBACK INTO derived (entry_id, name, created_at, byte_count, body) VALUES (?1, ?2, ?3, ?4, ?5)
            """)
        insertion.bind(entry.id, at: 1)
        insertion.bind(name, at: 2)
        insertion.bind(now, at: 3)
        insertion.bind(byteCount, at: 4)
        insertion.bind(digest, at: 5)
        try insertion.run()
        try removeOldestDerived(ofEntry: entry.id, besides: name)
    }

    private func removeOldestDerived(ofEntry id: Int64, besides name: String) throws(StoreError) {
        let statement = try connection.prepared(
            """
            SELECT name FROM derived WHERE entry_id = ?1
            ORDER BY name = ?2 DESC, created_at DESC LIMIT -1 OFFSET ?3
            """)
        statement.bind(id, at: 1)
        statement.bind(name, at: 2)
        statement.bind(Connection.maxDerived, at: 3)
        var oldest: [String] = []
        do {
            defer { statement.reset() }
            while try statement.step() { oldest.append(statement.text(0)) }
        }
        // Delete after the query has ended: SQLite does not define whether a running query sees deleted rows
        // (https://sqlite.org/isolation.html).
        for name in oldest { try removeDerived(name, ofEntry: id) }
    }

    package func removeDerived(_ name: String, ofEntry id: Int64) throws(StoreError) {
        let statement = try connection.prepared("DELETE FROM derived WHERE entry_id = ?1 AND name = ?2 RETURNING body")
        statement.bind(id, at: 1)
        statement.bind(name, at: 2)
        try releaseBodies(statement)
    }

    /// Removes a derived representation if it still has this body. Returns whether it has.
    func removeDerived(
        _ name: String, ofEntry id: Int64, withBody digest: ContentDigest
    ) throws(StoreError) -> Bool {
        let statement = try connection.prepared(
            "DELETE FROM derived WHERE entry_id = ?1 AND name = ?2 AND body = ?3 RETURNING body")
        statement.bind(id, at: 1)
        statement.bind(name, at: 2)
        statement.bind(digest, at: 3)
        return try releaseBodies(statement) == 1
    }

    /// Releases the bodies of an entry's derived representations. Triggers delete the rows together with the entry.
    func releaseDerived(ofEntry id: Int64) throws(StoreError) {
        let statement = try connection.prepared("SELECT body FROM derived WHERE entry_id = ?1")
        statement.bind(id, at: 1)
        try releaseBodies(statement)
    }

    /// Releases the bodies in the first column. Returns the number of rows.
    @discardableResult
    func releaseBodies(_ statement: Statement) throws(StoreError) -> Int {
        defer { statement.reset() }
        var count = 0
        while try statement.step() {
            release(statement.digest(0))
            count += 1
        }
        return count
    }
}

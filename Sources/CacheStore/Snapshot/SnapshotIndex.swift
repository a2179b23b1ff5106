/// The copy of an index for a snapshot. Until it is complete, only the snapshot opens it.
struct SnapshotIndex {
    private let connection: Connection

    /// Copies the index at `source` to the empty file at `path`, while other connections write to it. Uses
    /// `VACUUM INTO` instead of SQLite's backup interface. Both read one snapshot and block no writer, but only
    /// `VACUUM INTO` omits removed rows that are not overwritten yet. `interruption` ends the copying and later
    /// statements.
    init(
        copying source: String, to path: String, busyTimeout: Duration, until interruption: InterruptFlag
    ) throws(StoreError) {
        let reader = try Connection(path: source, role: .inspector, busyTimeout: busyTimeout)
        reader.interrupt(by: interruption)
        // The source is opened read-only; `query_only` would forbid writing the target, too.
        try reader.execute("PRAGMA query_only = OFF")
        let statement = try reader.prepare("VACUUM INTO ?1")
        statement.bind(path, at: 1)
        try statement.run()
        connection = try Connection(path: path, role: .writer, busyTimeout: .zero, creates: true)
        connection.interrupt(by: interruption)
    }

    func removeSessionEntries() throws(StoreError) {
        try connection.prepared("DELETE FROM entry WHERE session IS NOT NULL").run()
    }

    /// Calls `visit` for every body in the order of the digests, which is also the order of the directories.
    func forEachBody(
        _ visit: (_ digest: ContentDigest, _ byteCount: Int64, _ isPart: Bool) throws(StoreError) -> Void
    ) throws(StoreError) {
        let parts = try connection.partBodies()
        let statement = try connection.prepared("SELECT digest, byte_count FROM blob ORDER BY digest")
        defer { statement.reset() }
        while try statement.step() {
            if let digest = statement.digest(0) { try visit(digest, statement.int64(1), parts.contains(digest)) }
        }
    }

    /// Removes the entries and derived representations with these bodies. Returns the number of entries, and the other
    /// bodies that no row names any longer: those of the derived representations of removed entries.
    func removeRows(
        withBodies missing: [ContentDigest]
    ) throws(StoreError) -> (entries: Int, unneeded: Set<ContentDigest>) {
        let missing = Set(missing)
        let transaction = WriteTransaction(connection)
        try connection.execute("BEGIN")
        var count = 0
        for (digest, rows) in try connection.rows(withBodies: missing) {
            for row in rows where try transaction.remove(row, withBody: digest) {
                if case .entry = row { count += 1 }
            }
        }
        try connection.execute("COMMIT")
        var unneeded = Set(transaction.releasedBodies).subtracting(missing)
        for digest in unneeded where try connection.containsBlob(digest) { unneeded.remove(digest) }
        return (count, unneeded)
    }

    /// Returns the number of bodies and the sum of their lengths.
    func bodySize() throws(StoreError) -> (count: Int, byteCount: Int64) {
        let statement = try connection.prepared("SELECT count(*), CAST(total(byte_count) AS INTEGER) FROM blob")
        defer { statement.reset() }
        return try statement.step() ? (Int(statement.int64(0)), statement.int64(1)) : (0, 0)
    }

    /// Rewrites the file if rows were removed, because their bytes would stay in the file.
    func eraseRemovedRows() throws(StoreError) {
        if connection.rowsWritten > 0 { try connection.rewrite() }
    }

    func entryCount() throws(StoreError) -> Int {
        Int(try connection.prepared("SELECT count(*) FROM entry").integer())
    }
}

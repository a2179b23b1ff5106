/// Begins and ends sessions. A session lasts while any process has the store open.
extension Connection {
    /// Ends the previous session, and returns whether entries of it are left. Called by the only opener. From then on,
    /// lookups skip these entries. ``WriteTransaction/removeLapsedEntries(limit:)`` removes their rows.
    package func beginSession() throws(StoreError) -> Bool {
        let hasEntries = try prepared("SELECT EXISTS (SELECT 1 FROM entry WHERE session IS NOT NULL)").integer() == 1
        guard hasEntries else { return false }
        // An edit or damage may have moved the number out of bounds. Then use a random number, which no entry is likely
        // to have.
        let statement = try prepared(
            """
            UPDATE state SET session = CASE
                WHEN session BETWEEN 1 AND 1 << 60 THEN session + 1
                ELSE 1 + (random() & (1 << 60) - 1)
            END
            """)
        try statement.run()
        return true
    }
}

extension WriteTransaction {
    /// Removes up to `limit` entries of ended sessions. Returns their number.
    package func removeLapsedEntries(limit: Int) throws(StoreError) -> Int {
        let statement = try connection.prepared(
            "SELECT id FROM entry WHERE session IS NOT NULL AND session <> (SELECT session FROM state) LIMIT ?1")
        statement.bind(Int64(limit), at: 1)
        return try removeEntries(statement.integers())
    }
}

/// Counts the processes that write to the store. A killed process does not unregister.
extension Connection {
    package func registerWriter() throws(StoreError) {
        // The bounds keep a damaged count from overflowing, which would fail every registration.
        try prepared("UPDATE state SET writer_count = min(max(0, writer_count), 1 << 30) + 1").run()
    }

    package func unregisterWriter() throws(StoreError) {
        try prepared("UPDATE state SET writer_count = max(0, writer_count - 1)").run()
    }

    /// Returns whether writers were killed, and the number that ``removeKilledWriters(_:)`` takes back after the sweep.
    /// Called by the only opener.
    package func killedWriters() throws(StoreError) -> (exist: Bool, count: Int64) {
        let count = try prepared("SELECT writer_count FROM state").integer()
        // The same bounds as in a registration, which corrects a damaged count.
        return (count != 0, min(max(0, count), 1 << 30))
    }

    /// Counts a killed writer that the index does not count yet. Returns the number of writers that were added.
    package func countKilledWriter() throws(StoreError) -> Int64 {
        do throws(StoreError) {
            try registerWriter()
            return 1
        } catch {
            // A store can be opened on a full disk, or while another program keeps the lock. Then only this process
            // knows that a sweep is due.
            guard error.isFullDisk || error.isBusy else { throw error }
            return 0
        }
    }

    /// Takes back the count of killed writers, whose files a sweep has deleted.
    package func removeKilledWriters(_ count: Int64) throws(StoreError) {
        let statement = try prepared("UPDATE state SET writer_count = max(0, writer_count - ?1)")
        statement.bind(count, at: 1)
        try statement.run()
    }
}

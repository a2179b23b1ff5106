internal import CSQLite

/// Reads and corrects the row of `total`.
extension Connection {
    package func statistics() throws(StoreError) -> StoreStatistics {
        let statement = try prepared(
            """
            SELECT entry_count, blob_count, logical_bytes, physical_bytes, hit_count, failing_count, damaged_count,
                derived_count, derived_bytes
            FROM total
            """)
        defer { statement.reset() }
        guard try statement.step() else { throw error(0, sql: statement.sql) }
        let indexBytes = try usedPageCount() * Self.pageByteCount
        return StoreStatistics(
            entries: statement.int(0), files: statement.int(1), logicalBytes: statement.int64(2),
            physicalBytes: statement.int64(3), hits: statement.int(4), failingKeys: statement.int(5),
            damagedBodies: statement.int(6), derivedBodies: statement.int(7), derivedBytes: statement.int64(8),
            indexBytes: indexBytes, limitedBytes: try size().bytes)
    }

    package func countDamagedBody() throws(StoreError) {
        try prepared("UPDATE total SET damaged_count = damaged_count + 1").run()
    }

    /// Returns the newest id of an entry.
    package func lastEntryID() throws(StoreError) -> Int64 {
        try prepared("SELECT last_id FROM total").integer()
    }

    /// Returns the first existing entry id from `id` on.
    func firstEntryID(from id: Int64) throws(StoreError) -> Int64? {
        let statement = try prepared("SELECT id FROM entry WHERE id >= ?1 ORDER BY id LIMIT 1")
        defer { statement.reset() }
        statement.bind(id, at: 1)
        return try statement.step() ? statement.int64(0) : nil
    }

    /// Calls `visit` with ranges that contain the ids of all entries, at most a thousand ids in each.
    func forEachRangeOfIDs(_ visit: (ClosedRange<Int64>) throws(StoreError) -> Void) throws(StoreError) {
        var next: Int64? = .min
        while let from = next, let first = try firstEntryID(from: from) {
            let last = min(first, .max - 999) + 999
            try visit(first...last)
            next = last < .max ? last + 1 : nil
        }
    }

    /// Runs a query for each thousand ids, from ?1 to ?2, and calls `visit` with each row.
    func forEachRow(_ sql: StaticString, _ visit: (Statement) -> Void) throws(StoreError) {
        let statement = try prepared(sql)
        try forEachRangeOfIDs { (ids) throws(StoreError) in
            statement.bind(ids.lowerBound, at: 1)
            statement.bind(ids.upperBound, at: 2)
            defer { statement.reset() }
            while try statement.step() { visit(statement) }
        }
    }

    /// The largest valid id. A larger one does not fit into a recency.
    static let maxID: Int64 = 1 << 38

    /// Corrects the newest id after damage or an edit has moved it out of bounds. Throws `SQLITE_CORRUPT` if an entry
    /// has such an id. Takes constant time, so that every opening can call it.
    func checkLastEntryID() throws(StoreError) {
        let largest = try prepared("SELECT coalesce(max(id), 0) FROM entry").integer()
        guard largest <= Self.maxID else {
            throw .index(
                SQLiteError(extendedCode: SQLITE_CORRUPT, message: "the id \(largest) of an entry is out of bounds"))
        }
        // One statement sees one state of the index, while other processes insert entries.
        let isInBounds = try prepared(
            "SELECT last_id BETWEEN (SELECT coalesce(max(id), 0) FROM entry) AND 1 << 38 FROM total"
        ).integer()
        // The statement below repeats the condition, because another process may have inserted entries since this read.
        guard isInBounds == 0 else { return }
        try prepared(
            """
            UPDATE total SET last_id = (SELECT coalesce(max(id), 0) FROM entry), unused_id = 0
            WHERE NOT last_id BETWEEN (SELECT coalesce(max(id), 0) FROM entry) AND 1 << 38
            """
        ).run()
    }

    /// Returns the size of the store as limits count it. Takes constant time.
    package func size() throws(StoreError) -> StoreSize {
        let pages = max(0, try usedPageCount() - Self.emptyPageCount)
        let (entries, bodyBytes) = try counts()
        return StoreSize(
            entries: entries, bodyBytes: bodyBytes,
            indexBytesPerEntry: Double(pages * Self.pageByteCount) / Double(max(1, entries)))
    }

    /// Updates the numbers that a removal changes.
    func update(_ size: inout StoreSize) throws(StoreError) {
        (size.entries, size.bodyBytes) = try counts()
    }

    private func counts() throws(StoreError) -> (entries: Int64, bodyBytes: Int64) {
        let statement = try prepared("SELECT entry_count, physical_bytes FROM total")
        defer { statement.reset() }
        guard try statement.step() else { throw error(0, sql: statement.sql) }
        return (statement.int64(0), statement.int64(1))
    }

    /// Returns the bytes of the entries of a partition as if no body were shared, or 0 for the partition `""`, which
    /// has no sum. Takes constant time.
    func byteCount(ofPartition partition: String) throws(StoreError) -> Int64 {
        let statement = try prepared("SELECT byte_count FROM partition_total WHERE partition = ?1")
        statement.bind(partition, at: 1)
        return try statement.integer()
    }

    /// The number of pages of an index without entries.
    package static let emptyPageCount: Int64 = 31

    /// Returns the number of used pages of the index.
    func usedPageCount() throws(StoreError) -> Int64 {
        try prepared("PRAGMA page_count").integer() - prepared("PRAGMA freelist_count").integer()
    }
}

/// The size of a store, as limits count it.
package struct StoreSize: Sendable {
    package var entries: Int64
    /// The bytes of all bodies, of entries and derived representations, each body once.
    package var bodyBytes: Int64
    /// The bytes of the pages beyond those of an empty index, divided by the number of entries. SQLite frees pages
    /// later than the rows in them.
    let indexBytesPerEntry: Double

    /// The bytes that count toward a limit.
    package var bytes: Int64 {
        let index = (Double(max(0, entries)) * indexBytesPerEntry).rounded()
        // Edited sums must not trap.
        return bodyBytes &+ (index < 9.2e18 ? Int64(index) : .max)
    }
}

/// The row of `total`.
extension Connection {
    package func statistics() throws(SQLiteError) -> StoreStatistics {
        let statement = try prepared(
            """
            SELECT entry_count, blob_count - inline_count, logical_bytes, physical_bytes, unreferenced_bytes, hit_count, failure_count,
                damaged_count, derived_count, derived_bytes, inline_count, inline_bytes
            FROM total
            """)
        defer { statement.reset() }
        guard try statement.step() else { throw error(0, sql: statement.sql) }
        let indexBytes = try usedPageCount() * Self.pageByteCount
        return StoreStatistics(
            entries: statement.int(0), files: statement.int(1), logicalBytes: statement.int64(2),
            physicalBytes: statement.int64(3), unreferencedBytes: statement.int64(4), hits: statement.int(5),
            failingKeys: statement.int(6), damagedBodies: statement.int(7), derivedBodies: statement.int(8),
            derivedBytes: statement.int64(9), inlineBodies: statement.int(10), inlineBytes: statement.int64(11),
            indexBytes: indexBytes, limitedBytes: try size().bytes)
    }

    package func countDamagedBody() throws(SQLiteError) {
        try prepared("UPDATE total SET damaged_count = damaged_count + 1").run()
    }
}

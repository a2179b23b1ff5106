internal import CSQLite
internal import Migrations

/// Compares the tables with the present schema.
extension Connection {
    /// Throws `SQLITE_CORRUPT` if a table or one of the two single rows is missing. Costs an opening only microseconds.
    func probeSchema() throws(StoreError) {
        guard try prepared("SELECT count(*) FROM state JOIN total").integer() == 1 else {
            throw .index(SQLiteError(extendedCode: SQLITE_CORRUPT, message: "the state of the store is missing"))
        }
        // Preparing the statement resolves the names of all tables. LIMIT 0 reads no row.
        try prepared(
            """
            SELECT state.session FROM state, total, entry, access, priority, ghost, blob, failure, tag, removal, request,
                derived, partition_total, entry_value, cache_entries
            LIMIT 0
            """
        ).run()
    }

    /// The tables, indices, triggers and views that are missing or differ from the schema. Ignores additional ones.
    func schemaProblems() throws(StoreError) -> [String] {
        let present = Set(try schema())
        let expected = try Connection.expectedSchema()
        return expected.filter { !present.contains($0) }.map { item in
            "not as it should be: " + item.prefix { $0 != ":" }
        }
    }

    /// Returns the schema of a new index.
    static func expectedSchema() throws(StoreError) -> [String] {
        // The migrations are the only definition of the schema: a second one could differ from them.
        let connection = try Connection(path: ":memory:", role: .writer, busyTimeout: .zero)
        for step in migrations { try connection.execute(step.sql) }
        return try connection.schema()
    }

    /// Returns the tables, indices, triggers and views, each with its SQL. Leaves out the tables that ANALYZE fills.
    func schema() throws(StoreError) -> [String] {
        let statement = try prepare(
            """
            SELECT type || ' ' || name || ' on ' || tbl_name || ': ' || coalesce(sql, '') FROM sqlite_schema
            WHERE NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))
            ORDER BY 1
            """)
        var items: [String] = []
        while try statement.step() { items.append(statement.text(0)) }
        return items
    }
}

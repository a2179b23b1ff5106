internal import Migrations

/// Whether the tables are those of the present schema.
extension Connection {
    /// Throws damage where a table is missing. Some microseconds: for each opening.
    func probeSchema() throws(SQLiteError) {
        _ = try integer(
            prepared(
                """
                SELECT state.session FROM state, total, entry, access, blob, failure, tag, removal, request, derived,
                    inline_body, cache_entries
                LIMIT 0
                """))
    }

    /// Tables, indices, triggers and views that are missing, or not as they should be. Others may be there: an index that
    /// somebody has added does no harm.
    func schemaProblems() throws(SQLiteError) -> [String] {
        let present = Set(try schema())
        let expected = try Connection.schema(ofVersion: Int64(migrations.last?.version ?? 0))
        return expected.filter { !present.contains($0) }.map { item in
            "not as it should be: " + item.prefix { $0 != ":" }
        }
    }

    /// What an index of a version has, made afresh.
    package static func schema(ofVersion version: Int64) throws(SQLiteError) -> [String] {
        let connection = try Connection(path: ":memory:", role: .writer, busyTimeout: .zero)
        for step in migrations where step.version <= version { try connection.execute(step.sql) }
        return try connection.schema()
    }

    /// Tables, indices, triggers and views, each with the text that made it. Not the tables that ANALYZE fills.
    package func schema() throws(SQLiteError) -> [String] {
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

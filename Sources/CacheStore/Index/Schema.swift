internal import Migrations

/// Whether the tables are those of the present schema.
extension Connection {
    /// Throws damage where a table is missing. Some microseconds: for each opening.
    func probeSchema() throws(SQLiteError) {
        _ = try integer(
            prepared(
                """
                SELECT state.session FROM state, total, entry, access, blob, failure, tag, removal, request, cache_entries
                LIMIT 0
                """))
    }

    /// Tables, indices, triggers and views that are missing, or not as they should be. Others may be there: an index that
    /// somebody has added does no harm.
    func schemaProblems() throws(SQLiteError) -> [String] {
        let present = Set(try schemaItems())
        return try Connection.expectedSchemaItems().filter { !present.contains($0) }.map { item in
            "not as it should be: " + item.prefix { $0 != "\n" && $0 != "(" }
        }
    }

    private static func expectedSchemaItems() throws(SQLiteError) -> [String] {
        let connection = try Connection(path: ":memory:", role: .writer, busyTimeout: .zero)
        for step in migrations { try connection.execute(step.sql) }
        return try connection.schemaItems()
    }

    private func schemaItems() throws(SQLiteError) -> [String] {
        let statement = try prepare(
            "SELECT type || ' ' || name || char(10) || sql FROM sqlite_schema WHERE sql IS NOT NULL")
        var items: [String] = []
        while try statement.step() { items.append(statement.text(0)) }
        return items
    }
}

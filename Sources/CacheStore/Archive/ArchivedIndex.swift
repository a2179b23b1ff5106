internal import Migrations

/// An index of unknown origin, before a store is opened with it.
struct ArchivedIndex {
    let path: String

    /// How many entries the index has.
    ///
    /// - Throws: ``StoreError/archive(_:)`` unless SQLite finds the file whole, and its schema is exactly the one that the
    ///   steps of this package make: a trigger or a view of somebody else's would run with the store's own statements.
    func verifiedEntryCount() throws(StoreError) -> Int {
        let connection = try reading { () throws(SQLiteError) in
            try Connection(path: path, role: .inspector, busyTimeout: .zero)
        }
        let version = try schemaVersion(of: connection)
        let (found, expected) = try reading { () throws(SQLiteError) in
            (try connection.schema(), try Self.schema(ofVersion: version))
        }
        guard found == expected else { throw .archive(.damagedIndex("its schema is not that of version \(version)")) }
        let problems = try reading { () throws(SQLiteError) in try connection.integrityProblems() }
        if let problem = problems.first { throw .archive(.damagedIndex(problem)) }
        return try reading { () throws(SQLiteError) in Int(try connection.integer("SELECT count(*) FROM entry")) }
    }

    private func schemaVersion(of connection: Connection) throws(StoreError) -> Int64 {
        let (id, version) = try reading { () throws(SQLiteError) in
            (try connection.integer("PRAGMA application_id"), try connection.integer("PRAGMA user_version"))
        }
        guard id == Migrator.applicationID, version > 0 else {
            throw .archive(.damagedIndex("it is not the index of a store"))
        }
        let supported = migrations.last?.version ?? 0
        guard version <= supported else {
            throw .newerSchema(path: "index.sqlite", found: Int(version), supported: Int(supported))
        }
        return version
    }

    /// What an index of a version has, made afresh.
    private static func schema(ofVersion version: Int64) throws(SQLiteError) -> [String] {
        let connection = try Connection(path: ":memory:", role: .writer, busyTimeout: .zero)
        for step in migrations where step.version <= version { try connection.execute(step.sql) }
        return try connection.schema()
    }

    /// Whatever SQLite says of the file is a fault of the archive.
    private func reading<Value>(_ body: () throws(SQLiteError) -> Value) throws(StoreError) -> Value {
        do {
            return try body()
        } catch {
            throw .archive(.damagedIndex(error.message))
        }
    }
}

extension Connection {
    /// Tables, indexes, triggers and views, each as the text that made it. Not the tables that ANALYZE fills.
    fileprivate func schema() throws(SQLiteError) -> [String] {
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

    fileprivate func integer(_ sql: String) throws(SQLiteError) -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.int64(0) : 0
    }
}

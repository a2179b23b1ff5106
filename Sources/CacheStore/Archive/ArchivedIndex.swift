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
            (try connection.schema(), try Connection.schema(ofVersion: version))
        }
        guard found == expected else { throw .archive(.damagedIndex("its schema is not that of version \(version)")) }
        let problems = try reading { () throws(SQLiteError) in try connection.integrityProblems() }
        if let problem = problems.first { throw .archive(.damagedIndex(problem)) }
        return try reading { () throws(SQLiteError) in
            Int(try connection.integer(connection.prepare("SELECT count(*) FROM entry")))
        }
    }

    private func schemaVersion(of connection: Connection) throws(StoreError) -> Int64 {
        let (id, version) = try reading { () throws(SQLiteError) in
            (
                try connection.integer(connection.prepare("PRAGMA application_id")),
                try connection.integer(connection.prepare("PRAGMA user_version"))
            )
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

    /// Whatever SQLite says of the file is a fault of the archive.
    private func reading<Value>(_ body: () throws(SQLiteError) -> Value) throws(StoreError) -> Value {
        do {
            return try body()
        } catch {
            throw .archive(.damagedIndex(error.message))
        }
    }
}

internal import CSQLite
internal import Migrations

/// Brings an index to the newest schema, a step at a time, each in a transaction of its own.
///
/// `user_version` counts the steps that were applied, `application_id` tells an index from any other SQLite file.
struct Migrator {
    /// 'CaSt'.
    static let applicationID: Int64 = 0x4361_5374

    let path: String

    /// Applies the steps that the file lacks. Writes nothing to a file that is not an index, or one of a newer schema.
    func migrate(_ connection: Connection) throws(StoreError) {
        let supported = migrations.last?.version ?? 0
        var version = try identify(connection)
        if version <= supported {
            try mapping(path) { () throws(SQLiteError) in
                try connection.checkWritable()
                // Lets pages that removals have emptied be given back; possible only before the first table.
                if version == 0 { try connection.execute("PRAGMA auto_vacuum = INCREMENTAL") }
                try connection.enterWAL()
                while version < supported { version = try applyNext(connection) }
            }
        }
        guard version == supported else {
            throw .newerSchema(path: path, found: Int(version), supported: Int(supported))
        }
    }

    /// The schema version of an index, 0 of an empty file.
    private func identify(_ connection: Connection) throws(StoreError) -> Int32 {
        let (id, version, tables) = try mapping(path) { () throws(SQLiteError) in
            // In one transaction: another process may be making the index just now.
            try connection.execute("BEGIN")
            let answers = (
                try integer("PRAGMA application_id", connection), try integer("PRAGMA user_version", connection),
                try integer("SELECT count(*) FROM sqlite_schema", connection)
            )
            try connection.execute("COMMIT")
            return answers
        }
        guard id == Self.applicationID || (id == 0 && version == 0 && tables == 0) else {
            throw .notAnIndex(path: path, reason: "it is the SQLite database of another program")
        }
        return Int32(clamping: version)
    }

    /// Applies the step that follows the version found under the write lock: another process may have been faster.
    private func applyNext(_ connection: Connection) throws(SQLiteError) -> Int32 {
        try connection.execute("BEGIN IMMEDIATE")
        do {
            let version = Int32(clamping: try integer("PRAGMA user_version", connection))
            guard let step = migrations.first(where: { $0.version > version }) else {
                try connection.execute("COMMIT")
                return version
            }
            try connection.execute(step.sql)
            try connection.execute("PRAGMA application_id = \(Self.applicationID)")
            try connection.execute("PRAGMA user_version = \(step.version)")
            try connection.execute("COMMIT")
            return step.version
        } catch {
            if connection.isInTransaction { _ = try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    private func integer(_ sql: String, _ connection: Connection) throws(SQLiteError) -> Int64 {
        let statement = try connection.prepare(sql)
        return try statement.step() ? statement.int64(0) : 0
    }
}

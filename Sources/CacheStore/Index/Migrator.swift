internal import CSQLite
internal import Migrations

/// Brings an index to the newest schema, a step at a time, each in a transaction of its own.
///
/// `user_version` counts the steps that were applied, `application_id` tells an index from any other SQLite file.
struct Migrator {
    /// 'CaSt'.
    static let applicationID: Int64 = 0x4361_5374

    let path: String

    func migrate(_ connection: Connection) throws(StoreError) {
        let supported = migrations.last?.version ?? 0
        var version = try state(of: connection).version
        while version < supported {
            version = try mapping(path) { () throws(SQLiteError) in try applyNext(connection) }
        }
        guard version == supported else {
            throw .newerSchema(path: path, found: Int(version), supported: Int(supported))
        }
    }

    /// Checks that the file is an index or empty.
    private func state(of connection: Connection) throws(StoreError) -> (applicationID: Int64, version: Int32) {
        let (id, version, tables) = try mapping(path) { () throws(SQLiteError) in
            (
                try integer("PRAGMA application_id", connection), try integer("PRAGMA user_version", connection),
                try integer("SELECT count(*) FROM sqlite_schema", connection)
            )
        }
        guard id == Self.applicationID || (id == 0 && version == 0 && tables == 0) else {
            throw .notAnIndex(path: path, reason: "it is the SQLite database of another program")
        }
        return (id, Int32(clamping: version))
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

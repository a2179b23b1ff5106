internal import CSQLite
package import Migrations

/// Migrates an index to the newest schema. Each step runs in a separate transaction. `user_version` counts the applied
/// steps. `application_id` distinguishes an index from other SQLite files.
package struct Migrator {
    /// 'CaSt'.
    static let applicationID: Int64 = 0x4361_5374

    let path: String
    private let steps: [Migration]

    /// - Parameter steps: The steps of the schema, in order. Tests pass other steps.
    package init(path: String, steps: [Migration] = migrations) {
        self.path = path
        self.steps = steps
    }

    /// Applies the missing steps. Writes nothing to a file that is not an index, or to an index with a newer schema.
    /// Returns whether the file was empty: just created, or left by a process that ended before the first step.
    @discardableResult
    package func migrate(_ connection: Connection) throws(StoreError) -> Bool {
        let supported = steps.last?.version ?? 0
        var version = try identify(connection)
        let wasEmpty = version == 0
        if version <= supported {
            // The file was opened for writing, so its header must forbid writing, permanently.
            do throws(StoreError) {
                try connection.checkWritable()
            } catch {
                throw .index(SQLiteError(extendedCode: SQLITE_CORRUPT, message: "its header forbids writing"))
            }
            try connection.enterWAL()
            while version < supported { version = try applyNext(connection) }
        }
        try check(version)
        return wasEmpty
    }

    /// Throws unless a read-only connection can use the index as it is.
    func check(_ connection: Connection) throws(StoreError) {
        try check(try identify(connection))
    }

    private func check(_ version: Int32) throws(StoreError) {
        let supported = steps.last?.version ?? 0
        if version < supported {
            throw .olderSchema(path: path, found: Int(version), supported: Int(supported))
        }
        if version > supported {
            throw .newerSchema(path: path, found: Int(version), supported: Int(supported))
        }
    }

    /// Returns the schema version of an index, or 0 for an empty file.
    @discardableResult
    func identify(_ connection: Connection) throws(StoreError) -> Int32 {
        // Read in one transaction: another process may be creating the index.
        try connection.execute("BEGIN")
        let (id, version, tables) = (
            try connection.prepare("PRAGMA application_id").integer(),
            try connection.prepare("PRAGMA user_version").integer(),
            try connection.prepare("SELECT count(*) FROM sqlite_schema").integer()
        )
        try connection.execute("COMMIT")
        guard id != Self.applicationID || version > 0 else {
            throw .index(SQLiteError(extendedCode: SQLITE_CORRUPT, message: "its schema version is \(version)"))
        }
        guard id == Self.applicationID || (id == 0 && version == 0 && tables == 0) else {
            throw .notAnIndex(path: path, reason: "it is the SQLite database of another program")
        }
        return Int32(clamping: version)
    }

    /// Applies the next step.
    private func applyNext(_ connection: Connection) throws(StoreError) -> Int32 {
        try connection.execute("BEGIN IMMEDIATE")
        do {
            // Read under the write lock, because another process may have been faster.
            let version = Int32(clamping: try connection.prepare("PRAGMA user_version").integer())
            guard let step = steps.first(where: { $0.version > version }) else {
                try connection.execute("COMMIT")
                return version
            }
            try connection.execute(step.sql)
            // Both numbers are in the header of the file, so they are committed together with the tables, or not at
            // all.
            try connection.execute("PRAGMA application_id = \(Self.applicationID)")
            try connection.execute("PRAGMA user_version = \(step.version)")
            try connection.execute("COMMIT")
            return step.version
        } catch {
            if connection.isInTransaction { _ = try? connection.execute("ROLLBACK") }
            // The steps are correct, so the tables are not those that the version promises.
            throw error.asDamage(from: [SQLITE_ERROR, SQLITE_CONSTRAINT])
        }
    }
}

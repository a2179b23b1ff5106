/// One step of the schema.
package struct Migration: Sendable {
    /// The `user_version` of an index that has this step.
    package let version: Int32
    /// The statements of the step.
    package let sql: String

    package init(version: Int32, sql: String) {
        self.version = version
        self.sql = sql
    }
}

/// All steps in order. A released step never changes. Append a new step here and in the package manifest.
package let migrations: [Migration] = [
    Migration(version: 1, sql: String(decoding: PackageResources.v001_initial_sql, as: UTF8.self))
]

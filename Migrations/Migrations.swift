/// One step of the schema.
package struct Migration: Sendable {
    /// The `user_version` that a store has once this step is applied.
    package let version: Int32
    /// The statements of the step.
    package let sql: String
}

/// All steps in order. A released step never changes; a new one is appended here and in the package manifest.
package let migrations: [Migration] = [
    Migration(version: 1, sql: String(decoding: PackageResources.v001_initial_sql, as: UTF8.self)),
    Migration(version: 2, sql: String(decoding: PackageResources.v002_lifetimes_sql, as: UTF8.self)),
    Migration(version: 3, sql: String(decoding: PackageResources.v003_parts_sql, as: UTF8.self)),
    Migration(version: 4, sql: String(decoding: PackageResources.v004_derived_sql, as: UTF8.self)),
    Migration(version: 5, sql: String(decoding: PackageResources.v005_eviction_sql, as: UTF8.self)),
    Migration(version: 6, sql: String(decoding: PackageResources.v006_statements_sql, as: UTF8.self)),
    Migration(version: 7, sql: String(decoding: PackageResources.v007_inline_sql, as: UTF8.self)),
]

internal import CSQLite

extension ResponseStore {
    /// Stops SQLite from counting its memory, in the whole process. This speeds up lookups, most of all during writes
    /// and evictions.
    ///
    /// While SQLite counts, each of its allocations takes a process-wide lock, at which readers wait for a writer. See
    /// <doc:Performance> for measurements. Without the count, `sqlite3_memory_used()` returns 0, and limits of SQLite's
    /// heap have no effect. That is a decision of the whole program and not of a library, so this package never calls
    /// the method itself. A SQLite library built with `SQLITE_DEFAULT_MEMSTATUS=0`, as SQLite recommends, does not
    /// count anyway.
    ///
    /// Call this method once, at the start of a program and before any other use of SQLite. SQLite's configuration has
    /// no lock, and is fixed by the first use.
    ///
    /// - Returns: Whether SQLite has accepted the setting; `false` if the process has used SQLite before.
    @discardableResult
    public static func disableSQLiteMemoryStatistics() -> Bool {
        csqlite_config_memory_statistics(0) == SQLITE_OK
    }
}

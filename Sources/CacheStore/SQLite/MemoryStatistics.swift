internal import CSQLite

extension ResponseStore {
    /// Stops SQLite from counting the memory that it uses, in the whole process. Lookups become faster, most of all
    /// beside writes and evictions.
    ///
    /// While SQLite counts, each of its allocations takes a process-wide lock, at which readers wait for a writer. See
    /// <doc:Performance> for measurements. Without the count, `sqlite3_memory_used()` returns 0, and limits of SQLite's
    /// heap have no effect. The whole program has to decide that, not a library, so nothing calls this method by
    /// itself. A SQLite library that was built with `SQLITE_DEFAULT_MEMSTATUS=0`, as SQLite recommends, does not count
    /// anyway.
    ///
    /// Call this method once, at the start of a program and before any other use of SQLite. SQLite's configuration has
    /// no lock, and the first use fixes it.
    ///
    /// - Returns: Whether SQLite has accepted the setting; `false` if the process has used SQLite before.
    @discardableResult
    public static func disableSQLiteMemoryStatistics() -> Bool {
        csqlite_config_memory_statistics(0) == SQLITE_OK
    }
}

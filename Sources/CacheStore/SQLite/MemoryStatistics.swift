internal import CSQLite

extension ResponseStore {
    /// Has SQLite no longer count the memory that it uses, in the whole process: lookups are faster, most of all beside
    /// writes and evictions.
    ///
    /// While it counts, each of its allocations takes a lock of the process, at which readers wait for a writer; see
    /// <doc:Performance> for what that comes to. Without, `sqlite3_memory_used()` is 0, and limits of SQLite's heap have no
    /// effect, which is for the whole program to decide and not for a library: nothing calls this by itself. A library that
    /// was built with `SQLITE_DEFAULT_MEMSTATUS=0`, as SQLite recommends, does not count anyway.
    ///
    /// To be called once, first thing in a program: not beside any other use of SQLite, because its configuration is not
    /// guarded, and before the first, because it is fixed by then.
    ///
    /// - Returns: Whether SQLite has taken it; `false` if anybody in the process has used SQLite before.
    @discardableResult
    public static func disableSQLiteMemoryStatistics() -> Bool {
        csqlite_config_memory_statistics(0) == SQLITE_OK
    }
}

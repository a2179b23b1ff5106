internal import CSQLite

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What answers questions about the store.
extension ResponseStore {
    /// The store in numbers. Constant time: the sums are kept with every change.
    public func statistics() throws(StoreError) -> StoreStatistics {
        try read { (connection) throws(SQLiteError) in try connection.statistics() }
    }

    /// The rows of a query over the views `cache_entries`, `cache_stats`, `cache_hosts` and `cache_errors`.
    ///
    /// Uses noted in memory are not in it yet; `flush()` writes them.
    ///
    /// - Throws: ``StoreError/index(_:)`` for what SQLite does not understand, and for statements that change anything.
    public func query(_ sql: String) throws(StoreError) -> SQLRows {
        try checkOpen()
        return try Self.query(sql, ofIndexAt: indexPath)
    }

    /// As ``query(_:)``, on a store that need not be open: it is opened read-only, and not created if it is not there.
    public static func query(_ sql: String, inStoreAt directory: URL) throws(StoreError) -> SQLRows {
        try query(sql, ofIndexAt: StoreDirectory(opening: directory).indexPath)
    }

    /// On a connection of its own: neither a long query nor one that changes settings gets in the way of lookups.
    private static func query(_ sql: String, ofIndexAt path: String) throws(StoreError) -> SQLRows {
        do throws(SQLiteError) {
            return try Connection(path: path, role: .inspector, busyTimeout: .seconds(5)).rows(of: sql)
        } catch {
            if error.code == SQLITE_NOTADB { throw .notAnIndex(path: path, reason: error.message) }
            throw error.isBusy ? .busy(path: path) : .index(error)
        }
    }
}

extension Connection {
    /// The rows of a query; whatever is no query is refused before it runs.
    fileprivate func rows(of sql: String) throws(SQLiteError) -> SQLRows {
        let statement = try prepare(sql)
        // A file that is open for reading cannot be changed, but VACUUM INTO writes to another one.
        guard statement.isReadOnly else { throw SQLiteError(readOnlyRefuses: sql) }
        let columns = 0..<Int32(statement.columnCount)
        var rows: [[SQLValue]] = []
        while try statement.step() { rows.append(columns.map { statement.value($0) }) }
        return SQLRows(columns: columns.map { statement.columnName(Int($0)) }, rows: rows)
    }
}

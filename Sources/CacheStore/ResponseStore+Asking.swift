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
    /// Uses noted in memory are not in it yet; ``flush()-6k8ok`` writes them.
    ///
    /// - Throws: ``StoreError/index(_:)`` for what SQLite does not understand, and for statements that change anything.
    public func query(_ sql: String) throws(StoreError) -> SQLRows {
        try read { (connection) throws(SQLiteError) in try connection.rows(of: sql) }
    }

    /// As ``query(_:)``, on a store that need not be open: it is opened read-only, and not created if it is not there.
    public static func query(_ sql: String, inStoreAt directory: URL) throws(StoreError) -> SQLRows {
        let place = try StoreDirectory(opening: directory)
        return try mapping(place.indexPath) { () throws(SQLiteError) in
            try Connection(path: place.indexPath, role: .inspector, busyTimeout: .seconds(5)).rows(of: sql)
        }
    }
}

extension Connection {
    func rows(of sql: String) throws(SQLiteError) -> SQLRows {
        let statement = try prepare(sql)
        let columns = 0..<Int32(statement.columnCount)
        var rows: [[SQLValue]] = []
        while try statement.step() { rows.append(columns.map { statement.value($0) }) }
        return SQLRows(columns: columns.map { statement.columnName(Int($0)) }, rows: rows)
    }
}

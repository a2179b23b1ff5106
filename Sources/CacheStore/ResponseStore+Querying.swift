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

    /// The rows of a query over the views `cache_entries`, `cache_stats`, `cache_hosts`, `cache_requests`,
    /// `cache_errors` and `cache_derived`; see <doc:AskingWithSQL>.
    ///
    /// Runs on the calling thread, for as long as the query takes, on a connection of its own, which is opened for reading
    /// only: neither lookups nor writers wait for it. Uses noted in memory are not in it yet; `flush()` writes them.
    ///
    /// ```swift
    /// for row in try store.query("SELECT url, byte_size FROM cache_entries WHERE host = ?", [.text("example.com")]) {
    ///     print(row["url"]?.text ?? "", row["byte_size"]?.integer ?? 0)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - sql: One statement that changes nothing.
    ///   - arguments: What stands for the parameters, in their order; as many as there are.
    /// - Throws: ``StoreError/index(_:)`` for what SQLite does not understand, for statements that change anything, and for
    ///   another number of arguments; ``StoreError/suspended`` and ``StoreError/closed`` as soon as the store is.
    public func query(_ sql: String, _ arguments: [SQLValue] = []) throws(StoreError) -> SQLRows {
        try checkOpen()
        return try inquiries.inquire { (interruption) throws(StoreError) in
            try Self.query(sql, arguments, ofIndexAt: indexPath, until: interruption)
        }
    }

    /// As ``query(_:_:)``, on a store that need not be open: it is opened read-only, and not created if it is not there.
    public static func query(
        _ sql: String, _ arguments: [SQLValue] = [], inStoreAt directory: URL
    ) throws(StoreError) -> SQLRows {
        try query(sql, arguments, ofIndexAt: StoreDirectory(opening: directory).indexPath)
    }

    /// On a connection of its own: neither a long query nor one that changes settings gets in the way of lookups.
    private static func query(
        _ sql: String, _ arguments: [SQLValue], ofIndexAt path: String, until interruption: InterruptFlag? = nil
    ) throws(StoreError) -> SQLRows {
        do throws(StoreError) {
            let connection = try mapping(path) { () throws(SQLiteError) in
                try Connection(path: path, role: .inspector, busyTimeout: .seconds(5))
            }
            if let interruption { connection.interrupt(by: interruption) }
            try Migrator(path: path).identify(connection)
            return try mapping(path) { () throws(SQLiteError) in try connection.rows(of: sql, arguments) }
        } catch {
            if case .index(let error) = error, error.code == SQLITE_NOTADB {
                throw .notAnIndex(path: path, reason: error.message)
            }
            throw error
        }
    }
}

extension Connection {
    /// The rows of a query; whatever is no query is refused before it runs.
    fileprivate func rows(of sql: String, _ arguments: [SQLValue]) throws(SQLiteError) -> SQLRows {
        let statement = try prepare(sql)
        guard arguments.count == statement.parameterCount else {
            throw SQLiteError(arguments: arguments.count, parameters: statement.parameterCount, sql: sql)
        }
        for (index, argument) in arguments.enumerated() {
            statement.bind(argument, at: Int32(index + 1))
        }
        // A file that is open for reading cannot be changed, but VACUUM INTO writes to another one.
        guard statement.isReadOnly else { throw SQLiteError(readOnlyRefuses: sql) }
        let columns = 0..<Int32(statement.columnCount)
        var rows: [[SQLValue]] = []
        while try statement.step() { rows.append(columns.map { statement.value($0) }) }
        return SQLRows(columns: columns.map { statement.columnName(Int($0)) }, rows: rows)
    }
}

internal import CSQLite
internal import CSQLiteVFS

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Reads statistics and runs SQL queries.
extension ResponseStore {
    /// Returns the totals of the store. Takes constant time, because every change updates them.
    public func statistics() throws(StoreError) -> StoreStatistics {
        try read { (connection) throws(SQLiteError) in try connection.statistics() }
    }

    /// Returns the rows of a query over the views `cache_entries`, `cache_stats`, `cache_hosts`, `cache_partitions`,
    /// `cache_requests`, `cache_errors`, `cache_derived` and `cache_version`; see <doc:AskingWithSQL>.
    ///
    /// The query runs on the calling thread, on a read-only connection of its own: lookups and writers do not wait for
    /// it. A query ends with an error after ``Configuration/queryTimeout``. Accesses that are only in memory are not in
    /// the result; `flush()` writes them. In views and in `sql`, `'now'` is the time of ``Configuration/clock``.
    ///
    /// ```swift
    /// for row in try store.query("SELECT url, byte_size FROM cache_entries WHERE host = ?", ["example.com"]) {
    ///     print(row["url"]?.text ?? "", row["byte_size"]?.integer ?? 0)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - sql: One SELECT statement on the views. The statement can also read `sqlite_schema`, `json_each` and
    ///     `json_tree`.
    ///   - arguments: The values of the parameters, in their order; as many as there are parameters.
    ///   - maxRows: The number of rows after which the query stops; `nil` for all rows. ``SQLRows/isTruncated`` tells
    ///     whether there are more.
    /// - Throws: ``StoreError/index(_:)`` for invalid SQL, for any other statement, for any other table, and for a
    ///   wrong number of arguments. ``StoreError/queryTimedOut(limit:)``. ``StoreError/suspended`` and
    ///   ``StoreError/closed`` when the store is suspended or closed, also during the query.
    public func query(
        _ sql: String, _ arguments: [SQLValue] = [], maxRows: Int? = nil
    ) throws(StoreError) -> SQLRows {
        try checkOpen()
        return try queries.run { (interruption) throws(StoreError) in
            try Self.query(
                sql, arguments, ofIndexAt: indexPath, at: now, timeout: configuration.queryTimeout, maxRows: maxRows,
                until: interruption)
        }
    }

    /// Returns the rows of a query like ``query(_:_:maxRows:)``, on a store that need not be open. Opens the index
    /// read-only, and never creates it.
    ///
    /// - Parameters:
    ///   - sql: One SELECT statement on the views.
    ///   - arguments: The values of the parameters, in their order; as many as there are parameters.
    ///   - directory: The directory of the store.
    ///   - timeout: The longest time that the query runs before ``StoreError/queryTimedOut(limit:)``; `nil` for no
    ///     limit.
    ///   - maxRows: The number of rows after which the query stops; `nil` for all rows.
    public static func query(
        _ sql: String, _ arguments: [SQLValue] = [], inStoreAt directory: URL, timeout: Duration? = .seconds(5),
        maxRows: Int? = nil
    ) throws(StoreError) -> SQLRows {
        try query(
            sql, arguments, ofIndexAt: StoreDirectory(opening: directory).indexPath, at: nil, timeout: timeout,
            maxRows: maxRows, until: InterruptFlag())
    }

    private static func query(
        _ sql: String, _ arguments: [SQLValue], ofIndexAt path: String, at now: Int64?, timeout: Duration?,
        maxRows: Int?, until interruption: InterruptFlag
    ) throws(StoreError) -> SQLRows {
        do throws(StoreError) {
            let connection = try wrappingErrors(path) { () throws(SQLiteError) in
                try Connection(path: path, role: .inspector, busyTimeout: min(.seconds(5), timeout ?? .seconds(5)))
            }
            connection.interrupt(by: interruption, timeLimit: timeout)
            try Migrator(path: path).identify(connection)
            return try wrappingErrors(path) { () throws(SQLiteError) in
                try connection.authorizingQueries { () throws(SQLiteError) in
                    try connection.rows(of: sql, arguments, maxRows: maxRows, at: now)
                }
            }
        } catch {
            guard case .index(let reason) = error else { throw error }
            switch reason.code {
            case SQLITE_NOTADB: throw .notAnIndex(path: path, reason: reason.message)
            case SQLITE_INTERRUPT where !interruption.isSet: throw timeout.map { .queryTimedOut(limit: $0) } ?? error
            default: throw error
            }
        }
    }
}

extension Connection {
    /// Returns the rows of a query. Refuses a statement that writes before it runs.
    ///
    /// - Parameter now: The time of SQL's `'now'`, in milliseconds since 1970; `nil` for the time of the system.
    fileprivate func rows(
        of sql: String, _ arguments: [SQLValue], maxRows: Int?, at now: Int64?
    ) throws(SQLiteError) -> SQLRows {
        if let now { csqlitevfs_set_query_time(now) }
        defer { csqlitevfs_reset_query_time() }
        let statement = try prepare(sql)
        guard arguments.count == statement.parameterCount else {
            throw SQLiteError(arguments: arguments.count, parameters: statement.parameterCount, sql: sql)
        }
        for (index, argument) in arguments.enumerated() {
            statement.bind(value: argument, at: Int32(index + 1))
        }
        // VACUUM INTO needs no authorization until it runs, and writes to another file than the one opened read-only.
        guard statement.isReadOnly else { throw SQLiteError(readOnlyRefuses: sql) }
        let limit = maxRows.map { max(0, $0) }
        let columns = 0..<Int32(statement.columnCount)
        var rows: [[SQLValue]] = []
        var isTruncated = false
        while !isTruncated, try statement.step() {
            isTruncated = rows.count == limit
            if !isTruncated { rows.append(columns.map { statement.value($0) }) }
        }
        return SQLRows(
            columns: columns.map { statement.columnName(Int($0)) }, rows: rows, isTruncated: isTruncated)
    }
}

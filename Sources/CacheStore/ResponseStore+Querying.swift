internal import CSQLite
internal import CSQLiteVFS
public import CacheFoundation

/// Reads statistics and runs SQL queries.
extension ResponseStore {
    /// Returns the totals of the store. Takes constant time, because every change updates them.
    public func statistics() throws(StoreError) -> StoreStatistics {
        try read { (connection) throws(StoreError) in try connection.statistics() }
    }

    /// Returns the rows of a query over the views `cache_entries`, `cache_stats`, `cache_hosts`, `cache_partitions`,
    /// `cache_requests`, `cache_errors`, `cache_derived` and `cache_version`; see <doc:AskingWithSQL>.
    ///
    /// The query runs on the calling thread, on a separate read-only connection, so lookups and writers do not wait for
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
    ///   - maxRows: The number of rows after which the query stops, or `nil` for all rows. ``SQLRows/isTruncated``
    ///     tells whether the query has more.
    /// - Throws: ``StoreError/index(_:)`` for invalid SQL, for any other statement, for any other table, and for a
    ///   wrong number of arguments. ``StoreError/queryTimedOut(limit:)``. ``StoreError/suspended`` and
    ///   ``StoreError/closed`` when the store is suspended or closed, also during the query.
    public func query(
        _ sql: String, _ arguments: [SQLValue] = [], maxRows: Int? = nil
    ) throws(StoreError) -> SQLRows {
        try Self.collect(maxRows) { (body) throws(StoreError) in try forEachRow(of: sql, arguments, body) }
    }

    /// Returns the rows of a query like ``query(_:_:maxRows:)``, without an open store. Opens the index read-only, and
    /// never creates it.
    ///
    /// - Parameters:
    ///   - sql: One SELECT statement on the views.
    ///   - arguments: The values of the parameters, in their order; as many as there are parameters.
    ///   - directory: The directory of the store.
    ///   - timeout: The longest time that the query runs before ``StoreError/queryTimedOut(limit:)``, or `nil` for no
    ///     limit.
    ///   - maxRows: The number of rows after which the query stops, or `nil` for all rows.
    public static func query(
        _ sql: String, _ arguments: [SQLValue] = [], inStoreAt directory: URL, timeout: Duration? = .seconds(5),
        maxRows: Int? = nil
    ) throws(StoreError) -> SQLRows {
        try collect(maxRows) { (body) throws(StoreError) in
            try forEachRow(of: sql, arguments, inStoreAt: directory, timeout: timeout, body)
        }
    }

    /// Calls `body` with each row of a query, in order, as soon as SQLite has found the row.
    ///
    /// The rules of ``query(_:_:maxRows:)`` apply, but only one row at a time is in memory. The time in `body` counts
    /// toward ``Configuration/queryTimeout``. Keep `body` short: the query keeps its snapshot of the index until this
    /// method returns, and until then the WAL cannot restart. `body` can use the store, but must not close or suspend
    /// it, because these calls wait for the query.
    ///
    /// ```swift
    /// try store.forEachRow(of: "SELECT url FROM cache_entries") { row in
    ///     print(row["url"]?.text ?? "")
    ///     return true
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - sql: One SELECT statement on the views.
    ///   - arguments: The values of the parameters, in their order; as many as there are parameters.
    ///   - body: Called on the calling thread. Returns whether to continue; `false` ends the query without an error.
    /// - Returns: The names of the columns, also if there are no rows.
    /// - Throws: The errors of ``query(_:_:maxRows:)``, also after calls of `body`.
    @discardableResult
    public func forEachRow(
        of sql: String, _ arguments: [SQLValue] = [], _ body: (SQLRows.Row) -> Bool
    ) throws(StoreError) -> [String] {
        try checkOpen()
        return try longReads.run { (interruption) throws(StoreError) in
            try Self.forEachRow(
                of: sql, arguments, inIndexAt: indexPath, at: now, timeout: configuration.queryTimeout,
                until: interruption, body)
        }
    }

    /// Calls `body` with each row of a query like ``forEachRow(of:_:_:)``, without an open store. Opens the index
    /// read-only, and never creates it.
    ///
    /// - Parameters:
    ///   - sql: One SELECT statement on the views.
    ///   - arguments: The values of the parameters, in their order; as many as there are parameters.
    ///   - directory: The directory of the store.
    ///   - timeout: The longest time that the query runs, including the time in `body`, before
    ///     ``StoreError/queryTimedOut(limit:)``. `nil` for no limit.
    ///   - body: Called on the calling thread. Returns whether to continue.
    /// - Returns: The names of the columns, also if there are no rows.
    @discardableResult
    public static func forEachRow(
        of sql: String, _ arguments: [SQLValue] = [], inStoreAt directory: URL, timeout: Duration? = .seconds(5),
        _ body: (SQLRows.Row) -> Bool
    ) throws(StoreError) -> [String] {
        try forEachRow(
            of: sql, arguments, inIndexAt: StoreDirectory(directory, createsDirectory: false).indexPath, at: nil,
            timeout: timeout, until: InterruptFlag(), body)
    }

    /// Collects the rows of a query, up to a limit.
    private static func collect(
        _ maxRows: Int?, _ query: ((SQLRows.Row) -> Bool) throws(StoreError) -> [String]
    ) throws(StoreError) -> SQLRows {
        let limit = maxRows.map { max(0, $0) }
        var rows: [[SQLValue]] = []
        var isTruncated = false
        let columns = try query { row in
            // Another row beyond the limit shows that the query has more.
            isTruncated = rows.count == limit
            if !isTruncated { rows.append(row.values) }
            return !isTruncated
        }
        return SQLRows(columns: columns, rows: rows, isTruncated: isTruncated)
    }

    private static func forEachRow(
        of sql: String, _ arguments: [SQLValue], inIndexAt path: String, at now: Int64?, timeout: Duration?,
        until interruption: InterruptFlag, _ body: (SQLRows.Row) -> Bool
    ) throws(StoreError) -> [String] {
        do throws(StoreError) {
            let connection = try Connection(
                path: path, role: .inspector, busyTimeout: min(.seconds(5), timeout ?? .seconds(5)))
            connection.interrupt(by: interruption, timeLimit: timeout)
            try connection.boundQueries()
            try Migrator(path: path).identify(connection)
            return try connection.authorizingQueries { () throws(StoreError) in
                try connection.forEachRow(of: sql, arguments, at: now, body)
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
    /// Calls `body` with each row of a query until `body` returns `false`, and returns the names of the columns.
    /// Refuses a statement that writes before running it. `now` is SQL's `'now'`, in milliseconds since 1970, or `nil`
    /// for the system's time.
    fileprivate func forEachRow(
        of sql: String, _ arguments: [SQLValue], at now: Int64?, _ body: (SQLRows.Row) -> Bool
    ) throws(StoreError) -> [String] {
        let statement = try prepare(sql)
        let parameterCount = statement.parameterCount
        guard arguments.count == parameterCount else {
            let message = "\(arguments.count) arguments were given for \(parameterCount) parameters"
            throw .index(SQLiteError(extendedCode: SQLITE_RANGE, message: message, sql: sql))
        }
        for (index, argument) in arguments.enumerated() {
            statement.bind(value: argument, at: Int32(index + 1))
        }
        // VACUUM INTO needs no authorization until it runs, and would write to a file that is not opened read-only.
        guard statement.isReadOnly else { throw .index(SQLiteError(readOnlyRefuses: sql)) }
        let indices = 0..<Int32(statement.columnCount)
        let columns = indices.map { statement.columnName(Int($0)) }
        while try step(statement, at: now) {
            guard body(SQLRows.Row(columns: columns, values: indices.map { statement.value($0) })) else { break }
        }
        return columns
    }

    /// Sets the time for one step only, because `body` may query another store on this thread.
    private func step(_ statement: Statement, at now: Int64?) throws(StoreError) -> Bool {
        if let now { csqlitevfs_set_query_time(now) }
        defer { csqlitevfs_reset_query_time() }
        return try statement.step()
    }
}

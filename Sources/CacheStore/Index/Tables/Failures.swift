public import CacheFoundation

/// Consecutive failures to load a key since its last success.
public struct LoadFailure: Hashable, Sendable {
    /// The HTTP status of the latest failure.
    public let status: Int
    /// The number of failures.
    public let count: Int
    /// The time of the latest failure.
    public let date: Date
}

/// The recorded failures of a key that a change removes.
package enum FailureSelection: Hashable, Sendable {
    case all
    /// The failures of one request, as in ``ResponseStore/failure(for:request:)``.
    case request(String)
    case none
}

/// Reads and changes the rows of `failure`.
extension Connection {
    /// The most requests whose failures are recorded. Above it, the oldest rows are dropped.
    static let maxFailures: Int64 = 10_000

    /// Returns the failures of one request for a key, or of all requests for `nil`.
    package func failure(for key: CacheKey, request: String? = nil) throws(StoreError) -> LoadFailure? {
        guard let request else { return try failures(for: key) }
        let statement = try prepared(
            "SELECT status, error_count, failed_at FROM failure WHERE partition = ?1 AND key = ?2 AND request = ?3")
        statement.bind(request, at: 3)
        return try failure(for: key, statement)
    }

    private func failures(for key: CacheKey) throws(StoreError) -> LoadFailure? {
        // SQLite takes the status from the row with the maximum. sum() would fail if a damaged row has too large a
        // number.
        let statement = try prepared(
            """
            SELECT status, CAST(total(error_count) AS INTEGER), max(failed_at) FROM failure
            WHERE partition = ?1 AND key = ?2 GROUP BY partition, key
            """)
        return try failure(for: key, statement)
    }

    private func failure(for key: CacheKey, _ statement: Statement) throws(StoreError) -> LoadFailure? {
        defer { statement.reset() }
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        guard try statement.step() else { return nil }
        return LoadFailure(
            status: statement.int(0), count: statement.int(1), date: .init(milliseconds: statement.int64(2)))
    }

    /// Counts a failure and returns the count. Starts again at 1 if the latest is older than `window` milliseconds.
    package func recordFailure(
        for key: CacheKey, request: String = "", status: Int, at now: Int64, within window: Int64? = nil
    ) throws(StoreError) -> Int {
        // With a window: if the clock was set back, the age of the latest failure is unknown, and the count starts
        // again.
        let statement = try prepared(
            """
            INSERT INTO failure (partition, key, request, status, error_count, failed_at)
            VALUES (?1, ?2, ?6, ?3, 1, ?4)
            ON CONFLICT (partition, key, request) DO UPDATE SET
                status = excluded.status, failed_at = excluded.failed_at,
                error_count = iif(?5 IS NULL OR (?4 >= failed_at AND ?4 - failed_at < ?5), error_count + 1, 1)
            RETURNING error_count
            """)
        defer { statement.reset() }
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        statement.bind(Int64(status), at: 3)
        statement.bind(now, at: 4)
        statement.bind(window, at: 5)
        statement.bind(request, at: 6)
        guard try statement.step() else { throw error(0, sql: statement.sql) }
        let count = statement.int(0)
        while try statement.step() {}
        // With a higher count, the statement has updated a row, so the table has not grown.
        if count == 1 { try forgetOldestFailures() }
        return count
    }

    private func forgetOldestFailures() throws(StoreError) {
        let statement = try prepared(
            """
            DELETE FROM failure WHERE (partition, key, request) IN (
                SELECT partition, key, request FROM failure
                ORDER BY failed_at LIMIT max(0, (SELECT failure_count FROM total) - ?1)
            )
            """)
        statement.bind(Self.maxFailures, at: 1)
        try statement.run()
    }

    /// Removes failures of a key. Returns whether the key had any.
    @discardableResult
    package func removeFailures(
        for key: CacheKey, _ selection: FailureSelection = .all
    ) throws(StoreError) -> Bool {
        // Check first, because a deletion of several rows opens a temporary table at each run, even without a match.
        guard selection != .none, try hasFailures(for: key) else { return false }
        let statement: Statement
        switch selection {
        case .all: statement = try prepared("DELETE FROM failure WHERE partition = ?1 AND key = ?2")
        case .request(let request):
            statement = try prepared("DELETE FROM failure WHERE partition = ?1 AND key = ?2 AND request = ?3")
            statement.bind(request, at: 3)
        case .none: return false
        }
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        try statement.run()
        return changes > 0
    }

    /// Removes all failures of a key, and of its URL with any fragment. Returns whether there were any.
    package func removeFailuresWithFragments(of key: CacheKey) throws(StoreError) -> Bool {
        let statement = try prepared(
            "DELETE FROM failure WHERE partition = ?1 AND key >= ?2 AND key < ?4 AND (key = ?2 OR key >= ?3)")
        statement.bindWithFragments(key)
        try statement.run()
        return changes > 0
    }

    private func hasFailures(for key: CacheKey) throws(StoreError) -> Bool {
        let statement = try prepared("SELECT 1 FROM failure WHERE partition = ?1 AND key = ?2 LIMIT 1")
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        return try statement.integer() == 1
    }
}

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Consecutive failures to load a key, since its last success.
public struct LoadFailure: Hashable, Sendable {
    /// The HTTP status of the latest failure.
    public let status: Int
    /// The number of failures.
    public let count: Int
    /// The time of the latest failure.
    public let date: Date
}

/// Reads and changes the rows of `failure`.
extension Connection {
    /// The number of keys whose failures are recorded. Beyond this number, the oldest rows are dropped.
    static let maxFailures: Int64 = 10_000

    package func failure(for key: CacheKey) throws(SQLiteError) -> LoadFailure? {
        let statement = try prepared(
            "SELECT status, error_count, failed_at FROM failure WHERE partition = ?1 AND key = ?2")
        defer { statement.reset() }
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        guard try statement.step() else { return nil }
        return LoadFailure(
            status: statement.int(0), count: statement.int(1), date: .init(milliseconds: statement.int64(2)))
    }

    /// Counts one more failure of a key; returns the count. Starts again at 1 if the latest failure is not within
    /// `window`, in milliseconds.
    package func recordFailure(
        for key: CacheKey, status: Int, at now: Int64, within window: Int64? = nil
    ) throws(SQLiteError) -> Int {
        let statement = try prepared(
            """
            INSERT INTO failure (partition, key, status, error_count, failed_at) VALUES (?1, ?2, ?3, 1, ?4)
            ON CONFLICT (partition, key) DO UPDATE SET
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
        guard try statement.step() else { throw error(0, sql: statement.sql) }
        let count = statement.int(0)
        while try statement.step() {}
        if count == 1 { try forgetOldestFailures() }
        return count
    }

    private func forgetOldestFailures() throws(SQLiteError) {
        let statement = try prepared(
            """
            DELETE FROM failure WHERE (partition, key) IN (
                SELECT partition, key FROM failure
                ORDER BY failed_at LIMIT max(0, (SELECT failure_count FROM total) - ?1)
            )
            """)
        defer { statement.reset() }
        statement.bind(Self.maxFailures, at: 1)
        while try statement.step() {}
    }

    @discardableResult
    package func removeFailure(for key: CacheKey) throws(SQLiteError) -> Bool {
        let statement = try prepared("DELETE FROM failure WHERE partition = ?1 AND key = ?2")
        defer { statement.reset() }
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        while try statement.step() {}
        return changes == 1
    }
}

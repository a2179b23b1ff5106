import CacheReports
import CacheStore
import Foundation
import HTTPTypes

/// The limits of a query, and the queries that the page offers.
enum SQLRequest {
    static let timeout = Duration.seconds(5)
    static let maxRows = 10_000
    static let maxCharacters = 65_536
    /// The most bytes of a response.
    static let maxByteCount = 8 << 20
    /// The most bytes of a statement.
    static let maxStatementByteCount = 65_536

    static let savedQueries: [(title: String, sql: String)] = [
        (
            "Largest bodies",
            "SELECT byte_size, content_type, url FROM cache_entries ORDER BY byte_size DESC LIMIT 100"
        ),
        (
            "Hosts by bytes",
            "SELECT host, entries, byte_size, hits FROM cache_hosts ORDER BY byte_size DESC LIMIT 100"
        ),
        (
            "Hit ratio by host",
            RequestCounts.queryByHost
        ),
        (
            "Stored and never used",
            """
            SELECT created_at, byte_size, url FROM cache_entries
            WHERE hit_count = 0 ORDER BY byte_size DESC LIMIT 100
            """
        ),
        (
            "Stale, without a validator",
            """
            SELECT expires_at, byte_size, url FROM cache_entries
            WHERE freshness = 'stale' AND etag IS NULL AND last_modified IS NULL LIMIT 100
            """
        ),
        (
            "Bodies that several entries share",
            """
            SELECT sha256, count(*) AS entries, byte_size, min(url) AS example FROM cache_entries
            WHERE sha256 IS NOT NULL GROUP BY sha256 HAVING count(*) > 1 ORDER BY entries * byte_size DESC LIMIT 100
            """
        ),
        (
            "Keys with the most variants",
            """
            SELECT count(*) AS variants, sum(byte_size) AS bytes, key FROM cache_entries
            GROUP BY partition, key HAVING count(*) > 1 ORDER BY variants DESC LIMIT 100
            """
        ),
        (
            "Failing keys",
            "SELECT failed_at, status, error_count, key FROM cache_errors ORDER BY failed_at DESC LIMIT 100"
        ),
    ]
}

extension StoreInspector {
    private struct Query: Decodable {
        let sql: String
        let maxRows: Int?
        enum CodingKeys: String, CodingKey {
            case sql
            case maxRows = "max_rows"
        }
    }

    /// Runs a query on the views, on a separate read-only connection and with a time limit.
    func sql(_ content: [UInt8]) throws -> JSON {
        let query = try decode(Query.self, content)
        let maxRows = query.maxRows ?? 1_000
        guard (0...SQLRequest.maxRows).contains(maxRows) else {
            throw InspectorFailure.invalid("max_rows must be a number from 0 to \(SQLRequest.maxRows)")
        }
        guard query.sql.utf8.count <= SQLRequest.maxStatementByteCount else {
            throw InspectorFailure.invalid("the statement has more than \(SQLRequest.maxStatementByteCount) bytes")
        }
        let start = ContinuousClock.now
        var (rows, byteCount, isTruncated) = ([[UInt8]](), 0, false)
        let columns: [String]
        do throws(StoreError) {
            columns = try ResponseStore.forEachRow(
                of: query.sql, inStoreAt: store.directory, timeout: SQLRequest.timeout
            ) { row in
                let values = row.values.map { JSON($0, maxCharacters: SQLRequest.maxCharacters) }
                let bytes = JSON.array(values).bytes(.page)
                byteCount += bytes.count
                isTruncated = rows.count == maxRows || byteCount > SQLRequest.maxByteCount
                if !isTruncated { rows.append(bytes) }
                return !isTruncated
            }
        } catch {
            guard case .index(let reason) = error, reason.isAboutStatement else { throw error }
            throw InspectorFailure(.badRequest, "invalid_sql", reason.message)
        }
        return [
            // The page makes objects of the rows.
            "columns": .array(JSON.names(of: columns).map { .text($0) }),
            "rows": .array(rows.map { .encoded($0) }),
            "is_truncated": .bool(isTruncated),
            "milliseconds": .number((ContinuousClock.now - start) / .milliseconds(1)),
        ]
    }

    /// Decodes the JSON object of a POST.
    func decode<Value: Decodable>(_ type: Value.Type, _ content: [UInt8]) throws(InspectorFailure) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(content))
        } catch DecodingError.keyNotFound(let key, _) {
            throw .invalid("the member \(key.stringValue) is missing")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            let path = context.codingPath.map(\.stringValue).joined(separator: ".")
            throw .invalid("the member \(path) has the wrong type")
        } catch {
            throw .invalid("the content is not a JSON object")
        }
    }
}

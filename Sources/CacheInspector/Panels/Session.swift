import CacheReports
import CacheStore
import Foundation
import Synchronization

extension StoreInspector {
    /// Describes the store and the permissions of the page.
    func session(_ csrfToken: String) throws -> JSON {
        let partitions = try store.query("SELECT partition FROM cache_partitions ORDER BY partition LIMIT 100")
        return [
            "csrf": .text(csrfToken),
            "allows_changes": .bool(allowsChanges),
            "version": .text(configuration.version),
            "directory": .text(store.directory.path(percentEncoded: false)),
            "now": .integer(store.configuration.clock().milliseconds),
            "partitions": .array([""] + partitions.map { .text($0.values[0].text ?? "") }),
            "sql": [
                "max_rows": .integer(SQLRequest.maxRows),
                "timeout_seconds": .integer(SQLRequest.timeout.components.seconds),
                "queries": .array(
                    SQLRequest.savedQueries.map { ["title": .text($0.title), "sql": .text($0.sql)] }),
            ],
        ]
    }

    /// Returns the totals of the store. Takes constant time.
    func statistics() throws -> JSON {
        let statistics = try store.statistics()
        let totals = try store.query("SELECT * FROM cache_stats")
        return [
            "totals": totals.first.map { JSON($0) } ?? nil,
            "index_bytes": .integer(statistics.indexBytes),
            "limited_bytes": .integer(statistics.limitedBytes),
            "answers": RequestCounts(try store.query(RequestCounts.query)).json,
        ]
    }
}

extension StoreInspector {
    private static let maxGroups = 500

    /// Returns the bytes by host, content type and last use. Reads every entry, so it caches the result for 5 seconds,
    /// or for ten times the duration of the query if that is longer.
    func bytes() throws -> JSON {
        if let kept = state.byteShares.withLock({ $0 }), kept.expires > .now { return kept.json }
        let start = ContinuousClock.now
        let all = try store.byteGroups()
        let groups = all.prefix(Self.maxGroups).map { group -> JSON in
            [
                "host": .text(group.host), "content_type": .text(group.contentType), "age": .text(group.age),
                "entries": .integer(group.entries), "bytes": .integer(group.bytes),
            ]
        }
        let other = all.dropFirst(Self.maxGroups).reduce((entries: Int64(0), bytes: Int64(0))) {
            ($0.entries &+ $1.entries, $0.bytes &+ $1.bytes)
        }
        let time = ContinuousClock.now - start
        let json: JSON = [
            "groups": .array(groups),
            "other": ["entries": .integer(other.entries), "bytes": .integer(other.bytes)],
            "computed_at": .integer(store.configuration.clock().milliseconds),
            "seconds": .number(time / .seconds(1)),
        ]
        state.byteShares.withLock { $0 = (json, .now + max(.seconds(5), time * 10)) }
        return json
    }
}

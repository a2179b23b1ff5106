import CacheStore
import TestSupport
import Testing

@Suite("Query plans")
struct QueryPlanTests {
    @Test("nothing that a lookup, a write or an eviction runs reads a table through, or sorts")
    func plans() throws {
        let sandbox = try Sandbox()
        let store = try sandbox.open()
        let entry = try store.insert([1, 2, 3] as [UInt8], metadata: sandbox.metadata(expiresIn: -1), for: .path("a"))
        store.close()

        let connection = try Connection(path: sandbox.indexPath, role: .writer, busyTimeout: .seconds(1))
        _ = try connection.entries(for: entry.key)
        _ = try connection.failure(for: entry.key)
        _ = try connection.statistics()
        _ = try connection.recordFailure(for: entry.key, status: 500, at: 0)
        _ = try connection.freshen(entry, entry.metadata)
        let touches = Touches()
        _ = touches.note(entry.id, at: 0)
        try connection.apply(touches.take())
        _ = try connection.removeEntry(entry)
        _ = try connection.store(entry.metadata, for: entry.key, digest: entry.digest, byteCount: 3, at: 0)
        _ = try connection.removeEntries(withBody: #require(entry.digest))
        _ = try connection.store(entry.metadata, for: entry.key, digest: entry.digest, byteCount: 3, at: 0)
        for rule in [EvictionRule.maxBytes(0), .maxEntries(0), .unusedFor(.zero), .olderThan(.zero)] {
            _ = try connection.evictBite(rule, now: 0)
            _ = try connection.store(entry.metadata, for: entry.key, digest: entry.digest, byteCount: 3, at: 0)
        }
        _ = try connection.store(entry.metadata, for: entry.key, digest: entry.digest, byteCount: 3, at: 0)
        _ = try connection.removeEntries(for: entry.key)
        _ = try connection.removeFailure(for: entry.key)
        _ = try connection.unreferencedBlobs(limit: 1)
        _ = try connection.containsBlob(#require(entry.digest))
        try connection.removeBlob(#require(entry.digest))

        let statements = connection.preparedSQL
        #expect(statements.count >= 16)
        let index = try RawIndex(sandbox.indexPath)
        for sql in statements {
            for step in try index.rows("EXPLAIN QUERY PLAN \(sql)").compactMap({ $0[3] }) {
                // `total` and `state` have one row; a walk along an index ends at the LIMIT.
                let isCheap =
                    !step.contains("SCAN") || ["SCAN total", "SCAN state"].contains(step) || step.contains(" USING ")
                #expect(isCheap && !step.contains("TEMP B-TREE"), "\(step) in \(sql)")
            }
        }
    }
}

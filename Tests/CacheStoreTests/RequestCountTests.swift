import TestSupport

@Suite("cache_requests")
struct RequestCountTests {
    let sandbox = Sandbox()

    static let query = "SELECT host, hits, stale, revalidated, tier, misses, errors FROM cache_requests ORDER BY host"

    func counts(_ store: ResponseStore) throws -> [String: [Int64]] {
        try store.flush()
        let rows = try store.query(Self.query).rows.map { row in
            (row[0].text ?? "", row.dropFirst().compactMap(\.integer))
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    @Test("each answer counts for its host, by its kind, and the counts outlast the store and its entries")
    func counting() throws {
        var store = try sandbox.open()
        let keys = try ["http://a.org/1", "http://A.org:81/2", "http://[::1]:5/"].map { try CacheKey(url: $0) }
        let entries = try keys.map { try store.insert(Data("x".utf8), metadata: sandbox.metadata(), for: $0) }
        let name = try CacheKey(name: "n")
        for use in [EntryUse.hit, .hit, .stale, .revalidated] { store.touch(entries[0], as: use) }
        store.touch(entries[1], as: .stale)
        _ = try store.lookup(keys[2])
        _ = try store.lookup(CacheKey(url: "http://a.org/none"))
        _ = try store.lookup(name)
        store.count(RequestCounts(tier: 1), for: keys[0])
        store.count(RequestCounts(misses: 1), for: keys[0])
        store.count(RequestCounts(errors: 1), for: keys[1])
        store.count(RequestCounts(errors: 1), for: try CacheKey(url: "http://b.org/"))
        // Neither call is a request.
        _ = try store.peek(keys[0])
        _ = try store.contains(keys[0])
        _ = try store.responses(for: keys[0])
        let expected: [String: [Int64]] = [
            "a.org": [2, 2, 1, 1, 2, 1], "[::1]": [1, 0, 0, 0, 0, 0], "": [0, 0, 0, 0, 1, 0],
            "b.org": [0, 0, 0, 0, 0, 1],
        ]
        #expect(try counts(store) == expected)
        #expect(try counts(store) == expected)
        #expect(try store.statistics().hits == 6)
        try store.evict(.maxEntries(0))
        store.close()
        store = try sandbox.open()
        #expect(try counts(store) == expected)
        store.count(RequestCounts(misses: 1), for: keys[0])
        store.close()
        store = try sandbox.open()
        #expect(try counts(store)["a.org"] == [2, 2, 1, 1, 3, 1])
        try store.remove(keys[0])
        #expect(try counts(store)["a.org"] == [2, 2, 1, 1, 3, 1])
        try store.clear()
        #expect(try counts(store) == [:])
        #expect(try store.check(digests: true).isSound)
    }

    @Test("the least recently requested hosts are dropped first when there are too many")
    func bounded() throws {
        let store = try sandbox.open()
        try RawIndex(sandbox.indexPath).execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
            INSERT INTO request SELECT 'host-' || i, 1, 1, 1, 1, 1, 1, i FROM n
            """)
        for host in ["new-1", "new-2", "host-3"] {
            store.count(RequestCounts(misses: 1), for: try CacheKey(url: "http://\(host)/"))
        }
        let counts = try counts(store)
        #expect(counts.count == 10_000)
        #expect(counts["host-1"] == nil)
        #expect(counts["new-1"] == [0, 0, 0, 0, 1, 0])
        #expect(counts["new-2"] == [0, 0, 0, 0, 1, 0])
        #expect(counts["host-3"] == [1, 1, 1, 1, 2, 1])
    }

    @Test("counts of more hosts than fit in memory are written early, and none is lost")
    func manyHosts() async throws {
        let store = try sandbox.open()
        for number in 0..<(AccessLog.capacity + 10) {
            store.count(RequestCounts(misses: 1), for: try CacheKey(url: "http://host-\(number)/"))
        }
        try await store.flush()
        let rows = try store.query("SELECT count(*), sum(misses) FROM cache_requests").rows
        #expect(rows == [[.integer(Int64(AccessLog.capacity + 10)), .integer(Int64(AccessLog.capacity + 10))]])
    }

    @Test("counts at their maximum do not keep the store from writing")
    func saturated() throws {
        let store = try sandbox.open()
        let key = try CacheKey.path("a")
        let entry = try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: key)
        try RawIndex(sandbox.indexPath).execute(
            "INSERT INTO request SELECT 'example.com', i, i, i, i, i, i, i FROM (SELECT \(Int64.max) AS i)")
        for use in [EntryUse.hit, .stale, .revalidated] { store.touch(entry, as: use) }
        store.count(RequestCounts(tier: 1), for: key)
        store.count(RequestCounts(misses: 1), for: key)
        store.count(RequestCounts(errors: 1), for: key)
        try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        #expect(try counts(store) == ["example.com": Array(repeating: .max, count: 6)])
    }

    @Test("reading the view writes nothing")
    func readingWritesNothing() throws {
        let store = try sandbox.open()
        _ = try store.lookup(.path("a"))
        try store.flush()
        store.count(RequestCounts(misses: 1), for: try .path("a"))
        let index = try RawIndex(sandbox.indexPath)
        let version = try index.value("PRAGMA data_version")
        for _ in 0..<5 {
            #expect(try store.query(Self.query).rows[0][5] == .integer(1))
            _ = try ResponseStore.query(Self.query, inStoreAt: sandbox.url)
        }
        #expect(try index.value("PRAGMA data_version") == version)
        #expect(try counts(store)["example.com"] == [0, 0, 0, 0, 2, 0])
        #expect(try index.value("PRAGMA data_version") != version)
    }
}

import TestSupport

@Suite("Record of removals")
struct RemovalRecordTests {
    private let fixture: RequestFixture

    init() throws { fixture = try RequestFixture(capacity: 200) }

    private func insert(_ names: [String], partition: String = "") throws {
        for name in names {
            try fixture.store.insert(
                Data(name.utf8), metadata: fixture.sandbox.metadata(),
                for: CacheKey(url: "https://example.com/\(name)", partition: partition))
        }
    }

    /// Writes the record, and returns each removal as `cause URL`, or as `cause number`.
    private func lines() throws -> [String] {
        fixture.store.requests.flush()
        return try fixture.store.requestRecords().removals.map { removal in
            #expect(removal.processID == getpid())
            return "\(removal.cause) \(removal.url.isEmpty ? "\(removal.entryCount)" : removal.url)"
        }
    }

    @Test("records evictions, removals and invalidations with their URLs")
    func causes() async throws {
        let store = fixture.store
        try insert(["a", "b", "c", "d"])
        try await store.flush()
        try await store.evict(.maxEntries(3))
        try await store.remove(CacheKey(url: "https://example.com/b"))
        try await store.invalidate([CacheKey(url: "https://example.com/c")])
        let entry = try #require(try store.lookup(CacheKey(url: "https://example.com/d")))
        try await store.remove(entry)
        #expect(
            try lines() == [
                "evicted https://example.com/a", "removed https://example.com/b", "invalidated https://example.com/c",
                "removed https://example.com/d",
            ])
        #expect(try fixture.store.requestRecords().records == [])
        #expect(try fixture.store.requestRecords().lost == 0)
    }

    @Test("a replaced entry, a removal of nothing and a failed transaction record nothing")
    func nothing() async throws {
        try insert(["a", "a"])
        try await fixture.store.remove(CacheKey(url: "https://example.com/b"))
        #expect(try lines() == [])
    }

    @Test("of a transaction, 64 removals have their URLs, and one record counts the others")
    func many() async throws {
        let store = fixture.store
        let keys = try (0..<100).map { try CacheKey(url: "https://example.com/\($0)") }
        try insert((0..<100).map { "\($0)" })
        try await store.invalidate(keys)
        let lines = try lines()
        #expect(lines.count == 65)
        #expect(lines.first == "invalidated https://example.com/0")
        #expect(lines.last == "invalidated 36")
    }

    @Test("the removal of a partition erases the removals in it")
    func erasure() throws {
        try insert(["a", "b"], partition: "user")
        try insert(["c"])
        try fixture.store.remove(CacheKey(url: "https://example.com/a", partition: "user"))
        try fixture.store.remove(CacheKey(url: "https://example.com/c"))
        #expect(try lines().count == 2)
        try fixture.store.removeAll(.partition("user"))
        #expect(try lines() == ["removed https://example.com/c"])
        #expect(try Data(contentsOf: URL(filePath: fixture.file)).range(of: Data("com/a".utf8)) == nil)
    }

    @Test("a store that records nothing reads no keys")
    func off() throws {
        let fixture = try RequestFixture(capacity: nil)
        try fixture.store.insert(Data("a".utf8), metadata: fixture.sandbox.metadata(), for: .path("a"))
        try fixture.store.remove(.path("a"))
        fixture.store.requests.flush()
        #expect(try fixture.store.requestRecords().removals == [])
    }
}

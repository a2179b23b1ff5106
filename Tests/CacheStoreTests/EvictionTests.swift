import TestSupport

@Suite("Eviction")
struct EvictionTests {
    let sandbox = Sandbox()
    let store: ResponseStore

    init() throws { store = try sandbox.open() }

    /// Stores a different body of 100 bytes for each name, one second apart. Storing no bodies is faster.
    func fill(_ names: [String], hasBodies: Bool = true, expiresIn lifetime: TimeInterval? = nil) throws {
        for name in names {
            let body = hasBodies ? Data(name.utf8) + Data(repeating: 0, count: 100 - name.utf8.count) : Data()
            try store.insert(body, metadata: sandbox.metadata(expiresIn: lifetime), for: .path(name))
            sandbox.clock.advance(by: 1)
        }
    }

    func names() throws -> [String] {
        try RawIndex(sandbox.indexPath).rows("SELECT substr(key, 21) FROM entry ORDER BY key").compactMap { $0[0] }
    }

    @Test("evicts the least recently used entries first, one by one, and no more than needed", .requirement("J5"))
    func leastRecentlyUsed() throws {
        try fill(["a", "b", "c", "d", "e"])
        for name in ["b", "a"] {
            _ = try store.lookup(.path(name))
            sandbox.clock.advance(by: 1)
        }
        for (limit, left) in [
            (500, ["a", "b", "c", "d", "e"]), (499, ["a", "b", "d", "e"]), (300, ["a", "b", "e"]), (299, ["a", "b"]),
            (100, ["a"]), (99, []),
        ] as [(Int64, [String])] {
            let before = try names().count
            let report = try store.evict(maxBytes: limit)
            #expect(report.entries == before - left.count)
            #expect(report.bytes == Int64(100 * (before - left.count)))
            #expect(try names() == left)
            #expect(sandbox.files().count == left.count)
        }
    }

    @Test("down to a number of entries, the least recently used first, stale or not", .requirement("J5"))
    func maxEntries() throws {
        try fill(["a", "b", "c"])
        try fill(["expired"], expiresIn: 1)
        try fill(["d"])
        sandbox.clock.advance(by: 10)
        _ = try store.lookup(.path("a"))
        for (limit, left) in [(5, 5), (4, 4), (2, 2), (2, 2), (0, 0)] {
            let before = try names().count
            #expect(try store.evict(.maxEntries(limit)).entries == before - left)
            if limit == 4 { #expect(try names() == ["a", "c", "d", "expired"]) }
            if limit == 2 { #expect(try names() == ["a", "d"]) }
        }
        #expect(sandbox.files().isEmpty)
        #expect(try store.check(digests: true).isSound)
    }

    @Test(
        "evicts by last access and by age, both strictly; a hit renews the access, a 304 neither, a 200 both",
        .requirement("J1"))
    func byTime() async throws {
        try fill(["used", "freshened", "replaced", "left"])
        sandbox.clock.advance(by: 96)
        // Now the entries are 100, 99, 98 and 97 seconds old.
        _ = try store.lookup(.path("used"))
        let entry = try #require(try store.peek(.path("freshened")))
        #expect(try await store.freshen(entry, with: sandbox.metadata()))
        try fill(["replaced"])
        sandbox.clock.advance(by: -1)
        #expect(try await store.evict(.olderThan(.seconds(100))).entries == 0)
        #expect(try await store.evict(.olderThan(.seconds(99))).entries == 1)
        #expect(try names() == ["freshened", "left", "replaced"])
        #expect(try await store.evict(.unusedFor(.seconds(97))).entries == 1)
        #expect(try names() == ["left", "replaced"])
        #expect(try await store.evict(.unusedFor(.zero)).entries == 1)
        #expect(try names() == ["replaced"])
        sandbox.clock.advance(by: 1)
        #expect(try await store.evict(.olderThan(.zero)).entries == 1)
        #expect(sandbox.files().isEmpty)
    }

    @Test("evicts more than one batch, and accepts extreme limits and ages")
    func extremes() throws {
        try fill((0..<600).map { "entry-\($0)" }, hasBodies: false)
        #expect(try store.evict(.olderThan(.seconds(Int64.max))).entries == 0)
        #expect(try store.evict(.unusedFor(.seconds(Int64.max))).entries == 0)
        #expect(try store.evict(.maxEntries(.max)).entries == 0)
        #expect(try store.evict(maxBytes: .max).entries == 0)
        #expect(try store.evict(.unusedFor(.zero)).entries == 600)
        try fill((0..<600).map { "entry-\($0)" }, hasBodies: false)
        #expect(try store.evict(.maxEntries(-1)).entries == 600)
        #expect(try store.check(digests: true).isSound)
    }

    @Test("an eviction on request shrinks an index of mostly free pages")
    func shrinking() throws {
        var metadata = sandbox.metadata()
        metadata.head = Array("X: \(String(repeating: "x", count: 60_000))\n".utf8)
        for number in 0..<300 { try store.insert(Data(), metadata: metadata, for: .path(number)) }
        let index = try RawIndex(sandbox.indexPath)
        func pages() throws -> Int { try #require(try index.value("PRAGMA page_count").flatMap { Int($0) }) }
        let before = try pages()
        try store.evict(.maxEntries(200))
        #expect(try pages() == before)
        try store.evict(maxBytes: 0)
        #expect(before > 4_200)
        #expect(try pages() <= Int(Connection.emptyPageCount))
    }

    @Test("evict(maxBytes: 0) leaves no file")
    func everything() throws {
        try fill((0..<700).map { "\($0)" }, expiresIn: 350)
        let report = try store.evict(maxBytes: 0)
        #expect(report.entries == 700)
        #expect(report.bytes == 70_000)
        #expect(sandbox.files() == [])
        #expect(try store.statistics().physicalBytes == 0)
        #expect(try store.check().problems == [])
    }

    @Test("the line of the README compiles in synchronous and asynchronous functions alike")
    func readme() async throws {
        try store.evict(maxBytes: 200 << 20)
        func start() throws { try store.evict(maxBytes: 200 << 20) }
        try start()
        try await store.evict(.maxBytes(200 << 20))
    }

    @Test("a lookup and a write run during an eviction")
    func concurrent() async throws {
        try fill((0..<600).map { "\($0)" }, hasBodies: false)
        // The new entry is the most recently used one. It stays even if the eviction is still running.
        async let report = store.evict(.maxEntries(1))
        try await store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("new"))
        #expect(try store.peek(.path("new")) != nil)
        #expect(try await report.entries >= 599)
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("the order survives a wall clock that was ahead for a time")
    func clockJumps() throws {
        sandbox.clock.advance(by: 10 * 365 * 86_400)
        try fill((0..<50).map { "future-\($0)" })
        for number in 0..<50 { _ = try store.lookup(.path("future-\(number)")) }
        sandbox.clock.advance(by: -10 * 365 * 86_400)
        try fill((0..<50).map { "now-\($0)" })
        try store.evict(.maxEntries(50))
        #expect(try names().allSatisfy { $0.hasPrefix("now-") })
    }

    @Test(
        "corrupt sums neither trap nor keep an eviction from ending",
        arguments: [
            "UPDATE total SET physical_bytes = \(Int64.max), last_id = -5",
            "UPDATE total SET physical_bytes = \(Int64.min)",
            "UPDATE total SET physical_bytes = \(Int64.max), unused_id = \(Int64.max)",
            "DELETE FROM total",
            "UPDATE blob SET byte_count = \(Int64.max); UPDATE total SET physical_bytes = \(Int64.max)",
            "UPDATE total SET unused_id = \(Int64.max)",
            "INSERT INTO access VALUES (1, \(Int64.min), \(Int64.min), \(Int64.min), 0)",
        ])
    func hostileSums(_ sql: String) throws {
        try fill(["a", "b", "c"])
        try RawIndex(sandbox.indexPath).execute(sql)
        _ = try? store.evict(maxBytes: 100)
        #expect(try !store.check().isSound || sql.contains("INTO access"))
    }

    @Test("access rows without an entry do not keep an eviction from ending", .timeLimit(.minutes(5)))
    func usesWithoutEntries() throws {
        try fill(["a"])
        try RawIndex(sandbox.indexPath).execute(
            """
            WITH RECURSIVE n (i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 1300)
            INSERT INTO access SELECT i, 0, 0, 0, 0 FROM n
            """)
        try store.evict(.unusedFor(.zero))
        try store.evict(maxBytes: 0)
        try store.repair()
        try store.evict(.unusedFor(.zero))
        #expect(try names() == [])
        #expect(try store.check(digests: true).isSound)
    }

    @Test("a wrong reference count does not keep entries from being removed")
    func wrongReferenceCount() throws {
        for number in 0..<3 {
            try store.insert(Data(repeating: 7, count: 100), metadata: sandbox.metadata(), for: .path(number))
        }
        try store.insert(Data(repeating: 7, count: 100), metadata: sandbox.metadata(variant: "v"), for: .path(0))
        try RawIndex(sandbox.indexPath).execute("UPDATE blob SET reference_count = 1")
        #expect(try store.remove(.path(0)))
        try store.evict(maxBytes: 0)
        for number in 0..<3 { try store.remove(.path(number)) }
        #expect(try store.statistics().entries == 0)
        #expect(sandbox.files() == [])
    }
}

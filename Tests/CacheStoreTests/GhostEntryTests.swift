import TestSupport

/// The use counts of evicted entries, which the value-aware policy remembers.
@Suite("Ghost entries")
struct GhostEntryTests {
    let sandbox = Sandbox()

    private func open(_ configure: (inout ResponseStore.Configuration) -> Void = { _ in }) throws -> ResponseStore {
        try sandbox.open {
            $0.evictionPolicy = .valueAware
            configure(&$0)
        }
    }

    private func use(_ store: ResponseStore, _ name: String, times: Int) throws {
        for _ in 0..<times { _ = try store.lookup(.path(name)) }
    }

    /// Stores `names`, uses them, and evicts all of them. Larger entries stay: they are used more often.
    private func evict(_ names: [String], uses: Int, from store: ResponseStore) throws {
        let others = names.indices.map { "other-\($0)" }
        try sandbox.fill(store, others)
        for name in others { try use(store, name, times: 100) }
        try sandbox.fill(store, names)
        for name in names { try use(store, name, times: uses) }
        try store.evict(.maxEntries(others.count))
        try #require(try sandbox.names() == others.sorted())
    }

    private func ghosts() throws -> [Int64] {
        let index = try RawIndex(sandbox.indexPath)
        let rows = try index.rows("SELECT hit_count FROM ghost ORDER BY hit_count")
        let counts = rows.compactMap { $0[0].flatMap { Int64($0) } }
        #expect(try index.value("SELECT ghost_count FROM total") == "\(counts.count)")
        return counts
    }

    @Test(
        "Under the value-aware policy, an entry that is stored again continues with its earlier uses",
        .requirement("J5"),
        arguments: EvictionPolicy.allCases)
    func comingBack(_ policy: EvictionPolicy) throws {
        let store = try open { $0.evictionPolicy = policy }
        try sandbox.fill(store, ["stays"])
        try use(store, "stays", times: 9)
        try sandbox.fill(store, ["popular"])
        try use(store, "popular", times: 5)
        try store.flush()
        sandbox.clock.advance(by: 1)
        try use(store, "stays", times: 1)
        try store.evict(.maxEntries(1))
        try #require(try sandbox.names() == ["stays"])
        try sandbox.fill(store, ["popular"])
        sandbox.clock.advance(by: 1)
        try sandbox.fill(store, ["twice"])
        try use(store, "twice", times: 2)
        try store.evict(.maxEntries(2))
        #expect(try sandbox.names() == (policy == .valueAware ? ["popular", "stays"] : ["popular", "twice"]))
        // The hit count of the entry starts at 0 again.
        let hits = try store.query("SELECT hit_count FROM cache_entries WHERE key LIKE '%popular'").rows
        #expect(hits == [[.integer(0)]])
    }

    @Test("Each eviction adds the uses since the previous one; unused entries leave no ghost entry")
    func sums() throws {
        let store = try open()
        try evict(["a", "b"], uses: 0, from: store)
        #expect(try ghosts() == [])
        try sandbox.fill(store, ["a"])
        try use(store, "a", times: 3)
        try store.evict(.maxEntries(2))
        #expect(try ghosts() == [3])
        try sandbox.fill(store, ["a"])
        try use(store, "a", times: 4)
        try store.evict(.maxEntries(2))
        #expect(try ghosts() == [7])
        try sandbox.fill(store, ["a"])
        try store.evict(.maxEntries(2))
        #expect(try ghosts() == [7])
    }

    @Test("A session entry leaves no ghost entry")
    func session() throws {
        let store = try open()
        try sandbox.fill(store, ["stays"])
        try use(store, "stays", times: 9)
        try sandbox.fill(store, ["session"], options: .init(lifetime: .session))
        try use(store, "session", times: 2)
        try store.evict(.maxEntries(1))
        try #require(try sandbox.names() == ["stays"])
        #expect(try ghosts() == [])
    }

    @Test("A replaced entry keeps the remembered uses")
    func replaced() throws {
        let store = try open()
        try evict(["a"], uses: 3, from: store)
        for byteCount in [10, 20] { try sandbox.fill(store, ["a"], byteCount: byteCount) }
        try store.evict(.maxEntries(1))
        #expect(try ghosts() == [3])
    }

    @Test("There are at most as many ghost entries as entries")
    func bound() throws {
        let store = try open()
        let names = (0..<300).map { "\($0)" }
        try evict(names, uses: 1, from: store)
        #expect(try ghosts().count == 300)
        try store.evict(.maxEntries(120))
        #expect(try ghosts().count == 120)
        try sandbox.fill(store, names)
        for name in names { try use(store, name, times: 200) }
        try store.evict(.maxEntries(70))
        #expect(try ghosts().count == 70)
        #expect(try store.check().problems == [])
        try store.evict(.maxEntries(0))
        #expect(try ghosts() == [])
    }

    @Test(
        "A removal deletes the ghost entry of its key, or all: of a partition, of everything, by a store that deletes securely",
        arguments: [
            ("a key", false, 1), ("another key", false, 2), ("an entry", true, 0), ("an entry", false, 2),
            ("a tag", false, 2), ("a tag", true, 0), ("a key", true, 0),
            ("a partition", false, 0), ("everything", false, 0),
        ])
    func removal(_ what: String, deletesSecurely: Bool, left: Int) throws {
        // A store that deletes securely remembers nothing after an eviction on request.
        let first = try open()
        try evict(["a", "b"], uses: 2, from: first)
        first.close()
        let store = try open { $0.secureDelete = deletesSecurely }
        try #require(try ghosts() == [2, 2])
        switch what {
        case "a key": try store.remove(.path("a"))
        case "an entry": try store.remove(.path("other-0"))
        case "another key": try store.remove(.path("c"))
        case "a tag": try store.removeAll(.tag("t"))
        case "a partition": try store.removeAll(.partition("user"))
        default: try store.clear()
        }
        #expect(try ghosts().count == left)
    }

    @Test("Another policy deletes the ghost entries, even if only ghost entries are left", arguments: [true, false])
    func anotherPolicy(_ hasEntries: Bool) async throws {
        let store = try open()
        try evict(["a", "b"], uses: 2, from: store)
        if !hasEntries { try await store.removeAll(.prefix("https://")) }
        try #require(try ghosts() == [2, 2])
        store.close()
        let second = try sandbox.open { $0.evictionPolicy = .leastRecentlyUsed }
        try await second.flush()
        #expect(try ghosts() == [])
    }

    @Test("Bodies beyond 50 mean sizes have the same value at any size: the oldest is evicted first")
    func largeBodies() throws {
        let store = try open()
        try sandbox.fill(store, ["large"], byteCount: 400_000)
        try sandbox.fill(store, ["larger"], byteCount: 1_000_000)
        try sandbox.fill(store, (0..<300).map { "\($0)" }, byteCount: 0)
        for name in ["large", "larger"] { try use(store, name, times: 1) }
        try store.flush()
        try store.evict(.maxEntries(301))
        #expect(try !store.contains(.path("large")))
        #expect(try store.contains(.path("larger")))
    }

    @Test("A wrong number of ghost entries is found and repaired")
    func repair() async throws {
        let store = try open()
        try evict(["a", "b"], uses: 2, from: store)
        try RawIndex(sandbox.indexPath).execute("UPDATE total SET ghost_count = -7")
        #expect(try await !store.repair().isSound)
        #expect(try await store.check().problems == [])
        #expect(try ghosts() == [2, 2])
    }

    @Test("Damaged ghost entries overflow no value; evictions continue", arguments: ["\(Int64.max)", "\(Int64.min)"])
    func damagedCounts(_ count: String) throws {
        let store = try open()
        try evict(["a", "b"], uses: 2, from: store)
        try RawIndex(sandbox.indexPath).execute("UPDATE ghost SET hit_count = \(count)")
        try sandbox.fill(store, ["a"])
        try use(store, "a", times: 1)
        try store.evict(.maxEntries(2))
        try store.evict(.maxEntries(0))
        #expect(try sandbox.names() == [])
        #expect(try ghosts() == [])
    }
}

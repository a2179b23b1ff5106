import TestSupport

@Suite("Eviction policies")
struct EvictionPolicyTests {
    let sandbox = Sandbox()

    /// Evicts entries one at a time. Returns their names in this order.
    private func evictAll(_ store: ResponseStore) throws -> String {
        var order: [String] = []
        var left = try sandbox.names()
        while !left.isEmpty {
            try store.evict(.maxEntries(left.count - 1))
            let names = try sandbox.names()
            order += left.filter { !names.contains($0) }
            if names == left { break }
            left = names
        }
        return order.joined(separator: " ")
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        /// Name, bytes and accesses of each entry, in the order of storing.
        let entries: [(String, Int, Int)]
        /// The expected order under each of the two policies.
        let expected: [EvictionPolicy: String]

        init(_ name: String, _ entries: [(String, Int, Int)], leastRecentlyUsed: String, valueAware: String) {
            testDescription = name
            self.entries = entries
            expected = [.leastRecentlyUsed: leastRecentlyUsed, .valueAware: valueAware]
        }
    }

    @Test(
        "the order of eviction", .requirement("J5"),
        arguments: [
            Case(
                "never used: the oldest; the largest", [("a", 10, 0), ("b", 9_000, 0), ("c", 300, 0)],
                leastRecentlyUsed: "a b c", valueAware: "b c a"),
            Case(
                "of one size: by last use; by number of uses", [("a", 500, 1), ("b", 500, 3), ("c", 500, 0)],
                leastRecentlyUsed: "c a b", valueAware: "c a b"),
            Case(
                "uses make up for size", [("a", 3_072, 3), ("b", 1_024, 0), ("c", 1_024, 2), ("d", 0, 1)],
                leastRecentlyUsed: "b a c d", valueAware: "b a c d"),
            Case(
                "an empty body counts as 1 KiB: no more than two uses of one with as much",
                [("empty", 0, 0), ("once", 1_024, 0), ("twice", 1_024, 1), ("thrice", 1_024, 2)],
                leastRecentlyUsed: "empty once twice thrice", valueAware: "once empty twice thrice"),
            Case(
                "what is worth the same: the oldest row", [("a", 700, 0), ("b", 700, 0), ("c", 700, 0)],
                leastRecentlyUsed: "a b c", valueAware: "a b c"),
        ], EvictionPolicy.allCases)
    func order(_ c: Case, _ policy: EvictionPolicy) throws {
        let store = try sandbox.open { $0.evictionPolicy = policy }
        for (name, byteCount, _) in c.entries { try sandbox.fill(store, [name], byteCount: byteCount) }
        for (name, _, uses) in c.entries {
            for _ in 0..<uses {
                _ = try store.lookup(.path(name))
                sandbox.clock.advance(by: 1)
            }
        }
        #expect(try evictAll(store) == c.expected[policy])
    }

    @Test(
        "neither staleness nor lifetime changes the order; pinned entries are never evicted", .requirement("J5"),
        arguments: EvictionPolicy.allCases)
    func ranks(_ policy: EvictionPolicy) throws {
        let store = try sandbox.open { $0.evictionPolicy = policy }
        try sandbox.fill(store, ["expired"], byteCount: 1, expiresIn: 1)
        try sandbox.fill(store, ["pinned"], byteCount: 9_000, options: .init(isPinned: true))
        try sandbox.fill(store, ["other"], byteCount: 9_000)
        try sandbox.fill(store, ["session"], byteCount: 1, options: .init(lifetime: .session))
        for name in ["expired", "session"] {
            for _ in 0..<5 { _ = try store.lookup(.path(name)) }
        }
        sandbox.clock.advance(by: 100)
        #expect(try evictAll(store) == "other expired session")
        #expect(try sandbox.names() == ["pinned"])
        try store.setOptions(.init(isPinned: false), for: .path("pinned"))
        #expect(try evictAll(store) == "pinned")
    }

    /// The number of rounds until a store of four evicts an entry that was accessed four times at first.
    private func roundsOfOnceUsed(_ policy: EvictionPolicy, using again: Bool = false) throws -> Int? {
        let store = try sandbox.open { $0.evictionPolicy = policy }
        try sandbox.fill(store, ["popular"])
        for _ in 0..<4 { _ = try store.lookup(.path("popular")) }
        for round in 0..<100 {
            try sandbox.fill(store, ["\(round)"])
            try store.evict(.maxEntries(4))
            guard try store.contains(.path("popular")) else { return round }
            if again { _ = try store.lookup(.path("popular")) }
        }
        return nil
    }

    @Test("a formerly popular entry is evicted in the end; later by the value-aware policy")
    func ageing() throws {
        #expect(try roundsOfOnceUsed(.leastRecentlyUsed) == 3)
        sandbox.clock.advance(by: 1_000)
        try sandbox.open().evict(maxBytes: 0)
        let rounds = try #require(try roundsOfOnceUsed(.valueAware))
        #expect((8...40).contains(rounds), "\(rounds)")
    }

    @Test("a popular entry survives any number of entries that are requested once", arguments: EvictionPolicy.allCases)
    func popular(_ policy: EvictionPolicy) throws {
        #expect(try roundsOfOnceUsed(policy, using: true) == nil)
    }

    @Test(
        "malformed rows make no policy trap, overflow or loop forever",
        arguments: [
            "access SET hit_count = \(Int64.max)", "access SET hit_count = \(Int64.min)",
            "access SET recency = \(Int64.max)", "access SET recency = \(Int64.min)",
            "access SET accessed_at = \(Int64.max)", "priority SET priority = \(Int64.max)",
            "priority SET priority = \(Int64.min)", "total SET eviction_age = \(Int64.max)",
            "total SET eviction_age = \(Int64.min)", "total SET unused_id = \(Int64.max)",
            "state SET reordered_id = \(Int64.max)", "total SET ghost_count = \(Int64.max)",
            "total SET ghost_count = \(Int64.min)", "total SET ghost_position = \(Int64.max)",
            "total SET logical_bytes = 1 << 60", "total SET logical_bytes = -1 << 60",
            "total SET entry_count = 1 << 60", "total SET derived_bytes = -1 << 60",
        ], EvictionPolicy.allCases)
    func hostile(_ sql: String, _ policy: EvictionPolicy) throws {
        let store = try sandbox.open { $0.evictionPolicy = policy }
        try sandbox.fill(store, ["a", "b", "c"])
        let index = try RawIndex(sandbox.indexPath)
        _ = try store.lookup(.path("a"))
        try store.flush()
        try index.execute("UPDATE \(sql)")
        for name in ["a", "b", "c"] { _ = try store.lookup(.path(name)) }
        try store.evict(.maxEntries(2))
        try sandbox.fill(store, ["a", "d"])
        #expect(try index.value("PRAGMA integrity_check") == "ok")
        try store.evict(.unusedFor(.seconds(-1)))
        try store.evict(.maxEntries(0))
        try store.repair()
        try store.evict(.maxEntries(0))
        #expect(try sandbox.names() == [])
    }

    @Test("a new entry stays, even with the least value; the least valuable older entry is evicted")
    func newEntryStays() throws {
        let store = try sandbox.open {
            $0.evictionPolicy = .valueAware
            $0.limits = Limits(maxEntries: 3, lowWaterMark: 1)
        }
        try sandbox.fill(store, ["a", "b", "c"])
        for name in ["a", "b", "c"] { _ = try store.lookup(.path(name)) }
        try sandbox.fill(store, ["new"])
        #expect(try sandbox.names() == ["b", "c", "new"])
        #expect(try store.check(digests: true).problems == [])
    }

    @Test(
        "an eviction by last access evicts the same entries with every policy, in any number of batches",
        arguments: EvictionPolicy.allCases)
    func unused(_ policy: EvictionPolicy) throws {
        let store = try sandbox.open { $0.evictionPolicy = policy }
        try sandbox.fill(store, (0..<700).map { "\($0)" }, byteCount: 0)
        for number in stride(from: 0, to: 700, by: 7) { _ = try store.lookup(.path(number)) }
        try store.setOptions(.init(isPinned: true), for: .path(1))
        try store.flush()
        sandbox.clock.advance(by: 50)
        let dry = try store.evict(.unusedFor(.seconds(100)), dryRun: true)
        #expect(dry.entries == 650 - 93 - 1)
        #expect(try store.evict(.unusedFor(.seconds(100))) == dry)
        #expect(try store.contains(.path(1)))
        #expect(try store.contains(.path(7)))
        #expect(try store.contains(.path(650)))
        #expect(try !store.contains(.path(649)))
        #expect(try !store.contains(.path(2)))
    }
}

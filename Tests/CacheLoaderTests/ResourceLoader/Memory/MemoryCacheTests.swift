import TestSupport

@Suite("MemoryCache") struct MemoryCacheTests {
    let clock = ManualClock()

    private func cache(_ costLimit: Int?, _ keys: String = "", cost: Int = 10) -> MemoryCache<String, Int> {
        let cache = MemoryCache<String, Int>(costLimit: costLimit, clock: clock.date)
        for (number, key) in keys.enumerated() { cache.insert(number, for: String(key), cost: cost) }
        return cache
    }

    /// Removes all values, from the oldest to the newest.
    private func drain(_ cache: MemoryCache<String, Int>) -> String {
        var keys = ""
        while let key = cache.oldestKey {
            keys += key
            cache.remove(key)
        }
        return keys
    }

    // MARK: G1

    @Test("Without a limit, the cache keeps all values at any cost", .requirement("G1"))
    func unlimited() {
        let cache = cache(nil, "abcdefghijklmnopqrstuvwxyz", cost: 1 << 50)
        #expect(cache.count == 26)
        #expect(cache.totalCost == 26 << 50)
        cache.insert(0, for: "huge", cost: .max)
        #expect(drain(cache) == "huge", "a sum cannot be larger than the largest number")
    }

    @Test("Caches share nothing", .requirement("G1"))
    func independence() {
        let (one, other) = (cache(100, "abc"), cache(100, "abc"))
        one.insert(9, for: "a", cost: 20)
        one.costLimit = 20
        one.respond(to: .critical)
        one.removeAll()
        #expect(other.count == 3)
        #expect(other.totalCost == 30)
        #expect(other.costLimit == 100)
        #expect(other.value(for: "a") == 0)
    }

    // MARK: G2, after Nimbus' NIMemoryCacheTests

    enum Step: Sendable {
        case insert(String)
        case use(String)
        case peek(String)
        case contains(String)
        case remove(String)
    }

    @Test(
        "Insert and use make a value the newest, peek and contains do not", .requirement("G2"),
        arguments: [
            ([], "abc"),
            ([.use("a")], "bca"),
            ([.use("b")], "acb"),
            ([.use("c")], "abc"),
            ([.use("a"), .use("b"), .use("a")], "cba"),
            ([.use("none")], "abc"),
            ([.insert("a")], "bca"),
            ([.insert("c")], "abc"),
            ([.insert("d"), .use("a")], "bcda"),
            ([.peek("a"), .peek("b")], "abc"),
            ([.contains("a"), .contains("none")], "abc"),
            ([.remove("a")], "bc"),
            ([.remove("b")], "ac"),
            ([.remove("c")], "ab"),
            ([.remove("b"), .insert("d"), .insert("b")], "acdb"),
            ([.remove("a"), .remove("b"), .remove("c")], ""),
            ([.remove("a"), .remove("b"), .remove("c"), .insert("x"), .insert("y")], "xy"),
        ] as [([Step], String)])
    func order(steps: [Step], expected: String) {
        let cache = cache(nil, "abc")
        for step in steps {
            switch step {
            case .insert(let key): cache.insert(0, for: key, cost: 1)
            case .use(let key): _ = cache.value(for: key)
            case .peek(let key): _ = cache.peek(key)
            case .contains(let key): _ = cache.contains(key)
            case .remove(let key): cache.remove(key)
            }
        }
        #expect(cache.oldestKey == expected.first.map { String($0) })
        #expect(cache.newestKey == expected.last.map { String($0) })
        #expect(drain(cache) == expected)
    }

    @Test("Oldest and newest skip expired values, and leave them in place", .requirement("G2"))
    func introspection() {
        let cache = cache(nil)
        for (key, lifetime) in [("a", 10.0), ("b", nil), ("c", 30), ("d", nil), ("e", 20)] {
            cache.insert(0, for: key, cost: 1, expiresAt: lifetime.map { clock.now + $0 })
        }
        #expect(cache.oldestKey == "a")
        #expect(cache.newestKey == "e")
        clock.advance(by: 10)
        #expect(cache.oldestKey == "b")
        #expect(cache.newestKey == "e")
        clock.advance(by: 20)
        #expect(cache.oldestKey == "b")
        #expect(cache.newestKey == "d")
        #expect(cache.count == 5)
        cache.remove("b")
        cache.remove("d")
        #expect(cache.oldestKey == nil)
        #expect(cache.newestKey == nil)
        #expect(cache.count == 3)
    }

    @Test("After the removal of many values, the remaining ones are found")
    func compaction() {
        let cache = MemoryCache<Int, Int>(costLimit: nil, clock: clock.date)
        for number in 0..<1000 { cache.insert(number, for: number, cost: 1) }
        cache.costLimit = 7
        for number in 993..<1000 { #expect(cache.peek(number) == number) }
        #expect(cache.oldestKey == 993)
        #expect(cache.newestKey == 999)
        #expect(cache.count == 7)
        cache.costLimit = 100
        for number in 0..<50 { cache.insert(number, for: number, cost: 1) }
        #expect(cache.removeAll { $0 < 993 } == FreedMemory(count: 50, cost: 50))
        #expect(cache.oldestKey == 993)
        #expect(cache.newestKey == 999)
        #expect(cache.totalCost == 7)
    }

    // MARK: G3

    @Test("A replacement needs no space for the replaced value", .requirement("G3"))
    func replacementAtTheLimit() {
        let cache = cache(100, "abcdefghij")
        cache.insert(0, for: "j", cost: 20)
        #expect(cache.totalCost == 100)
        #expect(drain(cache) == "bcdefghij", "a had to go for the 10 more")
    }

    @Test(
        "A value larger than the limit is not admitted and evicts nothing", .requirement("G3"),
        arguments: [
            (cost: 100, isAdmitted: true, left: "new"),
            (101, false, "abcdefghij"),
            (.max, false, "abcdefghij"),
        ] as [(cost: Int, isAdmitted: Bool, left: String)])
    func oversize(cost: Int, isAdmitted: Bool, left: String) {
        let cache = cache(100, "abcdefghij")
        #expect(cache.insert(0, for: "new", cost: cost) == isAdmitted)
        #expect(cache.totalCost == 100)
        #expect(drain(cache) == left)
    }

    @Test("Inserting an oversize value removes the older value of its key", .requirement("G3"))
    func oversizeReplacement() {
        let cache = cache(100, "abcdefghij")
        #expect(!cache.insert(0, for: "c", cost: 101))
        #expect(cache.value(for: "c") == nil)
        #expect(cache.totalCost == 90)
        #expect(drain(cache) == "abdefghij")
    }

    // MARK: G5

    @Test(
        "A value expires at its expiry", .requirement("G5"),
        arguments: [
            (after: -1.0, isThere: true), (0, false), (1, false),
        ])
    func boundary(after: TimeInterval, isThere: Bool) {
        for access in [{ $0.value(for: "a") }, { $0.peek("a") }, { $0.contains("a") ? 1 : nil }]
            as [(MemoryCache<String, Int>) -> Int?]
        {
            let clock = ManualClock()
            let cache = MemoryCache<String, Int>(costLimit: 100, clock: clock.date)
            cache.insert(1, for: "a", cost: 10, expiresAt: clock.now + 60)
            clock.advance(by: 60 + after)
            #expect(cache.count == 1)
            #expect(access(cache) == (isThere ? 1 : nil))
            #expect(cache.count == (isThere ? 1 : 0), "expired is removed on access")
            #expect(cache.totalCost == (isThere ? 10 : 0))
            #expect(cache.remove("a") == isThere)
        }
    }

    @Test("Inserting an expired value removes the old one", .requirement("G5"), arguments: [-1.0, 0])
    func insertingExpired(after: TimeInterval) {
        let cache = cache(nil, "ab")
        #expect(!cache.insert(9, for: "a", cost: 10, expiresAt: clock.now + after))
        #expect(cache.count == 1)
        #expect(cache.totalCost == 10)
        #expect(cache.value(for: "a") == nil)
        #expect(cache.value(for: "b") == 1)
    }

    @Test("Removing expired values keeps the order of the rest, and reports the count", .requirement("G5"))
    func removingExpired() {
        let cache = cache(nil, "xy")
        for (key, lifetime) in [("a", 10.0), ("b", 20), ("c", 10)] {
            cache.insert(0, for: key, cost: 5, expiresAt: clock.now + lifetime)
        }
        #expect(cache.removeExpired() == FreedMemory())
        clock.advance(by: 10)
        #expect(!cache.remove("c"), "removed, but there was no value any more")
        #expect(cache.removeExpired() == FreedMemory(count: 1, cost: 5))
        #expect(drain(cache) == "xyb")
    }
}

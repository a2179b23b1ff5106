import TestSupport

@Suite("MemoryCache: evicted values") struct EvictedValuesTests {
    let clock = ManualClock()

    private func cache(_ costLimit: Int? = 100) -> MemoryCache<Int, Box> {
        MemoryCache(costLimit: costLimit, clock: clock.date)
    }

    enum Loss: Sendable, CaseIterable {
        case evictAll, eviction, lowerLimit, pressure, remove, removeAll, removeAllWhere, removeExpired, replacement,
            expired
        case oversize

        var isEviction: Bool {
            switch self {
            case .evictAll, .eviction, .lowerLimit, .pressure: true
            default: false
            }
        }

        /// `insert` adds a value with a key and a cost.
        func happen<Value>(to cache: MemoryCache<Int, Value>, _ clock: ManualClock, insert: (Int, Int) -> Void) {
            switch self {
            case .evictAll: cache.evictAll()
            case .eviction: insert(2, 100)
            case .lowerLimit: cache.costLimit = 39
            case .pressure: cache.respond(to: .critical)
            case .remove: cache.remove(1)
            case .removeAll: cache.removeAll()
            case .removeAllWhere: cache.removeAll { $0 == 1 }
            case .removeExpired:
                clock.advance(by: 60)
                cache.removeExpired()
            case .replacement: insert(1, 1)
            case .expired:
                clock.advance(by: 60)
                _ = cache.value(for: 1)
            case .oversize: insert(1, 101)
            }
        }
    }

    private func lose(_ cache: MemoryCache<Int, Box>, by loss: Loss) {
        loss.happen(to: cache, clock) { cache.insert(Box(3), for: $0, cost: $1) }
    }

    @Test(
        "An evicted value is found while the program holds it; a removed one is not", .requirement("G7"),
        arguments: Loss.allCases)
    func losses(_ loss: Loss) {
        let cache = cache()
        let held = Box(1)
        cache.insert(held, for: 1, cost: 40, expiresAt: clock.now + 60)
        lose(cache, by: loss)
        #expect(cache.peek(1) !== held, "peek and contains do not look")
        #expect(!cache.contains(1) || loss == .replacement, "peek and contains do not look")
        #expect((cache.value(for: 1) === held) == loss.isEviction)
    }

    @Test(
        "An evicted value that is then removed is not found", .requirement("G7"),
        arguments: [
            Loss.remove, .removeAll, .removeAllWhere, .replacement, .expired, .oversize,
        ])
    func removedAfterwards(_ loss: Loss) {
        let cache = cache()
        let held = Box(1)
        cache.insert(held, for: 1, cost: 40, expiresAt: clock.now + 60)
        cache.evictAll()
        lose(cache, by: loss)
        #expect(cache.value(for: 1) !== held)
    }

    @Test(
        "An evicted value that the program does not hold is not found", .requirement("G7"),
        arguments: [Loss.evictAll, .eviction, .lowerLimit, .pressure])
    func released(_ loss: Loss) {
        let cache = cache()
        cache.insert(Box(1), for: 1, cost: 40)
        lose(cache, by: loss)
        #expect(cache.value(for: 1) == nil)
    }

    @Test("A found value is in the cache again: newest, with its cost and its expiry", .requirement("G7"))
    func readmission() {
        let cache = cache()
        let held = Box(1)
        cache.insert(held, for: 1, cost: 40, expiresAt: clock.now + 60)
        cache.evictAll()
        for key in 2...9 { cache.insert(Box(key), for: key, cost: 10) }
        #expect(cache.value(for: 1) === held)
        #expect(cache.totalCost == 100, "two had to make room")
        #expect(cache.count == 7, "two had to make room")
        #expect(cache.newestKey == 1)
        #expect(cache.oldestKey == 4)
        clock.advance(by: 60)
        #expect(cache.value(for: 1) == nil)
    }

    @Test("A held value above the limit is found again and again", .requirement("G7"))
    func tooLarge() {
        let cache = cache()
        let held = Box(1)
        cache.insert(held, for: 1, cost: 40)
        cache.costLimit = 39
        #expect(cache.value(for: 1) === held)
        #expect(cache.value(for: 1) === held)
        #expect(cache.count == 0)
        cache.costLimit = 40
        #expect(cache.value(for: 1) === held)
        #expect(cache.count == 1)
    }

    @Test("After a large purge, the few held values are found, however old", .requirement("G7"))
    func largePurge() {
        let cache = cache(nil)
        let held = [0, 5_000, 9_999].map { Box($0) }
        for box in held { cache.insert(box, for: box.id, cost: 1) }
        for number in 0..<10_000 where !held.contains(where: { $0.id == number }) {
            cache.insert(Box(number), for: number, cost: 1)
        }
        #expect(cache.evictAll() == FreedMemory(count: 10_000, cost: 10_000))
        for box in held { #expect(cache.value(for: box.id) === box) }
        #expect(cache.count == 3)
    }

    @Test("Of many held values, the last evicted are found: the table is bounded", .requirement("G7"))
    func bounded() {
        let capacity = EvictedReferences<Int, Box>.capacity
        let cache = cache(nil)
        let held = (0..<(3 * capacity)).map { Box($0) }
        for box in held { cache.insert(box, for: box.id, cost: 1) }
        cache.evictAll()
        let found = held.filter { cache.value(for: $0.id) === $0 }
        #expect(found.map(\.id) == Array((2 * capacity)..<(3 * capacity)))
    }

    @Test("The table stays bounded under single evictions", .requirement("G7"))
    func boundedInSmallSteps() {
        var references = EvictedReferences<Int, Box>()
        let capacity = EvictedReferences<Int, Box>.capacity
        let held = Box(0)
        for number in 0..<(10 * capacity) {
            let box = number == 0 ? held : Box(number)
            references.insert(.init(key: number, value: box, cost: 1, expiresAt: nil))
            _ = references.sweep()
            #expect(references.count <= 2 * capacity)
        }
        #expect(references.take(0, at: clock.now)?.value === held)
        #expect(references.take(0, at: clock.now) == nil, "it is noted no longer")
    }

    @Test("A value type is not recorded", .requirement("G7"))
    func valueTypes() {
        var references = EvictedReferences<Int, [Int]>()
        references.insert(.init(key: 1, value: [1, 2, 3], cost: 1, expiresAt: nil))
        #expect(references.count == 0)
        let cache = MemoryCache<Int, String>(costLimit: nil, clock: clock.date)
        cache.insert("a string that is too long to stand in its own bits", for: 1, cost: 1)
        cache.evictAll()
        #expect(cache.value(for: 1) == nil)
    }

    @Test("Records a class instance in an existential, but not a value type", .requirement("G7"))
    func boxes() {
        let cache = MemoryCache<Int, any Sendable>(costLimit: nil, clock: clock.date)
        let (box, number) = (Box(1), 7)
        cache.insert(box, for: 1, cost: 1)
        cache.insert(number, for: 2, cost: 1)
        cache.evictAll()
        #expect(cache.value(for: 1) as? Box === box)
        #expect(cache.value(for: 2) == nil)
    }

    @Test("Releases values outside the lock", .timeLimit(.minutes(5)), arguments: Loss.allCases)
    func farewell(_ loss: Loss) {
        // Otherwise the thread would lock the cache a second time.
        let cache = MemoryCache<Int, Farewell>(costLimit: 100, clock: clock.date)
        let seen = Mutex<[Int]>([])
        func insert(_ key: Int, cost: Int, expiresAt: Date? = nil) {
            let value = Farewell { [weak cache] in
                guard let cache else { return }
                seen.withLock { $0.append(cache.count) }
            }
            cache.insert(value, for: key, cost: cost, expiresAt: expiresAt)
        }
        insert(1, cost: 40, expiresAt: clock.now + 60)
        loss.happen(to: cache, clock) { insert($0, cost: $1) }
        let left = loss == .eviction || loss == .replacement ? 1 : 0
        // The oversize value is released, too, after the value it should replace.
        #expect(seen.withLock { $0 } == Array(repeating: left, count: loss == .oversize ? 2 : 1))
    }
}

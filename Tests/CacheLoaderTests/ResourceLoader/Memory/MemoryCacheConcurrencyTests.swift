import TestSupport

/// A value that is counted while it lives.
private final class Counted: Sendable {
    let key: Int
    private let living: Living

    init(_ key: Int, _ living: Living) {
        self.key = key
        self.living = living
        living.count.wrappingAdd(1, ordering: .relaxed)
    }

    deinit { living.count.wrappingSubtract(1, ordering: .relaxed) }
}

private final class Living: Sendable {
    let count = Atomic(0)
}

@Suite("MemoryCache: concurrent use") struct MemoryCacheConcurrencyTests {
    private typealias Cache = MemoryCache<Int, Counted>

    /// Performs a random operation, and checks its result. `held` are the values that this task retains.
    private static func act(
        on cache: Cache, _ held: inout [Counted], _ living: Living, _ source: MemoryPressureSource,
        _ clock: ManualClock,
        _ generator: inout SeededGenerator
    ) {
        let key = Int.random(in: 0..<60, using: &generator)
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<50:
            guard let value = cache.value(for: key) else { return }
            #expect(value.key == key, "\(generator)")
            held.append(value)
        case ..<80:
            let expiresAt = Bool.random(using: &generator) ? clock.now + 5 : nil
            cache.insert(
                Counted(key, living), for: key, cost: .random(in: 0...30, using: &generator), expiresAt: expiresAt)
        case ..<86: held.removeAll()
        case ..<90: if let value = cache.peek(key) { #expect(value.key == key, "\(generator)") }
        case ..<92: cache.remove(key)
        case ..<94: cache.evictAll()
        case ..<95: cache.removeAll { $0 % 7 == 0 }
        case ..<96: source.signal(.warning)
        case ..<97: cache.costLimit = .random(in: 1...1_000, using: &generator)
        case ..<98: clock.advance(by: 1)
        case ..<99: cache.removeExpired()
        default:
            #expect(cache.totalCost >= 0, "\(generator)")
            #expect(cache.count >= 0, "\(generator)")
        }
    }

    @Test("8 tasks run 3,000 operations each, and no value is mixed up, lost or leaked")
    func tasks() async {
        let (clock, source, living) = (ManualClock(), MemoryPressureSource(), Living())
        let seed = SeededGenerator()
        let cache = Cache(costLimit: 500, pressure: source, clock: clock.date)
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed.seed &+ UInt64(task))
                    var held: [Counted] = []
                    for step in 0..<3_000 {
                        Self.act(on: cache, &held, living, source, clock, &generator)
                        if step % 100 == 0 { await Task.yield() }
                    }
                }
            }
        }
        #expect(living.count.load(ordering: .relaxed) == cache.count, "\(seed)")
        var (sum, keys) = (0, Set<Int>())
        cache.costLimit = 700
        while let key = cache.oldestKey {
            let before = cache.totalCost
            #expect(cache.remove(key), "\(seed)")
            sum += before - cache.totalCost
            #expect(keys.insert(key).inserted, "\(seed)")
        }
        #expect(sum <= 700, "\(seed)")
        cache.removeAll()
        #expect(cache.totalCost == 0, "\(seed)")
        #expect(living.count.load(ordering: .relaxed) == 0, "\(seed)")
    }

    @Test("An object released during its lookup is found whole, or not at all", .requirement("G7"))
    func lettingGo() async {
        let living = Living()
        let cache = Cache(costLimit: nil)
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for round in 0..<2_000 {
                        let value = cache.value(for: 1) ?? Counted(1, living)
                        #expect(value.key == 1)
                        if round % 2 == 0 { cache.insert(value, for: 1, cost: 1) } else { cache.evictAll() }
                    }
                }
            }
        }
        cache.evictAll()
        #expect(living.count.load(ordering: .relaxed) == 0)
        #expect(cache.value(for: 1) == nil)
    }
}

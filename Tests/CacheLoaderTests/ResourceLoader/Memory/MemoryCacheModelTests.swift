import TestSupport

/// The expected content of a cache, kept in an array.
private struct Model {
    struct Item {
        var key: Int
        var id: Int
        var cost: Int
        var expiresAt: Date?

        func hasExpired(_ now: Date) -> Bool { expiresAt.map { $0 <= now } ?? false }
    }

    /// From the oldest to the newest.
    var items: [Item] = []
    var evicted: [Int: Item] = [:]
    var costLimit: Int?
    var signals: [(pressure: MemoryPressure, at: Date)] = []
    var costBefore = 0

    var totalCost: Int { items.reduce(0) { $0 + $1.cost } }

    /// The warnings of the last 10 s, and the more severe signals.
    func active(_ now: Date) -> Set<MemoryPressure> { Set(signals.filter { now < $0.at + 10 }.map(\.pressure)) }

    func limit(_ now: Date) -> Int {
        let whole = costLimit ?? costBefore
        let active = active(now)
        if active.contains(.critical) { return whole / 10 }
        if active.contains(.warning) { return whole / 2 }
        return costLimit ?? .max
    }

    @discardableResult
    mutating func evict(_ target: Int) -> Int {
        let before = items.count
        while totalCost > target {
            let item = items.removeFirst()
            evicted[item.key] = item
        }
        return before - items.count
    }

    mutating func evictAll() -> Int {
        defer { items = [] }
        for item in items { evicted[item.key] = item }
        return items.count
    }

    mutating func remove(_ key: Int) -> Item? { items.firstIndex { $0.key == key }.map { items.remove(at: $0) } }

    mutating func admit(_ item: Item, _ now: Date) -> Bool {
        guard item.cost <= limit(now) else { return false }
        evict(limit(now) - item.cost)
        items.append(item)
        return true
    }

    mutating func insert(_ item: Item, _ now: Date) -> Bool {
        _ = remove(item.key)
        evicted[item.key] = nil
        return !item.hasExpired(now) && admit(item, now)
    }

    mutating func use(_ key: Int, isHeld: (Int) -> Bool, _ now: Date) -> Int? {
        if let item = remove(key) {
            guard !item.hasExpired(now) else { return nil }
            items.append(item)
            return item.id
        }
        guard let item = evicted.removeValue(forKey: key), isHeld(item.id), !item.hasExpired(now) else { return nil }
        if !admit(item, now) { evicted[key] = item }
        return item.id
    }

    mutating func peek(_ key: Int, _ now: Date) -> Int? {
        guard let item = items.first(where: { $0.key == key }) else { return nil }
        guard item.hasExpired(now) else { return item.id }
        _ = remove(key)
        return nil
    }

    mutating func removeExpired(_ now: Date) -> Int {
        let before = items.count
        items.removeAll { $0.hasExpired(now) }
        return before - items.count
    }

    mutating func respond(_ pressure: MemoryPressure, _ now: Date) -> Int {
        let expired = removeExpired(now)
        if active(now).isEmpty { costBefore = totalCost }
        signals.append((pressure, now))
        return expired + evict(limit(now))
    }
}

@Suite("MemoryCache against a model") struct MemoryCacheModelTests {
    @Test(
        "10,000 random operations have the same effect as on an array",
        .requirement("G1", "G2", "G3", "G4", "G5", "G7"), arguments: 0..<3)
    func random(_: Int) {
        var generator = SeededGenerator()
        let seed = Comment(rawValue: generator.description)
        let clock = ManualClock()
        let stress = StressLimits(warning: 0.5, critical: 0.1, duration: .seconds(10))
        let cache = MemoryCache<Int, Box>(costLimit: nil, stress: stress, clock: clock.date)
        var model = Model()
        /// The values that the program holds.
        var held: [Int: Box] = [:]

        for id in 0..<10_000 {
            let (key, now) = (Int.random(in: 0..<40, using: &generator), clock.now)
            switch Int.random(in: 0..<100, using: &generator) {
            case ..<35:
                let lifetime = [nil, nil, -1.0, 0, 1, 5, 50].randomElement(using: &generator) ?? nil
                let item = Model.Item(
                    key: key, id: id, cost: .random(in: 0...120, using: &generator),
                    expiresAt: lifetime.map { now + $0 })
                let box = Box(id)
                if Bool.random(using: &generator) { held[id] = box }
                let isAdmitted = cache.insert(box, for: key, cost: item.cost, expiresAt: item.expiresAt)
                #expect(isAdmitted == model.insert(item, now), seed)
            case ..<65:
                #expect(cache.value(for: key)?.id == model.use(key, isHeld: { held[$0] != nil }, now), seed)
            case ..<70:
                #expect(cache.peek(key)?.id == model.peek(key, now), seed)
            case ..<75:
                #expect(cache.contains(key) == (model.peek(key, now) != nil), seed)
            case ..<80:
                let removed = model.remove(key)
                model.evicted[key] = nil
                #expect(cache.remove(key) == (removed.map { !$0.hasExpired(now) } ?? false), seed)
            case ..<86:
                clock.advance(by: [0.5, 1, 3].randomElement(using: &generator) ?? 1)
            case ..<91:
                held = held.filter { _ in Bool.random(using: &generator) }
            case ..<94:
                model.costLimit = [nil, 0, 100, 500, 1_000, 2_000].randomElement(using: &generator) ?? nil
                cache.costLimit = model.costLimit
                model.evict(model.limit(now))
            case ..<96:
                let pressure = MemoryPressure.allCases.randomElement(using: &generator) ?? .warning
                #expect(cache.respond(to: pressure).count == model.respond(pressure, now), seed)
            case ..<97:
                #expect(cache.removeExpired().count == model.removeExpired(now), seed)
            case ..<98:
                let (before, cost) = (model.items.count, model.totalCost)
                model.items.removeAll { $0.key % 3 == key % 3 }
                model.evicted = model.evicted.filter { $0.key % 3 != key % 3 }
                let expected = FreedMemory(count: before - model.items.count, cost: cost - model.totalCost)
                #expect(cache.removeAll { $0 % 3 == key % 3 } == expected, seed)
            case ..<99:
                let cost = model.totalCost
                #expect(cache.evictAll() == FreedMemory(count: model.evictAll(), cost: cost), seed)
            default:
                #expect(cache.removeAll() == FreedMemory(count: model.items.count, cost: model.totalCost), seed)
                (model.items, model.evicted) = ([], [:])
            }
            let rest = model.items.filter { !$0.hasExpired(clock.now) }
            #expect(cache.count == model.items.count, seed)
            #expect(cache.totalCost == model.totalCost, seed)
            #expect(cache.oldestKey == rest.first?.key, seed)
            #expect(cache.newestKey == rest.last?.key, seed)
        }

        var order: [Int] = []
        while let key = cache.oldestKey {
            order.append(key)
            cache.remove(key)
        }
        #expect(order == model.items.filter { !$0.hasExpired(clock.now) }.map(\.key), seed)
    }
}

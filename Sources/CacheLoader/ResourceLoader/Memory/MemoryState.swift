internal import CacheFoundation

/// The contents and limits of a memory cache. Reads no clock: the time is an argument. Returns removed items, so that
/// the owner releases them after unlocking. Each key is in the table, among the references, or in neither.
struct MemoryState<Key: Hashable, Value> {
    typealias Item = RecencyTable<Key, Value>.Item

    private(set) var table = RecencyTable<Key, Value>()
    private var references = EvictedReferences<Key, Value>()
    private var clamp: StressClamp
    /// The configured limit, or `nil` for none.
    private(set) var costLimit: Int?
    /// The evictions since the last call of ``takeEvicted()``.
    private var evicted = FreedMemory()

    init(costLimit: Int?, stress: StressLimits) {
        self.costLimit = costLimit
        clamp = StressClamp(stress)
    }

    /// The keys of the values and of the references to evicted values.
    var keys: [Key] { Array(table.keys) + Array(references.keys) }

    // MARK: Values

    /// Makes the value the most recently used one. Also finds an evicted value that the program still holds.
    mutating func use(_ key: Key, at now: Date) -> (found: (key: Key, value: Value)?, removed: [Item]) {
        switch table.use(key, at: now) {
        case .found(let number): return (table.keyAndValue(at: number), [])
        case .expired(let item): return (nil, [item])
        case .missing: break
        }
        guard references.count > 0, let item = references.take(key, at: now) else { return (nil, []) }
        var removed: [Item] = []
        if !admit(item, at: now, &removed) { references.insert(item) }
        return ((item.key, item.value), removed)
    }

    /// Returns the value for `key` without recording a use.
    mutating func peek(_ key: Key, at now: Date) -> (value: Value?, expired: Item?) {
        table.peek(key, at: now)
    }

    /// Replaces the value and the reference for the key. Does not admit an expired item or one that is too large.
    mutating func insert(_ item: Item, at now: Date) -> (isAdmitted: Bool, removed: [Item]) {
        var removed: [Item] = []
        if let former = remove(item.key) { removed.append(former) }
        guard !item.hasExpired(at: now) else { return (false, removed) }
        return (admit(item, at: now, &removed), removed)
    }

    private mutating func admit(_ item: Item, at now: Date, _ removed: inout [Item]) -> Bool {
        let limit = clamp.limit(for: costLimit, at: now) ?? .max
        guard item.cost <= limit else { return false }
        // Evict before inserting: the sum of the costs could overflow `Int`.
        removed += evict(downTo: limit - item.cost)
        table.insert(item)
        return true
    }

    // MARK: Removing, on request

    mutating func remove(_ key: Key) -> Item? {
        references.remove(key)
        return table.remove(key)
    }

    mutating func remove(_ keys: [Key]) -> [Item] {
        let removed = keys.compactMap { remove($0) }
        table.compact()
        return removed
    }

    mutating func removeAll() -> [Item] {
        references.removeAll()
        return table.removeAll()
    }

    mutating func removeExpired(at now: Date) -> [Item] {
        let removed = table.removeExpired(at: now)
        table.compact()
        return removed
    }

    // MARK: Evicting, for space

    mutating func setCostLimit(_ limit: Int?, at now: Date) -> [Item] {
        costLimit = limit
        return evict(downTo: clamp.limit(for: limit, at: now) ?? .max)
    }

    mutating func respond(to pressure: MemoryPressure, at now: Date) -> [Item] {
        let expired = table.removeExpired(at: now)
        clamp.note(pressure, totalCost: table.totalCost, at: now)
        return expired + evict(downTo: clamp.limit(for: costLimit, at: now) ?? .max)
    }

    mutating func evictAll() -> [Item] {
        let items = table.removeAll()
        note(items)
        return items
    }

    private mutating func evict(downTo cost: Int) -> [Item] {
        guard table.totalCost > cost else { return [] }
        let items = table.removeOldest(downTo: cost)
        note(items)
        table.compact()
        return items
    }

    private mutating func note(_ items: [Item]) {
        evicted.count += items.count
        for item in items {
            evicted.cost += item.cost
            references.insert(item)
        }
    }

    /// Returns the evictions since the last call.
    mutating func takeEvicted() -> FreedMemory {
        defer { evicted = FreedMemory() }
        return evicted
    }

    /// Drops the references of `keys` to evicted values that are dead, and those beyond the bound. Returns live ones.
    mutating func sweepReferences(of keys: [Key]) -> [Value] {
        guard references.count > 0 else { return [] }
        return references.dropDead(keys) + references.sweep()
    }
}

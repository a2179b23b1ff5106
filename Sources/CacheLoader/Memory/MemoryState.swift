#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What a memory cache holds, and may hold. Pure: the time is an argument, and what is taken out is returned, for the owner
/// to release once it has let go of the lock.
///
/// A key is in the table, or among the references, or in neither.
package struct MemoryState<Key: Hashable, Value> {
    package typealias Item = RecencyTable<Key, Value>.Item

    package private(set) var table = RecencyTable<Key, Value>()
    private var references = EvictedReferences<Key, Value>()
    private var clamp: StressClamp
    /// As configured; `nil` is no limit.
    package private(set) var costLimit: Int?
    /// What had to go since it was last asked for.
    private var evicted = FreedMemory()

    package init(costLimit: Int?, stress: StressLimits) {
        self.costLimit = costLimit
        clamp = StressClamp(stress)
    }

    /// What is there, or was and is noted.
    package var keys: [Key] { Array(table.keys) + Array(references.keys) }

    // MARK: Values

    /// The value for `key`, the newest from now on; one that was evicted, too, as long as somebody holds it.
    package mutating func use(_ key: Key, at now: Date) -> (value: Value?, removed: [Item]) {
        let (value, expired) = table.use(key, at: now)
        if let value { return (value, []) }
        if let expired { return (nil, [expired]) }
        guard references.count > 0, let item = references.take(key, at: now) else { return (nil, []) }
        var removed: [Item] = []
        if !admit(item, at: now, &removed) { references.insert(item) }
        return (item.value, removed)
    }

    /// The value for `key`, not used by that.
    package mutating func peek(_ key: Key, at now: Date) -> (value: Value?, expired: Item?) {
        table.peek(key, at: now)
    }

    /// Puts an item in the place of all that there was for its key, unless it has expired or is too large.
    package mutating func insert(_ item: Item, at now: Date) -> (isAdmitted: Bool, removed: [Item]) {
        var removed: [Item] = []
        if let former = remove(item.key) { removed.append(former) }
        guard !item.hasExpired(at: now) else { return (false, removed) }
        return (admit(item, at: now, &removed), removed)
    }

    private mutating func admit(_ item: Item, at now: Date, _ removed: inout [Item]) -> Bool {
        let limit = clamp.limit(for: costLimit, at: now) ?? .max
        guard item.cost <= limit else { return false }
        // Room first: a sum beyond the limit might be one beyond `Int`.
        removed += evict(downTo: limit - item.cost)
        table.insert(item)
        return true
    }

    // MARK: Removing, on request

    package mutating func remove(_ key: Key) -> Item? {
        references.remove(key)
        return table.remove(key)
    }

    package mutating func remove(_ keys: [Key]) -> [Item] {
        let removed = keys.compactMap { remove($0) }
        table.compact()
        return removed
    }

    package mutating func removeAll() -> [Item] {
        references.removeAll()
        return table.removeAll()
    }

    package mutating func removeExpired(at now: Date) -> [Item] {
        let removed = table.removeExpired(at: now)
        table.compact()
        return removed
    }

    // MARK: Evicting, for space

    package mutating func setCostLimit(_ limit: Int?, at now: Date) -> [Item] {
        costLimit = limit
        return evict(downTo: clamp.limit(for: limit, at: now) ?? .max)
    }

    package mutating func respond(to pressure: MemoryPressure, at now: Date) -> [Item] {
        let expired = table.removeExpired(at: now)
        clamp.note(pressure, totalCost: table.totalCost, at: now)
        return expired + evict(downTo: clamp.limit(for: costLimit, at: now) ?? .max)
    }

    package mutating func evictAll() -> [Item] {
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

    /// What had to go to make room, or to free memory, since this was last asked.
    package mutating func takeEvicted() -> FreedMemory {
        defer { evicted = FreedMemory() }
        return evicted
    }

    /// Forgets evicted values that nobody holds. Returns those that somebody does.
    package mutating func sweepReferences() -> [Value] {
        references.sweep()
    }
}

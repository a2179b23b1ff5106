#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Values by key in the order of their use, with what they cost. Pure: the time is an argument, and what is taken out is
/// returned, for the owner to release once it has let go of the lock.
///
/// Every item has a place in one array; the places are linked from the newest to the oldest, the free ones behind each
/// other. A use changes links and nothing else, so that it allocates nothing.
///
///     newest → 3 ⇄ 0 ⇄ 7 ← oldest        free → 1 → 2
package struct RecencyTable<Key: Hashable, Value> {
    /// A value, and what the table knows of it.
    package struct Item {
        package let key: Key
        package let value: Value
        /// In the units of the owner's limit.
        package let cost: Int
        /// From here on the value counts as gone; `nil` for never.
        package let expiresAt: Date?

        package init(key: Key, value: Value, cost: Int, expiresAt: Date?) {
            self.key = key
            self.value = value
            self.cost = cost
            self.expiresAt = expiresAt
        }

        package func hasExpired(at now: Date) -> Bool {
            guard let expiresAt else { return false }
            return expiresAt <= now
        }
    }

    /// A place in the array: in the list with an item, or free without.
    private struct Place {
        var item: Item?
        /// The neighbour that was used later.
        var newer = none
        /// The neighbour that was used earlier; of a free place, the next free one.
        var older = none
    }

    private static var none: Int { -1 }
    /// An array of so few places is left as it is, however many of them are free.
    private static var smallest: Int { 64 }

    private var places: [Place] = []
    private var numbers: [Key: Int] = [:]
    private var newest = none
    private var oldest = none
    private var free = none
    package private(set) var totalCost = 0

    package init() {}

    package var count: Int { numbers.count }

    /// In no order.
    package var keys: some Collection<Key> { numbers.keys }

    /// In no order.
    package var items: [Item] { places.compactMap(\.item) }

    // MARK: Looking

    /// What is there for `key`, expired or not. Not a use.
    package func item(for key: Key) -> Item? {
        numbers[key].flatMap { places[$0].item }
    }

    /// The key that was used longest ago. Passes over what has expired, at the cost of a step for each.
    package func oldestKey(at now: Date) -> Key? {
        firstKey(from: oldest, by: \.newer, at: now)
    }

    /// The key that was used last. Passes over what has expired, at the cost of a step for each.
    package func newestKey(at now: Date) -> Key? {
        firstKey(from: newest, by: \.older, at: now)
    }

    private func firstKey(from start: Int, by next: KeyPath<Place, Int>, at now: Date) -> Key? {
        var number = start
        while number != Self.none {
            if let item = places[number].item, !item.hasExpired(at: now) { return item.key }
            number = places[number][keyPath: next]
        }
        return nil
    }

    // MARK: Using

    /// The value for `key`, which is the newest from now on, or the item that has expired and is taken out.
    package mutating func use(_ key: Key, at now: Date) -> (value: Value?, expired: Item?) {
        guard let number = numbers[key], let item = places[number].item else { return (nil, nil) }
        guard !item.hasExpired(at: now) else { return (nil, remove(key)) }
        if number != newest {
            unlink(number)
            linkAsNewest(number)
        }
        return (item.value, nil)
    }

    /// Adds an item as the newest. There is none for its key.
    package mutating func insert(_ item: Item) {
        precondition(numbers[item.key] == nil, "an item is removed before another takes its place")
        let number = free == Self.none ? places.count : free
        if number == places.count {
            places.append(Place(item: item))
        } else {
            free = places[number].older
            places[number].item = item
        }
        numbers[item.key] = number
        linkAsNewest(number)
        totalCost += item.cost
    }

    // MARK: Removing

    /// Takes out what is there for `key`.
    package mutating func remove(_ key: Key) -> Item? {
        guard let number = numbers.removeValue(forKey: key), let item = places[number].item else { return nil }
        unlink(number)
        places[number] = Place(older: free)
        free = number
        totalCost -= item.cost
        return item
    }

    /// Takes out the items that were used longest ago until the rest cost at most `cost`. Returns the oldest first.
    package mutating func removeOldest(downTo cost: Int) -> [Item] {
        var removed: [Item] = []
        while totalCost > cost, oldest != Self.none, let key = places[oldest].item?.key {
            if let item = remove(key) { removed.append(item) }
        }
        return removed
    }

    /// Takes out what has expired. Looks at every item.
    package mutating func removeExpired(at now: Date) -> [Item] {
        let expired = places.compactMap { place in
            place.item.flatMap { $0.hasExpired(at: now) ? $0 : nil }
        }
        for item in expired { _ = remove(item.key) }
        return expired
    }

    /// Takes out everything, and frees the memory of the table. Returns the oldest first.
    package mutating func removeAll() -> [Item] {
        let items = itemsFromOldest
        self = Self()
        return items
    }

    /// Frees memory of the table if most places are free. Looks at every item that is left.
    package mutating func compact() {
        guard places.count > Self.smallest, count < places.count / 4 else { return }
        for item in removeAll() { insert(item) }
    }

    private var itemsFromOldest: [Item] {
        var items: [Item] = []
        items.reserveCapacity(count)
        var number = oldest
        while number != Self.none {
            if let item = places[number].item { items.append(item) }
            number = places[number].newer
        }
        return items
    }

    // MARK: Links

    private mutating func linkAsNewest(_ number: Int) {
        places[number].newer = Self.none
        places[number].older = newest
        if newest == Self.none { oldest = number } else { places[newest].newer = number }
        newest = number
    }

    private mutating func unlink(_ number: Int) {
        let (newer, older) = (places[number].newer, places[number].older)
        if newer == Self.none { newest = older } else { places[newer].older = older }
        if older == Self.none { oldest = newer } else { places[older].newer = newer }
    }
}

extension RecencyTable.Item: Sendable where Key: Sendable, Value: Sendable {}

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Values by key in the order of their use, with what they cost. Pure: the time is an argument, and what is taken out is
/// returned, for the owner to release once it has let go of the lock.
///
/// The parts of an item stand in arrays of their own, all at one number: a hit reads the value and its expiry, and copies
/// nothing else.
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
            Terms(cost: cost, expiresAt: expiresAt).haveExpired(at: now)
        }
    }

    /// A table with room for so few is left as it is, however many are free.
    private static var smallest: Int { 64 }

    private var numbers: [Key: Int] = [:]
    private var list = RecencyList()
    private var terms: [Terms] = []
    private var keyAt: [Key?] = []
    private var valueAt: [Value?] = []
    package private(set) var totalCost = 0

    package init() {}

    package var count: Int { numbers.count }

    /// In no order.
    package var keys: some Collection<Key> { numbers.keys }

    /// In no order.
    package var values: [(key: Key, value: Value)] {
        zip(keyAt, valueAt).compactMap { key, value in
            guard let key, let value else { return nil }
            return (key, value)
        }
    }

    // MARK: Looking

    /// The key that was used longest ago. Passes over what has expired, at the cost of a step for each.
    package func oldestKey(at now: Date) -> Key? {
        var number = list.oldest
        while let tried = number, terms[tried].haveExpired(at: now) { number = list.newer(than: tried) }
        return number.flatMap { keyAt[$0] }
    }

    /// The key that was used last. Passes over what has expired, at the cost of a step for each.
    package func newestKey(at now: Date) -> Key? {
        var number = list.newest
        while let tried = number, terms[tried].haveExpired(at: now) { number = list.older(than: tried) }
        return number.flatMap { keyAt[$0] }
    }

    /// The value for `key`, or the item that has expired and is taken out. Not a use.
    package mutating func peek(_ key: Key, at now: Date) -> (value: Value?, expired: Item?) {
        guard let number = numbers[key] else { return (nil, nil) }
        guard !terms[number].haveExpired(at: now) else { return (nil, remove(key)) }
        return (valueAt[number], nil)
    }

    // MARK: Using

    /// The value for `key`, which is the newest from now on, or the item that has expired and is taken out.
    package mutating func use(_ key: Key, at now: Date) -> (value: Value?, expired: Item?) {
        guard let number = numbers[key] else { return (nil, nil) }
        guard !terms[number].haveExpired(at: now) else { return (nil, remove(key)) }
        list.touch(number)
        return (valueAt[number], nil)
    }

    /// Adds an item as the newest. There is none for its key.
    package mutating func insert(_ item: Item) {
        let number = list.add()
        let previous = numbers.updateValue(number, forKey: item.key)
        precondition(previous == nil, "an item is removed before another takes its place")
        let itemTerms = Terms(cost: item.cost, expiresAt: item.expiresAt)
        if number == terms.count {
            terms.append(itemTerms)
            keyAt.append(item.key)
            valueAt.append(item.value)
        } else {
            terms[number] = itemTerms
            keyAt[number] = item.key
            valueAt[number] = item.value
        }
        totalCost += item.cost
    }

    // MARK: Removing

    /// Takes out what is there for `key`.
    package mutating func remove(_ key: Key) -> Item? {
        guard let number = numbers.removeValue(forKey: key), let item = item(at: number) else { return nil }
        list.remove(number)
        keyAt[number] = nil
        valueAt[number] = nil
        totalCost -= item.cost
        return item
    }

    /// Takes out the items that were used longest ago until the rest cost at most `cost`. Returns the oldest first.
    package mutating func removeOldest(downTo cost: Int) -> [Item] {
        var removed: [Item] = []
        while totalCost > cost, let key = list.oldest.flatMap({ keyAt[$0] }), let item = remove(key) {
            removed.append(item)
        }
        return removed
    }

    /// Takes out what has expired. Looks at every item.
    package mutating func removeExpired(at now: Date) -> [Item] {
        terms.indices.filter { terms[$0].haveExpired(at: now) }
            .compactMap { keyAt[$0] }
            .compactMap { remove($0) }
    }

    /// Takes out everything, and frees the memory of the table. Returns the oldest first.
    package mutating func removeAll() -> [Item] {
        var items: [Item] = []
        items.reserveCapacity(count)
        var number = list.oldest
        while let next = number {
            if let item = item(at: next) { items.append(item) }
            number = list.newer(than: next)
        }
        self = Self()
        return items
    }

    /// Frees memory of the table if most of it is not used. Looks at every item that is left.
    package mutating func compact() {
        guard list.capacity > Self.smallest, count < list.capacity / 4 else { return }
        for item in removeAll() { insert(item) }
    }

    private func item(at number: Int) -> Item? {
        guard let key = keyAt[number], let value = valueAt[number] else { return nil }
        return Item(key: key, value: value, cost: terms[number].cost, expiresAt: terms[number].expiresAt)
    }
}

extension RecencyTable.Item: Sendable where Key: Sendable, Value: Sendable {}

/// What an item costs, and until when it lasts. Not nested, for the reason that the list is not generic.
private struct Terms {
    let cost: Int
    let expiresAt: Date?

    func haveExpired(at now: Date) -> Bool {
        guard let expiresAt else { return false }
        return expiresAt <= now
    }
}

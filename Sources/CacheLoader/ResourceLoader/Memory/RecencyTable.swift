package import CacheFoundation

/// Values by key in the order of their use, with their costs. Reads no clock: the time is an argument. Returns removed
/// items, so that the owner releases them after unlocking. The parts of an item are in separate arrays, at the same
/// index. A hit reads the value and its expiry date, and copies nothing else.
package struct RecencyTable<Key: Hashable, Value> {
    package struct Item {
        package let key: Key
        package let value: Value
        /// The cost in units of the owner's limit.
        package let cost: Int
        /// The date from which the value is expired, or `nil` for never.
        package let expiresAt: Date?

        package init(key: Key, value: Value, cost: Int, expiresAt: Date?) {
            self.key = key
            self.value = value
            self.cost = cost
            self.expiresAt = expiresAt
        }

        func hasExpired(at now: Date) -> Bool {
            Terms(cost: cost, expiresAt: expiresAt).haveExpired(at: now)
        }
    }

    /// The capacity up to which ``compact()`` does nothing, even if most of it is free.
    private static var smallest: Int { 64 }

    private var numbers: [Key: Int] = [:]
    private var list = RecencyList()
    private var terms: [Terms] = []
    private var keyAt: [Key?] = []
    private var valueAt: [Value?] = []
    private(set) var totalCost = 0

    init() {}

    var count: Int { numbers.count }

    /// The keys, in no order.
    var keys: some Collection<Key> { numbers.keys }

    // MARK: Reading

    /// Returns the least recently used key. Skips expired items, at the cost of one step each.
    func oldestKey(at now: Date) -> Key? {
        var number = list.oldest
        while let tried = number, terms[tried].haveExpired(at: now) { number = list.newer(than: tried) }
        return number.flatMap { keyAt[$0] }
    }

    /// Returns the most recently used key. Skips expired items, at the cost of one step each.
    func newestKey(at now: Date) -> Key? {
        var number = list.newest
        while let tried = number, terms[tried].haveExpired(at: now) { number = list.older(than: tried) }
        return number.flatMap { keyAt[$0] }
    }

    /// Returns the value for `key` without recording a use. Removes an expired item and returns it instead.
    mutating func peek(_ key: Key, at now: Date) -> (value: Value?, expired: Item?) {
        guard let number = numbers[key] else { return (nil, nil) }
        guard !terms[number].haveExpired(at: now) else { return (nil, remove(key)) }
        return (valueAt[number], nil)
    }

    // MARK: Using

    enum Use {
        case missing
        case expired(Item)
        /// The number of the item, for ``keyAndValue(at:)``: a hit copies the value once.
        case found(Int)
    }

    /// Makes the item for `key` the newest. Removes an expired item and returns it instead.
    mutating func use(_ key: Key, at now: Date) -> Use {
        guard let number = numbers[key] else { return .missing }
        guard !terms[number].haveExpired(at: now) else { return remove(key).map(Use.expired) ?? .missing }
        list.touch(number)
        return .found(number)
    }

    /// Returns the key and the value of an item that was just found.
    func keyAndValue(at number: Int) -> (key: Key, value: Value)? {
        guard let key = keyAt[number], let value = valueAt[number] else { return nil }
        return (key, value)
    }

    /// Adds an item as the newest. The table must not contain its key.
    mutating func insert(_ item: Item) {
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

    mutating func remove(_ key: Key) -> Item? {
        guard let number = numbers.removeValue(forKey: key), let item = item(at: number) else { return nil }
        list.remove(number)
        keyAt[number] = nil
        valueAt[number] = nil
        totalCost -= item.cost
        return item
    }

    /// Removes the least recently used items until the rest cost at most `cost`. Returns the oldest first.
    mutating func removeOldest(downTo cost: Int) -> [Item] {
        var removed: [Item] = []
        while totalCost > cost, let key = list.oldest.flatMap({ keyAt[$0] }), let item = remove(key) {
            removed.append(item)
        }
        return removed
    }

    /// Removes expired items. Examines every item.
    mutating func removeExpired(at now: Date) -> [Item] {
        terms.indices.filter { terms[$0].haveExpired(at: now) }
            .compactMap { keyAt[$0] }
            .compactMap { remove($0) }
    }

    /// Removes all items and frees the memory of the table. Returns the oldest first.
    mutating func removeAll() -> [Item] {
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

    /// Frees memory of the table if most of it is unused. Visits every remaining item.
    mutating func compact() {
        guard list.capacity > Self.smallest, count < list.capacity / 4 else { return }
        for item in removeAll() { insert(item) }
    }

    private func item(at number: Int) -> Item? {
        guard let key = keyAt[number], let value = valueAt[number] else { return nil }
        return Item(key: key, value: value, cost: terms[number].cost, expiresAt: terms[number].expiresAt)
    }
}

extension RecencyTable.Item: Sendable where Key: Sendable, Value: Sendable {}

/// The cost and expiry date of an item. Not nested in the generic table, for the same reason that ``RecencyList`` is
/// not generic.
private struct Terms {
    let cost: Int
    let expiresAt: Date?

    func haveExpired(at now: Date) -> Bool {
        guard let expiresAt else { return false }
        return expiresAt <= now
    }
}

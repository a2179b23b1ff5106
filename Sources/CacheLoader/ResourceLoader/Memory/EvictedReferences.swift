package import CacheFoundation

/// Weak references to evicted objects that the program may still use. Takes only class instances: a value of any other
/// type is copied, so each user has its own. Whether an object lives on shows only after the owner releases it.
/// Therefore ``insert(_:)`` takes every evicted object, and ``sweep()`` drops the dead ones later.
package struct EvictedReferences<Key: Hashable, Value> {
    package typealias Item = RecencyTable<Key, Value>.Item

    private struct Reference {
        weak var object: AnyObject?
        let cost: Int
        let expiresAt: Date?
        /// The sequence number of the eviction.
        let number: UInt64

        var value: Value? { object as? Value }
    }

    /// The number of references that a sweep keeps, the last evicted ones. A program rarely uses more evicted objects
    /// than fill a screen.
    package static var capacity: Int { 1024 }

    private var references: [Key: Reference] = [:]
    private var lastNumber: UInt64 = 0

    package init() {}

    /// The number of references, including those to dead objects not swept yet.
    package var count: Int { references.count }

    var keys: some Collection<Key> { references.keys }

    /// Adds a reference to an evicted item if its value is a class instance.
    package mutating func insert(_ item: Item) {
        // Convert to `Any` first. The static type may be a protocol, which is not a class, but its value may be a class
        // instance.
        let value = item.value as Any
        guard type(of: value) is any AnyObject.Type else { return }
        lastNumber += 1
        references[item.key] = Reference(
            object: value as AnyObject, cost: item.cost, expiresAt: item.expiresAt, number: lastNumber)
    }

    /// Removes the reference for `key`. Returns the item if its object is alive and has not expired.
    package mutating func take(_ key: Key, at now: Date) -> Item? {
        guard let index = references.index(forKey: key) else { return nil }
        let (key, reference) = references.remove(at: index)
        // Check the expiry before the weak reference is read. Reading it retains the object, which might then be
        // released here for the last time.
        if let expiresAt = reference.expiresAt, expiresAt <= now { return nil }
        return reference.value.map {
            Item(key: key, value: $0, cost: reference.cost, expiresAt: reference.expiresAt)
        }
    }

    /// Drops those of `keys` whose objects are dead. Returns the live objects, as ``sweep()`` does.
    mutating func dropDead(_ keys: [Key]) -> [Value] {
        keys.compactMap { key in
            guard let reference = references[key] else { return nil }
            let value = reference.value
            if value == nil { references[key] = nil }
            return value
        }
    }

    mutating func remove(_ key: Key) {
        references[key] = nil
    }

    mutating func removeAll() {
        references = [:]
    }

    /// Drops references to dead objects, and the oldest references beyond the capacity. Does nothing up to twice the
    /// capacity. Returns the live objects. If the last user has just released an object, the caller now has the last
    /// reference.
    package mutating func sweep() -> [Value] {
        guard count > 2 * Self.capacity else { return [] }
        var held: [Value] = []
        var kept: [(key: Key, reference: Reference)] = []
        for (key, reference) in references {
            guard let value = reference.value else { continue }
            held.append(value)
            kept.append((key, reference))
        }
        kept.sort { $0.reference.number > $1.reference.number }
        references = [:]
        for (key, reference) in kept.prefix(Self.capacity) { references[key] = reference }
        return held
    }
}

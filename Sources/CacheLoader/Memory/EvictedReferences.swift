#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Evicted objects that somebody else may still hold, by weak reference. Pure.
///
/// Only class instances are noted: a copy of anything else is the holder's own. Whether one is held shows when the owner
/// has released it; therefore what was let go is noted too, and swept out later.
package struct EvictedReferences<Key: Hashable, Value> {
    package typealias Item = RecencyTable<Key, Value>.Item

    private struct Reference {
        weak var object: AnyObject?
        let cost: Int
        let expiresAt: Date?
        /// Counts the evictions.
        let number: UInt64

        var value: Value? { object as? Value }
    }

    /// How many objects a sweep leaves, those evicted last. Held elsewhere are a screenful, hardly more.
    package static var capacity: Int { 1024 }

    private var references: [Key: Reference] = [:]
    private var lastNumber: UInt64 = 0

    package init() {}

    /// Those included of which nobody knows yet that they are gone.
    package var count: Int { references.count }

    package var keys: some Collection<Key> { references.keys }

    /// Notes an item that was evicted, if its value is a class instance.
    package mutating func insert(_ item: Item) {
        // Through `Any`, because the value may itself be in a box: a type of protocol is no class, its content may be.
        let value = item.value as Any
        guard type(of: value) is any AnyObject.Type else { return }
        lastNumber += 1
        references[item.key] = Reference(
            object: value as AnyObject, cost: item.cost, expiresAt: item.expiresAt, number: lastNumber)
    }

    /// What was evicted under `key`, if somebody holds it and it has not expired. It is noted no longer.
    package mutating func take(_ key: Key, at now: Date) -> Item? {
        guard let reference = references.removeValue(forKey: key) else { return nil }
        // Before the value is looked at: what is looked at and not returned might be released here, for the last time.
        if let expiresAt = reference.expiresAt, expiresAt <= now { return nil }
        return reference.value.map {
            Item(key: key, value: $0, cost: reference.cost, expiresAt: reference.expiresAt)
        }
    }

    /// Forgets what was evicted under `key`.
    package mutating func remove(_ key: Key) {
        references[key] = nil
    }

    /// Forgets everything.
    package mutating func removeAll() {
        references = [:]
    }

    /// Forgets what nobody holds any more, and the longest evicted beyond the capacity; does nothing before there are
    /// twice as many.
    ///
    /// - Returns: What is held. Should its holder just have let go of it, the owner has the last reference.
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

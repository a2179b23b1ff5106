/// A dictionary that drops keys that were not used lately.
///
/// For facts that save work: a key without its fact costs one more read, wait or request. Keeps at least as many keys as half
/// of the capacity, those that were used last. Keeps no order: a full half becomes the old one, from which a use takes a key
/// over. The old one before it is dropped.
package struct BoundedDictionary<Key: Hashable, Value> {
    /// The number of keys in each half.
    private let half: Int
    private var new: [Key: Value] = [:]
    private var old: [Key: Value] = [:]

    /// - Parameter capacity: The greatest number of keys, at least 2.
    package init(capacity: Int = 1024) {
        precondition(capacity >= 2, "a dictionary has two halves")
        half = capacity / 2
    }

    package var isEmpty: Bool { new.isEmpty && old.isEmpty }

    package subscript(key: Key) -> Value? {
        /// A use: the key outlives those that are not used.
        mutating get {
            if let value = new[key] { return value }
            guard !old.isEmpty, let value = old.removeValue(forKey: key) else { return nil }
            insert(value, key)
            return value
        }
        set {
            if !old.isEmpty { old[key] = nil }
            if let newValue { insert(newValue, key) } else { new[key] = nil }
        }
    }

    package mutating func removeAll() {
        new = [:]
        old = [:]
    }

    private mutating func insert(_ value: Value, _ key: Key) {
        if new.count >= half, new[key] == nil {
            swap(&new, &old)
            new.removeAll(keepingCapacity: true)
        }
        new[key] = value
    }
}

extension BoundedDictionary: Sendable where Key: Sendable, Value: Sendable {}

/// A dictionary that drops keys that were not used recently. Use it only for values that save work: a missing value
/// costs one more read, wait or request. Keeps at least the most recently used keys, half of the capacity. Instead of
/// an order it has two halves. When the new half is full, it becomes the old half, and the former old half is dropped.
/// Using a key moves it to the new half.
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
        /// Counts as a use, which keeps the key longer.
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

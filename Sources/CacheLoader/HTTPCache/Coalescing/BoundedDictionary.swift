/// A dictionary that drops all its keys when it is full and gets another one.
///
/// For facts that save work: a key without its fact costs one more wait or request. Dropping all keys needs no record of
/// their order.
package struct BoundedDictionary<Key: Hashable, Value> {
    private let capacity: Int
    private var values: [Key: Value] = [:]

    /// - Parameter capacity: The greatest number of keys.
    package init(capacity: Int = 1024) {
        self.capacity = capacity
    }

    package var isEmpty: Bool { values.isEmpty }

    package subscript(key: Key) -> Value? {
        get { values[key] }
        set {
            if newValue != nil, values.count >= capacity, values[key] == nil { values = [:] }
            values[key] = newValue
        }
    }
}

extension BoundedDictionary: Sendable where Key: Sendable, Value: Sendable {}

/// A point in the history of a key. Equal epochs of a key say that nothing changed for it in between.
package struct Epoch: Hashable, Sendable {
    let count: UInt32

    /// The epoch after the next change.
    var next: Epoch { Epoch(count: count &+ 1) }
}

/// The present epoch of every key. Keys share a fixed number of counters, so a change of one key may also end the epoch
/// of another.
package struct Epochs: Sendable {
    private var counts: [UInt32]

    /// - Parameter capacity: The number of counters, a power of two.
    package init(capacity: Int) {
        counts = Array(repeating: 0, count: capacity)
    }

    package subscript(key: some Hashable) -> Epoch { Epoch(count: counts[slot(of: key)]) }

    /// Begins a new epoch of `key`.
    package mutating func advance(_ key: some Hashable) {
        counts[slot(of: key)] &+= 1
    }

    /// Begins a new epoch of all keys.
    mutating func advanceAll() {
        for slot in counts.indices { counts[slot] &+= 1 }
    }

    /// The index of the counter of a key.
    func slot(of key: some Hashable) -> Int { key.hashValue & (counts.count - 1) }
}

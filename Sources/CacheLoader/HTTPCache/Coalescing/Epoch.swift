/// A point in the history of a key. Two equal epochs of a key mean that nothing changed for the key in between.
struct Epoch: Hashable, Sendable {
    let count: UInt32
}

/// The current epoch of every key. Keys share a fixed number of counters, so a change of one key may also end the epoch
/// of another.
struct Epochs: Sendable {
    private var counts: [UInt32]

    /// `capacity` is the number of counters, a power of two.
    init(capacity: Int) {
        counts = Array(repeating: 0, count: capacity)
    }

    subscript(key: some Hashable) -> Epoch { Epoch(count: counts[slot(of: key)]) }

    mutating func advance(_ key: some Hashable) {
        counts[slot(of: key)] &+= 1
    }

    /// The index of the counter of a key.
    private func slot(of key: some Hashable) -> Int { key.hashValue & (counts.count - 1) }
}

/// The number and cost of the values that a memory cache released.
public struct FreedMemory: Hashable, Sendable {
    /// The number of values.
    public var count = 0
    /// Their total cost, in the units of the cost limit.
    public var cost = 0

    /// Creates a report of no values.
    public init() {}

    package init(count: Int, cost: Int) {
        self.count = count
        self.cost = cost
    }
}

/// A change that a memory cache makes by itself.
enum MemoryEvent: Hashable, Sendable {
    /// The cache evicted values, to make room or to free memory.
    case evicted(FreedMemory)
    /// Memory was short, and the cache freed these values, including expired ones.
    case pressure(MemoryPressure, FreedMemory)
}

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

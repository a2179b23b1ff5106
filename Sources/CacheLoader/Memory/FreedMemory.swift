/// What was taken out of a memory cache.
public struct FreedMemory: Hashable, Sendable {
    /// How many values.
    public var count = 0
    /// What they cost together, in the units of the cost limit.
    public var cost = 0

    /// Nothing.
    public init() {}

    package init(count: Int, cost: Int) {
        self.count = count
        self.cost = cost
    }
}

/// The lane of a waiter, and the conditions in which its load waits for its sake.
struct LoadDemand: Hashable, Sendable {
    var lane: Lane
    /// The conditions in which the waiter waits in the background lane, besides those of the lane.
    var heldBackBy: NetworkConditions = []
    /// Whether conditions can hold the waiter back: not if the load needs no network.
    var isHoldable = true

    /// Whether the conditions hold the waiter back.
    ///
    /// - Parameter limits: The conditions in which each lane holds its loads back.
    func isHeldBack(in conditions: NetworkConditions, _ limits: [Lane: NetworkConditions]) -> Bool {
        guard isHoldable else { return false }
        let limit = limits[lane, default: []]
        return !(lane == .background ? limit.union(heldBackBy) : limit).isDisjoint(with: conditions)
    }
}

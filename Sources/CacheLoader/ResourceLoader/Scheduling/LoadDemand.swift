/// The lane of a waiter, and the network conditions in which the waiter allows its load to wait.
struct LoadDemand: Hashable, Sendable {
    var lane: Lane
    /// The conditions in which the waiter waits in the background lane, in addition to those of the lane.
    var heldBackBy: NetworkConditions = []
    /// Whether conditions can hold the waiter back. `false` for a load that needs no network.
    var isHoldable = true

    /// Whether the conditions hold the waiter back. `limits` has the conditions in which each lane holds loads back.
    func isHeldBack(in conditions: NetworkConditions, _ limits: [Lane: NetworkConditions]) -> Bool {
        guard isHoldable else { return false }
        let limit = limits[lane, default: []]
        return !(lane == .background ? limit.union(heldBackBy) : limit).isDisjoint(with: conditions)
    }
}

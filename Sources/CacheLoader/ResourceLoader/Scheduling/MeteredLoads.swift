internal import Synchronization

/// Guards the loads of a loader, and reports changes of their numbers to the meters.
final class MeteredLoads: Sendable {
    private struct State: Sendable {
        var loads: ActiveLoads
        /// The numbers last reported to the meters.
        var reported = LoadOccupancy()
    }

    /// Guards only the table. Waiters and meters receive their reports outside the lock.
    private let state: Mutex<State>
    private let meters: LoaderMeters

    init(_ loads: ActiveLoads, _ meters: LoaderMeters) {
        state = Mutex(State(loads: loads))
        self.meters = meters
    }

    /// The number of cancellations so far.
    var cancellationCount: UInt64 { state.withLock { $0.loads.cancellations.count } }

    /// Runs `body` under the lock, then reports changes of the numbers to the meters.
    func withLock<Result>(_ body: (inout sending ActiveLoads) -> sending Result) -> sending Result {
        let (result, change) = state.withLock { state in
            let result = body(&state.loads)
            let present = state.loads.table.occupancy
            let change = present - state.reported
            state.reported = present
            return (result, change)
        }
        meters.note(change)
        return result
    }
}

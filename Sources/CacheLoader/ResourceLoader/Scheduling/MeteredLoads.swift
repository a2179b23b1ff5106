internal import Synchronization

/// Guards the loads of a loader, and reports changes of their numbers to the meters.
final class WatchedFlights: Sendable {
    private struct State: Sendable {
        var flights: Flights
        /// The numbers last reported to the meters.
        var told = LoadOccupancy()
    }

    /// Guards only the table. Waiters and meters receive their reports outside the lock.
    private let state: Mutex<State>
    private let meters: LoaderMeters

    init(_ flights: Flights, _ meters: LoaderMeters) {
        state = Mutex(State(flights: flights))
        self.meters = meters
    }

    /// Runs `body` under the lock, then reports changes of the numbers to the meters.
    func withLock<Result>(_ body: (inout sending Flights) -> sending Result) -> sending Result {
        let (result, change) = state.withLock { state in
            let result = body(&state.flights)
            let present = state.flights.board.occupancy
            let change = present - state.told
            state.told = present
            return (result, change)
        }
        meters.note(change)
        return result
    }
}

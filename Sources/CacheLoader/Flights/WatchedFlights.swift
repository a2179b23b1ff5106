internal import Synchronization

/// What a loader has under way, and what tells how much that is.
final class WatchedFlights: Sendable {
    private struct State: Sendable {
        var flights: Flights
        /// How much the meters were told of.
        var told = LoadOccupancy()
    }

    /// Guards only the table; waiters and meters are told outside.
    private let state: Mutex<State>
    private let meters: LoaderMeters

    init(_ flights: Flights, _ meters: LoaderMeters) {
        state = Mutex(State(flights: flights))
        self.meters = meters
    }

    /// As that of a mutex, and tells the meters what has changed.
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

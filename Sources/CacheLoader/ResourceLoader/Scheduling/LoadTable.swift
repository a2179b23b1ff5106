/// The loads under way, the loads that wait for their turn or for another attempt, and the waiters of each load.
///
/// A pure state machine: each method returns the actions that its owner carries out after releasing the lock.
///
/// A `Flight` is one coalesced load with any number of waiters. Its transfer starts when its lane has room. After a
/// failure that may be temporary, the transfer starts again.
///
///     queued ─▶ running ─▶ landing ─▶ (ended)
///       ▲          │          │
///       └ waiting ◀┴──────────┘
package struct LoadBoard<Key: Hashable, Waiter> {
    /// Identifies a waiter.
    package typealias Ticket = UInt64
    /// Identifies a coalesced load.
    package typealias Flight = UInt64

    /// An action of the owner.
    package enum Action {
        /// Start a transfer.
        case start(Flight, Key, attempt: Int)
        /// Stop the task of a load: its transfer, or its wait.
        case stop(Flight)
    }

    /// The state of a load when a waiter joins it.
    package enum Arrival: Hashable, Sendable {
        /// The load is new.
        case first
        /// The load waits for its turn or for another attempt, or its bytes have arrived.
        case joined
        /// The transfer of the load is under way.
        case joinedRunning
    }

    /// The time of the next attempt after a failed one.
    package enum Retry: Hashable, Sendable {
        case never
        /// After a pause.
        case later
        /// When the host is reachable.
        case whenReachable
    }

    fileprivate enum Phase: Equatable, Sendable {
        case queued
        case running
        /// The bytes have arrived, and the load takes no place in its lane.
        case landing
        case waiting(isParked: Bool)
    }

    fileprivate struct State {
        let key: Key
        let host: String
        var lane: Lane
        var phase = Phase.queued
        /// The number of started attempts.
        var attempt = 0
        /// In the order in which they joined.
        var waiters: [(ticket: Ticket, waiter: Waiter)] = []
        /// Whether the transfer continues after the last waiter has left.
        var finishesAlone: Bool
    }

    private var states: [Flight: State] = [:]
    /// The load that the next waiter of a key joins.
    private var flights: [Key: Flight] = [:]
    /// Loads that no further waiter joins.
    private var superseded: Set<Flight> = []
    private var tickets: [Ticket: Flight] = [:]
    /// Loads that have ended, but whose waiters do not all have the result yet.
    private var landings: [Flight: Key] = [:]
    private var queues: [Lane: LaneQueue] = [.urgent: LaneQueue(), .background: LaneQueue()]
    private var running: [Lane: Int] = [.urgent: 0, .background: 0]
    private var runningPerHost: [String: Int] = [:]
    private var lastNumber: UInt64 = 0

    /// The numbers of transfers that may run at a time.
    package private(set) var widths: LaneWidths

    package init(widths: LaneWidths) {
        self.widths = widths
    }

    private mutating func number() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Waiters

    /// Returns an identifier for a waiter that is about to join.
    package mutating func ticket() -> Ticket { number() }

    /// Adds a waiter to the load of its key, which is created if there is none. An urgent waiter makes the load urgent.
    /// If the load waits for another attempt, the attempt is queued at once.
    package mutating func attach(
        _ waiter: Waiter, _ ticket: Ticket, to key: Key, host: String, lane: Lane, abandonment: Abandonment
    ) -> (Arrival, [Action]) {
        let finishes = abandonment == .finishAndStore
        guard let flight = flights[key], let phase = states[flight]?.phase else {
            let flight = number()
            flights[key] = flight
            tickets[ticket] = flight
            states[flight] = State(
                key: key, host: host, lane: lane, waiters: [(ticket, waiter)], finishesAlone: finishes)
            enqueue(flight)
            return (.first, begin())
        }
        // Change the state in place: each new waiter would copy all waiters along with a copy of the state.
        states[flight]?.waiters.append((ticket, waiter))
        if finishes { states[flight]?.finishesAlone = true }
        tickets[ticket] = flight
        if lane == .urgent { move(flight, to: .urgent) }
        var actions: [Action] = []
        if case .waiting = phase {
            actions.append(.stop(flight))
            enqueue(flight)
        }
        return (phase == .running ? .joinedRunning : .joined, actions + begin())
    }

    /// Removes a waiter. After the last waiter has left, the load ends, unless its transfer is to be finished.
    ///
    /// - Returns: The waiter, unless its load has ended.
    package mutating func detach(_ ticket: Ticket) -> (Waiter?, [Action]) {
        guard let flight = tickets.removeValue(forKey: ticket),
            let index = states[flight]?.waiters.firstIndex(where: { $0.ticket == ticket }),
            let waiter = states[flight]?.waiters.remove(at: index).waiter, let state = states[flight]
        else { return (nil, []) }
        guard state.waiters.isEmpty else { return (waiter, []) }
        switch state.phase {
        case .running, .landing:
            if state.finishesAlone { return (waiter, []) }
        case .queued, .waiting: break
        }
        remove(flight)
        return (waiter, [.stop(flight)] + begin())
    }

    /// Ends the loads of the included keys. Returns their waiters in the order of their tickets.
    package mutating func detachAll(where isIncluded: (Key) -> Bool = { _ in true }) -> ([Waiter], [Action]) {
        let ended = states.filter { isIncluded($0.value.key) }
        let all = ended.keys.sorted()
        let waiters = ended.values.flatMap(\.waiters).sorted { $0.ticket < $1.ticket }.map(\.waiter)
        for flight in all { remove(flight) }
        return (waiters, all.map(Action.stop) + begin())
    }

    /// Returns the load that the next waiter of a key would join, with the key of its first waiter.
    package func flight(of key: Key) -> (Flight, Key)? {
        flights[key].flatMap { flight in states[flight].map { (flight, $0.key) } }
    }

    /// Lets no further waiter join a load. The next waiter of its key begins another one.
    package mutating func supersede(_ flight: Flight) {
        guard let key = states[flight]?.key, flights[key] == flight else { return }
        flights[key] = nil
        superseded.insert(flight)
    }

    /// Returns the loads of a key, the superseded ones included.
    private func allFlights(of key: Key) -> [Flight] {
        [flights[key]].compactMap(\.self) + superseded.filter { states[$0]?.key == key }.sorted()
    }

    /// Returns the waiters of a load in the order in which they joined; `nil` once the load has ended.
    package func waiters(of flight: Flight) -> [Waiter]? {
        states[flight]?.waiters.map(\.waiter)
    }

    /// Returns the number of waiters for a key.
    package func waiterCount(of key: Key) -> Int {
        allFlights(of: key).reduce(0) { $0 + (states[$1]?.waiters.count ?? 0) }
    }

    /// Returns whether a key has waiters without a result, or a transfer that is to be finished.
    package func isLoading(_ key: Key) -> Bool {
        !allFlights(of: key).isEmpty || landings.values.contains(key)
    }

    /// The number of loads, and the lengths of the queues.
    package var occupancy: LoadOccupancy {
        LoadOccupancy(
            flights: states.count, urgentQueue: queues[.urgent]?.count ?? 0,
            backgroundQueue: queues[.background]?.count ?? 0)
    }

    // MARK: Loads

    /// Records that the bytes of a load have arrived, and frees its place in the lane.
    package mutating func land(_ flight: Flight) -> [Action] {
        guard states[flight]?.phase == .running else { return [] }
        vacate(flight)
        states[flight]?.phase = .landing
        return begin()
    }

    /// Ends a load. The caller passes the result to the waiters in this order, then calls ``told(_:)``.
    package mutating func end(_ flight: Flight) -> ([Waiter], [Action]) {
        guard let state = states[flight] else { return ([], []) }
        remove(flight)
        landings[flight] = state.key
        return (state.waiters.map(\.waiter), begin())
    }

    /// Records that all waiters of an ended load have the result.
    package mutating func told(_ flight: Flight) {
        landings[flight] = nil
    }

    /// Records that an attempt has failed, or that no processor accepts its response.
    ///
    /// - Parameter extra: The number of attempts beyond one; -1 if the attempt did not begin.
    /// - Returns: Whether another attempt follows; if not, the caller ends the load. A load without waiters is not
    ///   tried again.
    package mutating func fail(_ flight: Flight, retry: Retry, extra: Int = 0) -> (Bool, [Action]) {
        guard let state = states[flight], [.running, .landing].contains(state.phase) else { return (false, []) }
        guard retry != .never, !state.waiters.isEmpty else { return (false, []) }
        vacate(flight)
        states[flight]?.attempt += extra
        states[flight]?.phase = .waiting(isParked: retry == .whenReachable)
        return (true, begin())
    }

    /// Queues the next attempt of a load whose wait is over: the pause has ended, or its host is reachable.
    package mutating func retry(_ flight: Flight, after attempt: Int) -> [Action] {
        guard let state = states[flight], case .waiting = state.phase, state.attempt == attempt else { return [] }
        enqueue(flight)
        return begin()
    }

    /// Queues the next attempt of all loads that wait for a host; `nil` for all hosts.
    package mutating func becameReachable(_ host: String? = nil) -> [Action] {
        let parked = states.filter { _, state in
            state.phase == .waiting(isParked: true) && (host == nil || host == state.host)
        }
        for flight in parked.keys.sorted() { enqueue(flight) }
        return begin()
    }

    // MARK: Lanes

    /// Changes the numbers of transfers that may run at a time. Running transfers above a new number continue.
    package mutating func setWidths(_ widths: LaneWidths) -> [Action] {
        self.widths = widths
        for lane in Lane.allCases { queues[lane]?.unblockAll() }
        return begin()
    }

    /// Puts the loads of a key into a lane. A running transfer continues, and counts in the new lane.
    package mutating func setLane(_ lane: Lane, of key: Key) -> [Action] {
        for flight in allFlights(of: key) { move(flight, to: lane) }
        return begin()
    }

    private mutating func move(_ flight: Flight, to lane: Lane) {
        guard let state = states[flight], state.lane != lane else { return }
        states[flight]?.lane = lane
        switch state.phase {
        case .queued:
            queues[state.lane]?.remove(flight)
            let number = number()
            queues[lane]?.append(flight, host: state.host, number: number)
        case .running:
            running[state.lane, default: 0] -= 1
            running[lane, default: 0] += 1
        case .landing, .waiting: break
        }
    }

    private mutating func enqueue(_ flight: Flight) {
        guard let state = states[flight] else { return }
        states[flight]?.phase = .queued
        let number = number()
        queues[state.lane]?.append(flight, host: state.host, number: number)
    }

    /// Starts all transfers for which there is room.
    private mutating func begin() -> [Action] {
        var actions: [Action] = []
        while let flight = next(), let state = states[flight] {
            states[flight]?.phase = .running
            states[flight]?.attempt += 1
            running[state.lane, default: 0] += 1
            runningPerHost[state.host, default: 0] += 1
            actions.append(.start(flight, state.key, attempt: state.attempt + 1))
        }
        return actions
    }

    /// Removes and returns the next load to start. A background load starts only while no urgent load runs or waits for
    /// its turn.
    private mutating func next() -> Flight? {
        let isUrgent = queues[.urgent]?.isEmpty == false || running[.urgent] != 0
        let lane: Lane = isUrgent ? .urgent : .background
        guard running[lane, default: 0] < widths[lane] else { return nil }
        let (perHost, limit) = (runningPerHost, widths.perHost)
        return queues[lane]?.next { perHost[$0, default: 0] < limit }
    }

    private mutating func vacate(_ flight: Flight) {
        guard let state = states[flight], state.phase == .running else { return }
        running[state.lane, default: 0] -= 1
        let rest = runningPerHost[state.host, default: 1] - 1
        runningPerHost[state.host] = rest > 0 ? rest : nil
        for lane in Lane.allCases { queues[lane]?.unblock(state.host) }
    }

    private mutating func remove(_ flight: Flight) {
        vacate(flight)
        guard let state = states.removeValue(forKey: flight) else { return }
        if state.phase == .queued { queues[state.lane]?.remove(flight) }
        if flights[state.key] == flight { flights[state.key] = nil }
        superseded.remove(flight)
        for (ticket, _) in state.waiters { tickets[ticket] = nil }
    }
}

extension LoadBoard: Sendable where Key: Sendable, Waiter: Sendable {}
extension LoadBoard.State: Sendable where Key: Sendable, Waiter: Sendable {}

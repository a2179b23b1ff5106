/// Which loads are under way, which wait for their turn or for another attempt, and who waits for each. Pure: each method
/// says what its owner has to do once it has let go of the lock.
///
/// A flight is one load that any number of waiters share. Its transfer begins when its lane has room for it, and begins
/// again after a failure that another attempt may mend.
///
///     queued ─▶ running ─▶ landing ─▶ (ended)
///       ▲          │          │
///       └ waiting ◀┴──────────┘
package struct LoadBoard<Key: Hashable, Waiter> {
    /// Names a waiter.
    package typealias Ticket = UInt64
    /// Names a flight.
    package typealias Flight = UInt64

    /// What the owner has to do.
    package enum Action {
        /// Begin a transfer.
        case start(Flight, Key, attempt: Int)
        /// Stop whatever was begun for a flight: its transfer, or its wait.
        case stop(Flight)
    }

    /// How a waiter finds its flight.
    package enum Arrival: Hashable, Sendable {
        /// There was none before.
        case first
        /// It waits for its turn, or for another attempt.
        case joined
        /// Its transfer is under way.
        case joinedRunning
    }

    /// What follows a failed attempt.
    package enum Retry: Hashable, Sendable {
        case never
        /// After a pause.
        case later
        /// When the host can be reached.
        case whenReachable
    }

    fileprivate enum Phase: Equatable, Sendable {
        case queued
        case running
        /// The bytes are there, and no place in a lane is taken any more.
        case landing
        case waiting(isParked: Bool)
    }

    fileprivate struct State {
        let key: Key
        let host: String
        var lane: Lane
        var phase = Phase.queued
        /// Attempts that were begun.
        var attempt = 0
        /// In the order of their coming.
        var waiters: [(ticket: Ticket, waiter: Waiter)] = []
        /// Whether its transfer goes on when the last waiter has left.
        var finishesAlone: Bool
    }

    private var states: [Flight: State] = [:]
    private var flights: [Key: Flight] = [:]
    private var tickets: [Ticket: Flight] = [:]
    /// Flights that have ended, but whose waiters are still being told.
    private var landings: [Flight: Key] = [:]
    private var queues: [Lane: LaneQueue] = [.urgent: LaneQueue(), .background: LaneQueue()]
    private var running: [Lane: Int] = [.urgent: 0, .background: 0]
    private var runningPerHost: [String: Int] = [:]
    private var lastNumber: UInt64 = 0

    /// How many may be under way at a time.
    package private(set) var widths: LaneWidths

    package init(widths: LaneWidths) {
        self.widths = widths
    }

    private mutating func number() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Waiters

    /// A name for a waiter that is about to come.
    package mutating func ticket() -> Ticket { number() }

    /// A waiter comes: it joins the flight of its key, which begins if there is none, gets a better lane if the waiter has
    /// one, and another attempt at once if it was waiting for that.
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
        // In place: with a copy of the state, each who comes would copy all who wait.
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

    /// A waiter does not want to wait any longer. The last to leave ends the flight, unless it is to be finished.
    ///
    /// - Returns: The waiter, if it has not been told of an end yet.
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

    /// All flights end, and all waiters leave, in the order of their coming.
    package mutating func detachAll() -> ([Waiter], [Action]) {
        let all = states.keys.sorted()
        let waiters = states.values.flatMap(\.waiters).sorted { $0.ticket < $1.ticket }.map(\.waiter)
        for flight in all { remove(flight) }
        return (waiters, all.map(Action.stop))
    }

    /// Who waits for a flight, in the order of their coming; `nil` once it has ended.
    package func waiters(of flight: Flight) -> [Waiter]? {
        states[flight]?.waiters.map(\.waiter)
    }

    /// How many wait for a key.
    package func waiterCount(of key: Key) -> Int {
        flights[key].flatMap { states[$0]?.waiters.count } ?? 0
    }

    /// Whether a key has waiters that have not been told of an end, or a transfer that is going to be finished.
    package func isLoading(_ key: Key) -> Bool {
        flights[key] != nil || landings.values.contains(key)
    }

    /// How much is under way.
    package var occupancy: LoadOccupancy {
        LoadOccupancy(
            flights: states.count, urgentQueue: queues[.urgent]?.count ?? 0,
            backgroundQueue: queues[.background]?.count ?? 0)
    }

    // MARK: Flights

    /// The bytes of a flight are there: its place is free.
    package mutating func land(_ flight: Flight) -> [Action] {
        guard states[flight]?.phase == .running else { return [] }
        vacate(flight)
        states[flight]?.phase = .landing
        return begin()
    }

    /// A flight has come to its end. Its waiters are told in this order; then ``told(_:)`` is called.
    package mutating func end(_ flight: Flight) -> ([Waiter], [Action]) {
        guard let state = states[flight] else { return ([], []) }
        remove(flight)
        landings[flight] = state.key
        return (state.waiters.map(\.waiter), begin())
    }

    /// The waiters of a flight that has ended have all been told.
    package mutating func told(_ flight: Flight) {
        landings[flight] = nil
    }

    /// An attempt has failed, or has brought a response that no processor accepts.
    ///
    /// - Parameter extra: How many it has made more than one.
    /// - Returns: Whether there is to be another; if not, the flight has to be ended. One that nobody waits for is not tried
    ///   again.
    package mutating func fail(_ flight: Flight, retry: Retry, extra: Int = 0) -> (Bool, [Action]) {
        guard let state = states[flight], [.running, .landing].contains(state.phase) else { return (false, []) }
        guard retry != .never, !state.waiters.isEmpty else { return (false, []) }
        vacate(flight)
        states[flight]?.attempt += extra
        states[flight]?.phase = .waiting(isParked: retry == .whenReachable)
        return (true, begin())
    }

    /// What a flight waited for after a failed attempt has come: the end of the pause, or a way to its host.
    package mutating func retry(_ flight: Flight, after attempt: Int) -> [Action] {
        guard let state = states[flight], case .waiting = state.phase, state.attempt == attempt else { return [] }
        enqueue(flight)
        return begin()
    }

    /// A host, or any host, can be reached again: what was parked is tried once more.
    package mutating func becameReachable(_ host: String? = nil) -> [Action] {
        let parked = states.filter { _, state in
            state.phase == .waiting(isParked: true) && (host == nil || host == state.host)
        }
        for flight in parked.keys.sorted() { enqueue(flight) }
        return begin()
    }

    // MARK: Lanes

    /// Changes how many may be under way; what is above that goes on.
    package mutating func setWidths(_ widths: LaneWidths) -> [Action] {
        self.widths = widths
        for lane in Lane.allCases { queues[lane]?.unblockAll() }
        return begin()
    }

    /// Puts the flight of a key, if there is one, into a lane, with all that belongs to it. A transfer that is under way
    /// goes on.
    package mutating func setLane(_ lane: Lane, of key: Key) -> [Action] {
        guard let flight = flights[key] else { return [] }
        move(flight, to: lane)
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

    /// Begins what may begin.
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

    /// Nothing in the background begins while anything urgent waits for its turn or is under way.
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
        for (ticket, _) in state.waiters { tickets[ticket] = nil }
    }
}

extension LoadBoard: Sendable where Key: Sendable, Waiter: Sendable {}
extension LoadBoard.State: Sendable where Key: Sendable, Waiter: Sendable {}

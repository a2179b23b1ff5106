/// Decides when transfers start: by lane, by host, by the conditions of the network, and for further attempts. A pure
/// state machine that knows loads by their numbers. After one or more changes, ``start()`` returns the transfers that
/// can start.
///
///     queued ─▶ running ─▶ processing ─▶ (removed)
///       ▲          │          │
///       └ waiting ◀┴──────────┘
///
/// The folder `ResourceLoader/Scheduling/` has the loads: their table and lanes, their attempts and redirect steps,
/// their answers from the store and from memory. The folder may use the store and all of the loader. Each request goes
/// through a `CacheTransaction`: the folder calls no transport.
struct LoadScheduler: Sendable {
    typealias ID = UInt64

    enum Phase: Equatable, Sendable {
        case queued
        case running
        /// The bytes have arrived, and the load takes no place in its lane.
        case processing
        case waiting(isParked: Bool)
    }

    private struct State: Sendable {
        let host: String
        /// Urgent if a waiter is urgent. A load without waiters keeps its lane.
        var lane: Lane
        /// The number of waiters with each demand: a few numbers, regardless of the number of waiters.
        var demands: [LoadDemand: Int]
        var phase = Phase.queued
        /// The place among the queued loads.
        var place: UInt64 = 0
        /// Whether the load is queued, but not in the queue of its lane, because the conditions hold it back.
        var isHeldBack = false
        /// The number of started attempts.
        var attempt = 0
    }

    private struct LaneState: Sendable {
        var queue = LaneQueue()
        var running = 0
        /// The queued loads that the conditions hold back.
        var heldBack: Set<ID> = []

        /// The number of loads that wait for their turn.
        var waitingCount: Int { queue.count + heldBack.count }
    }

    private var states: [ID: State] = [:]
    private var urgent = LaneState()
    private var background = LaneState()
    private var runningPerHost: [String: Int] = [:]
    private var lastPlace: UInt64 = 0
    private var conditions: NetworkConditions = []
    /// The conditions in which each lane holds its loads back.
    private var limits: [Lane: NetworkConditions]

    /// The numbers of transfers that may run at a time.
    private(set) var widths: LaneWidths

    init(widths: LaneWidths, heldBack limits: [Lane: NetworkConditions] = [:]) {
        self.widths = widths
        self.limits = limits
    }

    func phase(of id: ID) -> Phase? { states[id]?.phase }

    func queueLength(_ lane: Lane) -> Int {
        switch lane {
        case .urgent: urgent.waitingCount
        case .background: background.waitingCount
        }
    }

    /// Changes the state of a lane in place.
    private mutating func update<Result>(_ lane: Lane, _ change: (inout LaneState) -> Result) -> Result {
        switch lane {
        case .urgent: change(&urgent)
        case .background: change(&background)
        }
    }

    // MARK: Loads

    /// Adds a load at the end of the queue of its lane. No other load has had `id`.
    mutating func add(_ id: ID, host: String, _ demand: LoadDemand) {
        states[id] = State(host: host, lane: demand.lane, demands: [demand: 1])
        enqueue(id)
    }

    /// Takes the demand of another waiter into account.
    mutating func addDemand(_ demand: LoadDemand, to id: ID) {
        states[id]?.demands[demand, default: 0] += 1
        // A second waiter with the same demand changes nothing.
        if states[id]?.demands[demand] == 1 { follow(id) }
    }

    /// Stops taking the demand of a waiter into account. After the last demand, the load keeps its lane.
    mutating func removeDemand(_ demand: LoadDemand, from id: ID) {
        guard let count = states[id]?.demands[demand] else { return }
        states[id]?.demands[demand] = count > 1 ? count - 1 : nil
        follow(id)
    }

    /// Adapts the lane and the holding of a load to the demands of its waiters.
    private mutating func follow(_ id: ID) {
        guard let demands = states[id]?.demands, !demands.isEmpty else { return }
        move(id, to: demands.keys.contains { $0.lane == .urgent } ? .urgent : .background)
        reconsider([id])
    }

    mutating func remove(_ id: ID) {
        vacate(id)
        withdraw(id)
        states[id] = nil
    }

    /// Records that the bytes of a load have arrived, and frees its place in the lane.
    mutating func finishTransfer(_ id: ID) {
        guard states[id]?.phase == .running else { return }
        vacate(id)
        states[id]?.phase = .processing
    }

    /// Frees the place of a load until another attempt, or until its host is reachable if `isParked`. `extra` is the
    /// number of attempts beyond one; -1 if the attempt did not begin.
    mutating func pause(_ id: ID, isParked: Bool, extra: Int) {
        vacate(id)
        states[id]?.attempt += extra
        states[id]?.phase = .waiting(isParked: isParked)
    }

    /// Queues the next attempt of a waiting load. Has no effect if `attempt` is set and differs from the number of
    /// started attempts.
    mutating func resume(_ id: ID, after attempt: Int? = nil) {
        guard let state = states[id], case .waiting = state.phase, attempt ?? state.attempt == state.attempt else {
            return
        }
        enqueue(id)
    }

    /// Queues the next attempt of all loads that wait for a host, or `nil` for all hosts.
    mutating func becameReachable(_ host: String?) {
        let parked = states.filter { _, state in
            state.phase == .waiting(isParked: true) && (host == nil || host == state.host)
        }
        // Sort by creation, because a dictionary has no order.
        for id in parked.keys.sorted() { enqueue(id) }
    }

    // MARK: Lanes

    /// Changes the numbers of transfers that may run at a time. Running transfers above a new number continue.
    mutating func setWidths(_ widths: LaneWidths) {
        self.widths = widths
        urgent.queue.unblockAll()
        background.queue.unblockAll()
    }

    /// Puts a load, with all its waiters, into a lane. A running transfer continues, and counts in the new lane.
    mutating func setLane(_ lane: Lane, of id: ID) {
        guard let demands = states[id]?.demands else { return }
        var moved: [LoadDemand: Int] = [:]
        for (demand, count) in demands {
            var demand = demand
            demand.lane = lane
            moved[demand, default: 0] += count
        }
        states[id]?.demands = moved
        move(id, to: lane)
        reconsider([id])
    }

    private mutating func move(_ id: ID, to lane: Lane) {
        guard let state = states[id], state.lane != lane else { return }
        withdraw(id)
        states[id]?.lane = lane
        switch state.phase {
        case .queued: enqueue(id)
        case .running:
            update(state.lane) { $0.running -= 1 }
            update(lane) { $0.running += 1 }
        case .processing, .waiting: break
        }
    }

    // MARK: Conditions of the network

    /// Changes the conditions in which each lane holds its loads back, and the current conditions of the network. `nil`
    /// leaves either unchanged. Running transfers continue.
    mutating func setHolding(limits: [Lane: NetworkConditions]?, conditions: NetworkConditions?) {
        let (limits, conditions) = (limits ?? self.limits, conditions ?? self.conditions)
        guard limits != self.limits || conditions != self.conditions else { return }
        (self.limits, self.conditions) = (limits, conditions)
        reconsider(Array(states.keys))
    }

    /// Moves queued loads into or out of the queues of their lanes. Each load keeps its place.
    private mutating func reconsider(_ ids: [ID]) {
        for id in ids {
            guard let state = states[id], state.phase == .queued, isHeldBack(state) != state.isHeldBack else {
                continue
            }
            withdraw(id)
            insert(id)
        }
    }

    /// Whether the conditions hold all waiters of a load back.
    private func isHeldBack(_ state: State) -> Bool {
        !state.demands.isEmpty && state.demands.keys.allSatisfy { $0.isHeldBack(in: conditions, limits) }
    }

    // MARK: Starting

    /// Starts as many transfers as the lanes and hosts permit. Returns the loads in the order of their turn.
    mutating func start() -> [(id: ID, attempt: Int)] {
        var started: [(id: ID, attempt: Int)] = []
        while let id = next(), let state = states[id] {
            states[id]?.phase = .running
            states[id]?.attempt += 1
            update(state.lane) { $0.running += 1 }
            runningPerHost[state.host, default: 0] += 1
            started.append((id, state.attempt + 1))
        }
        return started
    }

    /// Removes and returns the next load to start. A background load starts only while no urgent load runs or waits for
    /// its turn.
    private mutating func next() -> ID? {
        let lane: Lane = urgent.queue.isEmpty && urgent.running == 0 ? .background : .urgent
        let (width, perHost, limit) = (widths[lane], runningPerHost, widths.perHost)
        return update(lane) { lane in
            lane.running < width ? lane.queue.next { perHost[$0, default: 0] < limit } : nil
        }
    }

    private mutating func enqueue(_ id: ID) {
        guard states[id] != nil else { return }
        lastPlace += 1
        states[id]?.phase = .queued
        states[id]?.place = lastPlace
        insert(id)
    }

    /// Puts a queued load into the queue of its lane, unless the conditions hold it back.
    private mutating func insert(_ id: ID) {
        guard let state = states[id] else { return }
        if isHeldBack(state) {
            states[id]?.isHeldBack = true
            update(state.lane) { _ = $0.heldBack.insert(id) }
        } else {
            update(state.lane) { $0.queue.append(id, host: state.host, number: state.place) }
        }
    }

    /// Takes a queued load out of the queue of its lane.
    private mutating func withdraw(_ id: ID) {
        guard let state = states[id], state.phase == .queued else { return }
        if state.isHeldBack {
            states[id]?.isHeldBack = false
            update(state.lane) { _ = $0.heldBack.remove(id) }
        } else {
            update(state.lane) { $0.queue.remove(id) }
        }
    }

    private mutating func vacate(_ id: ID) {
        guard let state = states[id], state.phase == .running else { return }
        update(state.lane) { $0.running -= 1 }
        let rest = runningPerHost[state.host, default: 1] - 1
        runningPerHost[state.host] = rest > 0 ? rest : nil
        // Both lanes share the places of a host.
        urgent.queue.unblock(state.host)
        background.queue.unblock(state.host)
    }
}

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

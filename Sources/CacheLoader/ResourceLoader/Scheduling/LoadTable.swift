/// The loads that have not ended, the waiters of each load, and the scheduler that starts their transfers. A pure state
/// machine: each method returns the actions that its owner carries out after releasing the lock. Waiters for equal keys
/// share a load. ``LoadScheduler`` decides when its transfer starts.
package struct LoadTable<Key: Hashable, Waiter> {
    package typealias Ticket = UInt64
    package typealias ID = UInt64

    /// An action of the owner.
    package enum Action {
        case start(ID, Key, attempt: Int)
        /// Stop the task of a load: its transfer, or its wait.
        case stop(ID)
    }

    /// The state of a load when a waiter joins it.
    package enum Arrival: Hashable, Sendable {
        /// The load is new.
        case first
        /// The load waits for its turn or for another attempt, or its bytes have arrived.
        case joined
        /// The transfer of the load is running.
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

    fileprivate struct State {
        let key: Key
        /// In the order in which they joined.
        var waiters: [(ticket: Ticket, waiter: Waiter, demand: LoadDemand)] = []
        /// Whether the transfer continues after the last waiter has left.
        var finishesAlone: Bool
    }

    private var states: [ID: State] = [:]
    /// The load that the next waiter of a key joins.
    private var ids: [Key: ID] = [:]
    /// Loads that new waiters do not join.
    private var superseded: Set<ID> = []
    private var tickets: [Ticket: ID] = [:]
    /// Loads that have ended, but whose waiters do not all have the result yet.
    private var delivering: [ID: Key] = [:]
    private var lastNumber: UInt64 = 0
    private var scheduler: LoadScheduler

    package var widths: LaneWidths { scheduler.widths }

    /// `widths` are the numbers of transfers that may run at a time. `heldBack` has the conditions of the network in
    /// which each lane holds its loads back.
    package init(widths: LaneWidths, heldBack: [Lane: NetworkConditions] = [:]) {
        scheduler = LoadScheduler(widths: widths, heldBack: heldBack)
    }

    private mutating func number() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Waiters

    /// Returns an identifier for a waiter that is about to join.
    package mutating func ticket() -> Ticket { number() }

    /// Adds a waiter to the load of its key. Creates the load if needed. A load is urgent while it has an urgent
    /// waiter. If the load waits for another attempt, the attempt is queued immediately. In the conditions
    /// `heldBackBy`, in addition to those of the lane, the waiter allows the load to wait in the background lane. A
    /// load waits while the conditions hold all of its waiters back. `isHoldable` tells whether conditions can hold the
    /// waiter back at all.
    package mutating func attach(
        _ waiter: Waiter, _ ticket: Ticket, to key: Key, host: String, lane: Lane, abandonment: Abandonment,
        heldBackBy: NetworkConditions = [], isHoldable: Bool = true
    ) -> (Arrival, [Action]) {
        let demand = LoadDemand(lane: lane, heldBackBy: heldBackBy, isHoldable: isHoldable)
        let finishes = abandonment == .finishAndStore
        guard let id = ids[key], let phase = scheduler.phase(of: id) else {
            let id = number()
            ids[key] = id
            tickets[ticket] = id
            states[id] = State(key: key, waiters: [(ticket, waiter, demand)], finishesAlone: finishes)
            scheduler.add(id, host: host, demand)
            return (.first, start())
        }
        // Change the state in place: a copy of the state would copy all waiters for each new one.
        states[id]?.waiters.append((ticket, waiter, demand))
        if finishes { states[id]?.finishesAlone = true }
        tickets[ticket] = id
        scheduler.addDemand(demand, to: id)
        var actions: [Action] = []
        if case .waiting = phase {
            actions.append(.stop(id))
            scheduler.resume(id)
        }
        return (phase == .running ? .joinedRunning : .joined, actions + start())
    }

    /// Removes a waiter, and returns it unless its load has ended. The load then has the lane and the conditions of the
    /// remaining ones. After the last waiter has left, the load ends, unless its transfer is to be finished.
    package mutating func detach(_ ticket: Ticket) -> (Waiter?, [Action]) {
        guard let id = tickets.removeValue(forKey: ticket),
            let index = states[id]?.waiters.firstIndex(where: { $0.ticket == ticket }),
            let (_, waiter, demand) = states[id]?.waiters.remove(at: index), let state = states[id]
        else { return (nil, []) }
        scheduler.removeDemand(demand, from: id)
        guard state.waiters.isEmpty else { return (waiter, start()) }
        // A load that still waits for its turn has cost nothing yet, so it ends.
        if state.finishesAlone, hasBegun(id) { return (waiter, []) }
        remove(id)
        return (waiter, [.stop(id)] + start())
    }

    /// Ends the loads of the included keys. Returns their waiters in the order of their tickets.
    package mutating func detachAll(where isIncluded: (Key) -> Bool = { _ in true }) -> ([Waiter], [Action]) {
        let ended = states.filter { isIncluded($0.value.key) }
        let all = ended.keys.sorted()
        let waiters = ended.values.flatMap(\.waiters).sorted { $0.ticket < $1.ticket }.map(\.waiter)
        for id in all { remove(id) }
        return (waiters, all.map(Action.stop) + start())
    }

    /// Returns the waiters of a load in the order in which they joined, or `nil` once the load has ended.
    package func waiters(of id: ID) -> [Waiter]? {
        states[id]?.waiters.map(\.waiter)
    }

    package func waiterCount(where isIncluded: (Key) -> Bool) -> Int {
        states.values.reduce(0) { $0 + (isIncluded($1.key) ? $1.waiters.count : 0) }
    }

    /// Returns whether an included key has waiters without a result, or a transfer that is to be finished.
    package func isLoading(where isIncluded: (Key) -> Bool) -> Bool {
        states.values.contains { isIncluded($0.key) } || delivering.values.contains(where: isIncluded)
    }

    /// The number of loads, and the lengths of the queues.
    package var occupancy: LoadOccupancy {
        LoadOccupancy(
            loads: states.count, urgentQueue: scheduler.queueLength(.urgent),
            backgroundQueue: scheduler.queueLength(.background))
    }

    // MARK: Loads

    /// Returns the load that the next waiter of a key would join, with the key of its first waiter.
    func loadToJoin(_ key: Key) -> (ID, Key)? {
        ids[key].flatMap { id in states[id].map { (id, $0.key) } }
    }

    /// Stops a load from accepting further waiters. The next waiter of its key begins another load.
    mutating func supersede(_ id: ID) {
        guard let key = states[id]?.key, ids[key] == id else { return }
        ids[key] = nil
        superseded.insert(id)
    }

    /// Records that the bytes of a load have arrived, and frees its place in the lane.
    package mutating func finishTransfer(_ id: ID) -> [Action] {
        scheduler.finishTransfer(id)
        return start()
    }

    /// Ends a load. The caller passes the result to the waiters in this order, then calls ``finishDelivery(_:)``.
    package mutating func end(_ id: ID) -> ([Waiter], [Action]) {
        guard let state = states[id] else { return ([], []) }
        remove(id)
        delivering[id] = state.key
        return (state.waiters.map(\.waiter), start())
    }

    /// Records that all waiters of an ended load have the result.
    package mutating func finishDelivery(_ id: ID) {
        delivering[id] = nil
    }

    /// Records that an attempt has failed, or that no processor accepts its response. `extra` is the number of attempts
    /// beyond one; -1 if the attempt did not begin. Returns whether another attempt follows; if not, the caller ends
    /// the load. A load without waiters is not retried.
    package mutating func fail(_ id: ID, retry: Retry, extra: Int = 0) -> (Bool, [Action]) {
        guard let state = states[id], hasBegun(id), retry != .never, !state.waiters.isEmpty else { return (false, []) }
        scheduler.pause(id, isParked: retry == .whenReachable, extra: extra)
        return (true, start())
    }

    /// Queues the next attempt of a load whose wait is over: the pause has ended, or its host is reachable.
    package mutating func retry(_ id: ID, after attempt: Int) -> [Action] {
        scheduler.resume(id, after: attempt)
        return start()
    }

    /// Queues the next attempt of all loads that wait for a host, or `nil` for all hosts.
    package mutating func becameReachable(_ host: String? = nil) -> [Action] {
        scheduler.becameReachable(host)
        return start()
    }

    // MARK: Lanes

    /// Changes the given settings in one step, then starts every load that the new settings allow. Running transfers
    /// continue, even above a new limit. `heldBack` has the conditions in which each lane holds its loads back.
    package mutating func set(
        widths: LaneWidths? = nil, heldBack: [Lane: NetworkConditions]? = nil, conditions: NetworkConditions? = nil
    ) -> [Action] {
        if let widths { scheduler.setWidths(widths) }
        scheduler.setHolding(limits: heldBack, conditions: conditions)
        return start()
    }

    /// Puts the loads of the included keys into a lane, with all waiters. A running transfer continues, and counts in
    /// the new lane.
    package mutating func setLane(_ lane: Lane, where isIncluded: (Key) -> Bool) -> [Action] {
        for id in states.filter({ isIncluded($0.value.key) }).keys.sorted() {
            for index in states[id]?.waiters.indices ?? 0..<0 { states[id]?.waiters[index].demand.lane = lane }
            scheduler.setLane(lane, of: id)
        }
        return start()
    }

    /// Whether the transfer of a load runs, or has ended.
    private func hasBegun(_ id: ID) -> Bool {
        switch scheduler.phase(of: id) {
        case .running, .processing: true
        case .queued, .waiting, nil: false
        }
    }

    private mutating func start() -> [Action] {
        scheduler.start().compactMap { id, attempt in
            states[id].map { .start(id, $0.key, attempt: attempt) }
        }
    }

    private mutating func remove(_ id: ID) {
        scheduler.remove(id)
        guard let state = states.removeValue(forKey: id) else { return }
        if ids[state.key] == id { ids[state.key] = nil }
        superseded.remove(id)
        for (ticket, _, _) in state.waiters { tickets[ticket] = nil }
    }
}

extension LoadTable: Sendable where Key: Sendable, Waiter: Sendable {}
extension LoadTable.State: Sendable where Key: Sendable, Waiter: Sendable {}

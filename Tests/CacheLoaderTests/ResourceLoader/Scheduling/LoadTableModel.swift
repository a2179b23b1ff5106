import TestSupport

/// The expected behaviour of a ``LoadTable``, computed for each step from one list of loads. Keys and waiters are
/// numbers.
struct LoadTableModel {
    enum Phase {
        case queued, running, processing, paused, parked
    }

    struct ModelWaiter {
        let number: Int
        var lane: Lane
        /// The conditions that hold the waiter back in the background.
        let heldBackBy: NetworkConditions
        let isHoldable: Bool
    }

    struct ModelLoad {
        let key: Int
        /// Urgent if a waiter is urgent; without waiters, the last lane.
        var lane: Lane
        var phase = Phase.queued
        /// The place in the queue: lower numbers start earlier.
        var place: Int
        var attempt = 0
        var present: [ModelWaiter]
        var finishesAlone: Bool

        var waiters: [Int] { present.map(\.number) }
        var isWaiting: Bool { phase == .paused || phase == .parked }
    }

    struct Start: Equatable {
        let key: Int
        let attempt: Int
    }

    /// The actions of a step.
    struct Outcome: Equatable {
        /// The keys of the stopped loads, with `nil` for a load that has not begun.
        var stopped: [Int?] = []
        var started: [Start] = []
        /// The waiters that receive the result.
        var waiters: [Int] = []
        var isRetried = false
        var arrival: LoadTable<Int, Int>.Arrival?
    }

    /// The loads in order of arrival, at most one per key.
    var loads: [ModelLoad] = []
    /// The keys of ended loads whose waiters are still receiving the result.
    var delivering: [Int] = []
    var widths: LaneWidths
    var conditions: NetworkConditions = []
    var limits: [Lane: NetworkConditions] = [:]
    private var lastPlace = 0

    init(widths: LaneWidths) { self.widths = widths }

    static func host(of key: Int) -> String { "host \(key % 4)" }

    func index(of key: Int) -> Int? { loads.firstIndex { $0.key == key } }

    func isLoading(_ key: Int) -> Bool { index(of: key) != nil || delivering.contains(key) }

    // MARK: Turns

    private mutating func place() -> Int {
        lastPlace += 1
        return lastPlace
    }

    private func count(_ isCounted: (ModelLoad) -> Bool) -> Int { loads.filter(isCounted).count }

    /// Whether the load is queued, and the conditions let it begin for one of its waiters.
    private func hasTurn(_ load: ModelLoad) -> Bool {
        guard load.phase == .queued else { return false }
        return load.present.contains { waiter in
            let limit = limits[waiter.lane, default: []].union(waiter.lane == .background ? waiter.heldBackBy : [])
            return !waiter.isHoldable || limit.isDisjoint(with: conditions)
        }
    }

    /// Moves a load to the lane of its waiters, if it has any.
    private mutating func follow(_ index: Int) {
        guard !loads[index].present.isEmpty else { return }
        move(index, to: loads[index].present.contains { $0.lane == .urgent } ? .urgent : .background)
    }

    private var next: Int? {
        let isUrgent = loads.contains { $0.lane == .urgent && (hasTurn($0) || $0.phase == .running) }
        let lane: Lane = isUrgent ? .urgent : .background
        let width = lane == .urgent ? widths.urgent : widths.background
        guard count({ $0.lane == lane && $0.phase == .running }) < width else { return nil }
        let candidates = loads.indices.filter { index in
            let load = loads[index]
            guard load.lane == lane, hasTurn(load) else { return false }
            let host = Self.host(of: load.key)
            return count { $0.phase == .running && Self.host(of: $0.key) == host } < widths.perHost
        }
        return candidates.min { loads[$0].place < loads[$1].place }
    }

    private mutating func begin(_ outcome: Outcome = Outcome()) -> Outcome {
        var outcome = outcome
        while let index = next {
            loads[index].phase = .running
            loads[index].attempt += 1
            outcome.started.append(Start(key: loads[index].key, attempt: loads[index].attempt))
        }
        return outcome
    }

    private mutating func enqueue(_ index: Int) {
        loads[index].phase = .queued
        loads[index].place = place()
    }

    private mutating func move(_ index: Int, to lane: Lane) {
        guard loads[index].lane != lane else { return }
        loads[index].lane = lane
        if loads[index].phase == .queued { loads[index].place = place() }
    }

    private func stop(_ load: ModelLoad) -> Int? { load.attempt > 0 ? load.key : nil }

    // MARK: Steps

    mutating func attach(
        _ number: Int, to key: Int, lane: Lane, finishes: Bool, heldBackBy: NetworkConditions, isHoldable: Bool
    ) -> Outcome {
        let waiter = ModelWaiter(number: number, lane: lane, heldBackBy: heldBackBy, isHoldable: isHoldable)
        guard let index = index(of: key) else {
            loads.append(ModelLoad(key: key, lane: lane, place: place(), present: [waiter], finishesAlone: finishes))
            return begin(Outcome(arrival: .first))
        }
        loads[index].present.append(waiter)
        loads[index].finishesAlone = loads[index].finishesAlone || finishes
        follow(index)
        var outcome = Outcome(arrival: loads[index].phase == .running ? .joinedRunning : .joined)
        if loads[index].isWaiting {
            outcome.stopped = [key]
            enqueue(index)
        }
        return begin(outcome)
    }

    mutating func detach(_ waiter: Int) -> Outcome {
        guard let index = loads.firstIndex(where: { $0.waiters.contains(waiter) }) else { return Outcome() }
        loads[index].present.removeAll { $0.number == waiter }
        follow(index)
        let load = loads[index]
        let hasBegun = load.phase == .running || load.phase == .processing
        guard load.waiters.isEmpty, !(hasBegun && load.finishesAlone) else { return begin(Outcome(waiters: [waiter])) }
        loads.remove(at: index)
        return begin(Outcome(stopped: [stop(load)], waiters: [waiter]))
    }

    mutating func detachAll() -> Outcome {
        defer { loads = [] }
        // Later waiters have larger numbers.
        return Outcome(stopped: loads.map(stop), waiters: loads.flatMap(\.waiters).sorted())
    }

    mutating func finishTransfer(_ key: Int) -> Outcome {
        guard let index = index(of: key), loads[index].phase == .running else { return Outcome() }
        loads[index].phase = .processing
        return begin()
    }

    mutating func end(_ key: Int) -> Outcome {
        guard let index = index(of: key) else { return Outcome() }
        let load = loads.remove(at: index)
        delivering.append(key)
        return begin(Outcome(waiters: load.waiters))
    }

    mutating func fail(_ key: Int, _ retry: LoadTable<Int, Int>.Retry) -> Outcome {
        guard let index = index(of: key), [.running, .processing].contains(loads[index].phase), retry != .never,
            !loads[index].waiters.isEmpty
        else { return Outcome() }
        loads[index].phase = retry == .later ? .paused : .parked
        return begin(Outcome(isRetried: true))
    }

    mutating func retry(_ key: Int, after attempt: Int) -> Outcome {
        guard let index = index(of: key), loads[index].isWaiting, loads[index].attempt == attempt else {
            return Outcome()
        }
        enqueue(index)
        return begin()
    }

    mutating func becameReachable(_ host: String?) -> Outcome {
        for index in loads.indices where loads[index].phase == .parked {
            if host == nil || host == Self.host(of: loads[index].key) { enqueue(index) }
        }
        return begin()
    }

    mutating func setLane(_ lane: Lane, of key: Int) -> Outcome {
        if let index = index(of: key) {
            for waiter in loads[index].present.indices { loads[index].present[waiter].lane = lane }
            move(index, to: lane)
        }
        return begin()
    }

    mutating func setConditions(_ conditions: NetworkConditions) -> Outcome {
        self.conditions = conditions
        return begin()
    }

    mutating func setHeldBack(_ limits: [Lane: NetworkConditions]) -> Outcome {
        self.limits = limits
        return begin()
    }

    mutating func setWidths(_ widths: LaneWidths) -> Outcome {
        self.widths = widths
        return begin()
    }
}

extension LoadTable {
    func isLoading(_ key: Key) -> Bool { isLoading(where: { $0 == key }) }

    mutating func setLane(_ lane: Lane, of key: Key) -> [Action] {
        setLane(lane, where: { $0 == key })
    }
}

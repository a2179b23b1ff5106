import CacheLoader
internal import HTTPCaching

/// What a ``LoadBoard`` should do, worked out anew for each step from one list of flights. Keys and waiters are numbers.
struct LoadBoardModel {
    enum Phase {
        case queued, running, landing, paused, parked
    }

    struct Flight {
        let key: Int
        var lane: Lane
        var phase = Phase.queued
        /// The lower, the sooner its turn comes.
        var place: Int
        var attempt = 0
        var waiters: [Int]
        var finishesAlone: Bool

        var isWaiting: Bool { phase == .paused || phase == .parked }
    }

    struct Start: Equatable {
        let key: Int
        let attempt: Int
    }

    /// What a step leads to.
    struct Outcome: Equatable {
        /// The keys of the flights that are stopped; `nil` for one that has not begun.
        var stopped: [Int?] = []
        var started: [Start] = []
        /// Who has to be told.
        var waiters: [Int] = []
        var isRetried = false
        var arrival: LoadBoard<Int, Int>.Arrival?
    }

    /// In the order of their coming; there is one for a key at most.
    var flights: [Flight] = []
    /// The keys of flights that have ended, but whose waiters are still being told.
    var telling: [Int] = []
    var widths: LaneWidths
    private var lastPlace = 0

    init(widths: LaneWidths) {
        self.widths = widths
    }

    static func host(of key: Int) -> String { "host \(key % 4)" }

    func index(of key: Int) -> Int? { flights.firstIndex { $0.key == key } }

    func isLoading(_ key: Int) -> Bool { index(of: key) != nil || telling.contains(key) }

    // MARK: Turns

    private mutating func place() -> Int {
        lastPlace += 1
        return lastPlace
    }

    private func count(_ isCounted: (Flight) -> Bool) -> Int { flights.filter(isCounted).count }

    private var next: Int? {
        let isUrgent = flights.contains { $0.lane == .urgent && ($0.phase == .queued || $0.phase == .running) }
        let lane: Lane = isUrgent ? .urgent : .background
        let width = lane == .urgent ? widths.urgent : widths.background
        guard count({ $0.lane == lane && $0.phase == .running }) < width else { return nil }
        let candidates = flights.indices.filter { index in
            let flight = flights[index]
            guard flight.lane == lane, flight.phase == .queued else { return false }
            let host = Self.host(of: flight.key)
            return count { $0.phase == .running && Self.host(of: $0.key) == host } < widths.perHost
        }
        return candidates.min { flights[$0].place < flights[$1].place }
    }

    private mutating func begin(_ outcome: Outcome = Outcome()) -> Outcome {
        var outcome = outcome
        while let index = next {
            flights[index].phase = .running
            flights[index].attempt += 1
            outcome.started.append(Start(key: flights[index].key, attempt: flights[index].attempt))
        }
        return outcome
    }

    private mutating func enqueue(_ index: Int) {
        flights[index].phase = .queued
        flights[index].place = place()
    }

    private mutating func move(_ index: Int, to lane: Lane) {
        guard flights[index].lane != lane else { return }
        flights[index].lane = lane
        if flights[index].phase == .queued { flights[index].place = place() }
    }

    private func stop(_ flight: Flight) -> Int? { flight.attempt > 0 ? flight.key : nil }

    // MARK: Steps

    mutating func attach(_ waiter: Int, to key: Int, lane: Lane, finishes: Bool) -> Outcome {
        guard let index = index(of: key) else {
            flights.append(
                Flight(key: key, lane: lane, place: place(), waiters: [waiter], finishesAlone: finishes))
            return begin(Outcome(arrival: .first))
        }
        flights[index].waiters.append(waiter)
        flights[index].finishesAlone = flights[index].finishesAlone || finishes
        if lane == .urgent { move(index, to: .urgent) }
        var outcome = Outcome(arrival: flights[index].phase == .running ? .joinedRunning : .joined)
        if flights[index].isWaiting {
            outcome.stopped = [key]
            enqueue(index)
        }
        return begin(outcome)
    }

    mutating func detach(_ waiter: Int) -> Outcome {
        guard let index = flights.firstIndex(where: { $0.waiters.contains(waiter) }) else { return Outcome() }
        flights[index].waiters.removeAll { $0 == waiter }
        let flight = flights[index]
        let hasBegun = flight.phase == .running || flight.phase == .landing
        guard flight.waiters.isEmpty, !(hasBegun && flight.finishesAlone) else { return Outcome(waiters: [waiter]) }
        flights.remove(at: index)
        return begin(Outcome(stopped: [stop(flight)], waiters: [waiter]))
    }

    mutating func detachAll() -> Outcome {
        defer { flights = [] }
        // Who comes later has a greater number.
        return Outcome(stopped: flights.map(stop), waiters: flights.flatMap(\.waiters).sorted())
    }

    mutating func land(_ key: Int) -> Outcome {
        guard let index = index(of: key), flights[index].phase == .running else { return Outcome() }
        flights[index].phase = .landing
        return begin()
    }

    mutating func end(_ key: Int) -> Outcome {
        guard let index = index(of: key) else { return Outcome() }
        let flight = flights.remove(at: index)
        telling.append(key)
        return begin(Outcome(waiters: flight.waiters))
    }

    mutating func fail(_ key: Int, _ retry: LoadBoard<Int, Int>.Retry) -> Outcome {
        guard let index = index(of: key), [.running, .landing].contains(flights[index].phase), retry != .never,
            !flights[index].waiters.isEmpty
        else { return Outcome() }
        flights[index].phase = retry == .later ? .paused : .parked
        return begin(Outcome(isRetried: true))
    }

    mutating func retry(_ key: Int, after attempt: Int) -> Outcome {
        guard let index = index(of: key), flights[index].isWaiting, flights[index].attempt == attempt else {
            return Outcome()
        }
        enqueue(index)
        return begin()
    }

    mutating func becameReachable(_ host: String?) -> Outcome {
        for index in flights.indices where flights[index].phase == .parked {
            if host == nil || host == Self.host(of: flights[index].key) { enqueue(index) }
        }
        return begin()
    }

    mutating func setLane(_ lane: Lane, of key: Int) -> Outcome {
        if let index = index(of: key) { move(index, to: lane) }
        return begin()
    }

    mutating func setWidths(_ widths: LaneWidths) -> Outcome {
        self.widths = widths
        return begin()
    }
}

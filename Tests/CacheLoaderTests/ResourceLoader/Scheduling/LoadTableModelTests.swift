import TestSupport

/// Applies the same random steps to a table and to its model, and compares the results.
private struct TableWalk {
    typealias Table = LoadTable<Int, Int>
    typealias Model = LoadTableModel

    static let keyCount = 24

    var generator: SeededGenerator
    var table: Table
    var model: Model
    /// The latest load of each key.
    var loads: [Int: Table.ID] = [:]
    /// The key of each started load.
    var keys: [Table.ID: Int] = [:]
    /// The started loads, in order.
    var begun: [Table.ID] = []
    /// Ended loads whose waiters are receiving the result.
    var delivering: [(load: Table.ID, key: Int)] = []
    /// The tickets of all waiters so far.
    var tickets: [Table.Ticket] = []
    /// The number of results that each waiter received.
    var resultCounts: [Int] = []
    /// Counts the steps by kind: a walk without retries would prove nothing about retries.
    var counts: [String: Int] = [:]

    init(_ generator: SeededGenerator) {
        self.generator = generator
        table = Table(widths: LaneWidths(urgent: 3, background: 1, perHost: 2))
        model = Model(widths: table.widths)
    }

    mutating func random(_ count: Int) -> Int { .random(in: 0..<count, using: &generator) }

    // MARK: Outcomes

    /// Translates the table's actions into those of the model.
    mutating func outcome(_ actions: [Table.Action], of waiters: [Int] = []) -> Model.Outcome {
        var outcome = Model.Outcome(waiters: waiters)
        for waiter in waiters { resultCounts[waiter] += 1 }
        for action in actions {
            switch action {
            case .start(let load, let key, let attempt):
                loads[key] = load
                keys[load] = key
                begun.append(load)
                outcome.started.append(Model.Start(key: key, attempt: attempt))
            case .stop(let load): outcome.stopped.append(keys[load])
            }
        }
        return outcome
    }

    // MARK: Steps

    /// A random started load in one of these phases.
    mutating func load(in phases: Set<Model.Phase>) -> (load: Table.ID, key: Int, attempt: Int)? {
        let found = model.loads.filter { phases.contains($0.phase) && $0.attempt > 0 }
        guard !found.isEmpty else { return nil }
        let chosen = found[random(found.count)]
        return loads[chosen.key].map { ($0, chosen.key, chosen.attempt) }
    }

    /// Takes a step. Returns its actual and its expected outcome.
    mutating func step() -> (name: String, actual: Model.Outcome, expected: Model.Outcome) {
        switch random(1000) {
        case ..<350: return attach()
        case ..<600: return detach()
        case ..<690: return fail()
        case ..<760: return finishTransfer()
        case ..<850: return end()
        case ..<890: return retry()
        case ..<920: return becameReachable()
        case ..<980: return setLane()
        case ..<990: return setWidths()
        case ..<997: return setConditions()
        case ..<999: return setHeldBack()
        default: return detachAll()
        }
    }

    private mutating func attach() -> (String, Model.Outcome, Model.Outcome) {
        let (key, waiter, ticket) = (random(Self.keyCount), tickets.count, table.ticket())
        let (lane, finishes) = (Lane.allCases[random(2)], random(4) == 0)
        let heldBackBy: NetworkConditions = random(4) == 0 ? conditions() : []
        let isHoldable = random(8) != 0
        tickets.append(ticket)
        resultCounts.append(0)
        let (arrival, actions) = table.attach(
            waiter, ticket, to: key, host: Model.host(of: key), lane: lane,
            abandonment: finishes ? .finishAndStore : .stop, heldBackBy: heldBackBy, isHoldable: isHoldable)
        var actual = outcome(actions)
        actual.arrival = arrival
        return (
            "attach", actual,
            model.attach(
                waiter, to: key, lane: lane, finishes: finishes, heldBackBy: heldBackBy, isHoldable: isHoldable)
        )
    }

    private mutating func detach() -> (String, Model.Outcome, Model.Outcome) {
        let waiting = model.loads.flatMap(\.waiters)
        guard !tickets.isEmpty else { return ("nothing", Model.Outcome(), Model.Outcome()) }
        // Occasionally a waiter that already has its result.
        let isLate = waiting.isEmpty || random(10) == 0
        let waiter = isLate ? random(tickets.count) : waiting[random(waiting.count)]
        let (told, actions) = table.detach(tickets[waiter])
        return ("detach", outcome(actions, of: told.map { [$0] } ?? []), model.detach(waiter))
    }

    private mutating func finishTransfer() -> (String, Model.Outcome, Model.Outcome) {
        guard let (load, key, _) = load(in: [.running, .running, .processing, .queued]) else {
            return ("nothing", Model.Outcome(), Model.Outcome())
        }
        return ("finishTransfer", outcome(table.finishTransfer(load)), model.finishTransfer(key))
    }

    private mutating func end() -> (String, Model.Outcome, Model.Outcome) {
        // Occasionally a load that has already ended.
        if random(10) == 0, !begun.isEmpty {
            let load = begun[random(begun.count)]
            guard let key = keys[load], loads[key] != load || model.index(of: key) == nil else {
                return ("nothing", Model.Outcome(), Model.Outcome())
            }
            let (waiters, actions) = table.end(load)
            return ("end again", outcome(actions, of: waiters), Model.Outcome())
        }
        guard let (load, key, _) = load(in: [.running, .processing]) else {
            return ("nothing", Model.Outcome(), Model.Outcome())
        }
        let (waiters, actions) = table.end(load)
        delivering.append((load, key))
        return ("end", outcome(actions, of: waiters), model.end(key))
    }

    private mutating func fail() -> (String, Model.Outcome, Model.Outcome) {
        guard let (load, key, _) = load(in: [.running, .processing]) else {
            return ("nothing", Model.Outcome(), Model.Outcome())
        }
        let retry = [Table.Retry.later, .whenReachable, .later, .whenReachable, .never][random(5)]
        let (isRetried, actions) = table.fail(load, retry: retry)
        var actual = outcome(actions)
        actual.isRetried = isRetried
        return ("fail", actual, model.fail(key, retry))
    }

    private mutating func retry() -> (String, Model.Outcome, Model.Outcome) {
        guard let (load, key, attempt) = load(in: [.paused, .parked, .queued, .running]) else {
            return ("nothing", Model.Outcome(), Model.Outcome())
        }
        // Occasionally the end of an outdated pause.
        let number = attempt - (random(5) == 0 ? 1 : 0)
        return ("retry", outcome(table.retry(load, after: number)), model.retry(key, after: number))
    }

    private mutating func becameReachable() -> (String, Model.Outcome, Model.Outcome) {
        let host = random(3) == 0 ? nil : Model.host(of: random(Self.keyCount))
        return ("becameReachable", outcome(table.becameReachable(host)), model.becameReachable(host))
    }

    private mutating func setLane() -> (String, Model.Outcome, Model.Outcome) {
        let (lane, key) = (Lane.allCases[random(2)], random(Self.keyCount))
        return ("setLane", outcome(table.setLane(lane, of: key)), model.setLane(lane, of: key))
    }

    private mutating func setWidths() -> (String, Model.Outcome, Model.Outcome) {
        let widths = LaneWidths(urgent: random(5), background: random(4), perHost: random(4))
        return ("setWidths", outcome(table.set(widths: widths)), model.setWidths(widths))
    }

    /// A random set of conditions, perhaps empty.
    private mutating func conditions() -> NetworkConditions { NetworkConditions(rawValue: UInt8(random(8))) }

    private mutating func setConditions() -> (String, Model.Outcome, Model.Outcome) {
        let conditions = random(2) == 0 ? [] : conditions()
        return ("setConditions", outcome(table.set(conditions: conditions)), model.setConditions(conditions))
    }

    private mutating func setHeldBack() -> (String, Model.Outcome, Model.Outcome) {
        let limits = [Lane.urgent: random(2) == 0 ? [] : conditions(), .background: conditions()]
        return ("setHeldBack", outcome(table.set(heldBack: limits)), model.setHeldBack(limits))
    }

    private mutating func detachAll() -> (String, Model.Outcome, Model.Outcome) {
        let (waiters, actions) = table.detachAll()
        return ("detachAll", outcome(actions, of: waiters), model.detachAll())
    }

    /// Ends the delivery to the waiters of the load that ended first.
    mutating func deliver() {
        guard !delivering.isEmpty else { return }
        let (load, key) = delivering.removeFirst()
        table.finishDelivery(load)
        if let index = model.delivering.firstIndex(of: key) { model.delivering.remove(at: index) }
    }

    /// Whether table and model agree on a key and on its latest load.
    func agrees(on key: Int) -> Bool {
        guard table.isLoading(key) == model.isLoading(key) else { return false }
        guard let load = loads[key], let index = model.index(of: key), model.loads[index].attempt > 0 else {
            return true
        }
        return table.waiters(of: load) == model.loads[index].waiters
    }

    /// Whether the rules hold that need no model.
    var keepsTheRules: Bool {
        let waiting = model.loads.flatMap(\.waiters)
        return waiting.allSatisfy { resultCounts[$0] == 0 } && resultCounts.filter { $0 == 0 }.count == waiting.count
            && resultCounts.allSatisfy { $0 <= 1 }
    }
}

@Suite("LoadTable against a model", .timeLimit(.minutes(5))) struct LoadTableModelTests {
    private static let steps = Repetitions.count(1_000_000, debug: 25_000)
    private static let runs = 4

    @Test(
        "Random steps start, stop and notify the same loads as the model, in the same order",
        .requirement("E2", "E8", "H1", "H2"), arguments: 0..<runs)
    func random(_: Int) {
        let generator = SeededGenerator()
        let seed = generator.description
        var walk = TableWalk(generator)
        for number in 0..<Self.steps / Self.runs {
            let (name, actual, expected) = walk.step()
            walk.counts[name, default: 0] += 1
            walk.counts["start", default: 0] += actual.started.count
            walk.counts["stop", default: 0] += actual.stopped.count
            if actual.isRetried { walk.counts["retried", default: 0] += 1 }
            if walk.random(3) == 0 { walk.deliver() }
            let key = actual.started.first?.key ?? walk.random(TableWalk.keyCount)
            guard actual == expected, walk.agrees(on: key), walk.agrees(on: walk.random(TableWalk.keyCount)) else {
                Issue.record("step \(number), \(name): \(actual) instead of \(expected). \(seed)")
                return
            }
            if number % 1000 == 0 { #expect(walk.keepsTheRules, "step \(number). \(seed)") }
        }
        for name in [
            "attach", "detach", "finishTransfer", "end", "end again", "fail", "retry", "retried", "setLane",
            "setConditions", "start",
        ] {
            #expect(walk.counts[name, default: 0] > Self.steps / Self.runs / 500, "\(walk.counts). \(seed)")
        }
        end(&walk, seed)
    }

    /// Ends all remaining loads as their turns come, and expects an empty table.
    private func end(_ walk: inout TableWalk, _ seed: String) {
        _ = walk.outcome(walk.table.set(widths: LaneWidths()))
        _ = walk.model.setWidths(LaneWidths())
        _ = walk.outcome(walk.table.becameReachable())
        _ = walk.model.becameReachable(nil)
        _ = walk.outcome(walk.table.set(conditions: []))
        _ = walk.model.setConditions([])
        while let (load, key, attempt) = walk.load(in: [.running, .processing, .paused]) {
            let (waiters, actions) = walk.table.end(load)
            #expect(walk.outcome(actions, of: waiters) == walk.model.end(key), "attempt \(attempt). \(seed)")
            walk.delivering.append((load, key))
        }
        while !walk.delivering.isEmpty { walk.deliver() }
        #expect(walk.model.loads.isEmpty, "\(seed)")
        #expect(walk.resultCounts.allSatisfy { $0 == 1 }, "\(seed)")
        #expect((0..<TableWalk.keyCount).allSatisfy { !walk.table.isLoading($0) }, "\(seed)")
    }
}

import TestSupport

/// A table whose keys are `host/name`, with its recorded actions.
struct TestTable {
    typealias Table = LoadTable<String, String>

    var table: Table
    /// `key` for a first attempt, `key #2` for the second.
    var started: [String] = []
    var stopped: [String] = []
    var informed: [String] = []
    private var loads: [String: Table.ID] = [:]
    private var tickets: [String: Table.Ticket] = [:]

    init(urgent: Int = 6, background: Int = 1, perHost: Int = 6) {
        table = Table(widths: LaneWidths(urgent: urgent, background: background, perHost: perHost))
    }

    mutating func perform(_ actions: [Table.Action]) {
        for action in actions {
            switch action {
            case .start(let id, let key, let attempt):
                loads[key] = id
                started.append(attempt == 1 ? key : "\(key) #\(attempt)")
            case .stop(let id): stopped.append(loads.first { $0.value == id }?.key ?? "not begun")
            }
        }
    }

    @discardableResult
    mutating func attach(
        _ waiter: String, _ key: String, _ lane: Lane = .urgent, _ abandonment: Abandonment = .stop
    ) -> Table.Arrival {
        let ticket = table.ticket()
        tickets[waiter] = ticket
        let host = String(key.prefix { $0 != "/" })
        let (arrival, actions) = table.attach(waiter, ticket, to: key, host: host, lane: lane, abandonment: abandonment)
        perform(actions)
        return arrival
    }

    mutating func detach(_ waiter: String) {
        let (waiter, actions) = table.detach(tickets[waiter] ?? 0)
        if let waiter { informed.append(waiter) }
        perform(actions)
    }

    func id(_ key: String) -> Table.ID { loads[key] ?? 0 }

    mutating func end(_ keys: String...) {
        for key in keys {
            let (waiters, actions) = table.end(id(key))
            informed += waiters
            perform(actions)
            table.finishDelivery(id(key))
        }
    }

    @discardableResult
    mutating func fail(_ key: String, _ retry: Table.Retry) -> Bool {
        let (isRetried, actions) = table.fail(id(key), retry: retry)
        perform(actions)
        return isRetried
    }

    mutating func retry(_ key: String, after attempt: Int) { perform(table.retry(id(key), after: attempt)) }
    mutating func becameReachable(_ host: String?) { perform(table.becameReachable(host)) }
    mutating func setConditions(_ conditions: NetworkConditions) { perform(table.set(conditions: conditions)) }
    mutating func setHeldBack(_ limits: [Lane: NetworkConditions]) { perform(table.set(heldBack: limits)) }
    mutating func setLane(_ lane: Lane, _ key: String) { perform(table.setLane(lane, of: key)) }

    mutating func setWidths(urgent: Int = 6, background: Int = 1, perHost: Int = 6) {
        perform(table.set(widths: LaneWidths(urgent: urgent, background: background, perHost: perHost)))
    }

    /// The loads that have started since the last call.
    mutating func news() -> [String] {
        defer { started = [] }
        return started
    }
}

@Suite("LoadTable") struct LoadTableTests {
    var test = TestTable()

    // MARK: Waiters

    @Test(
        "Waiters get the result in the order in which they joined, in any lane and after a cancellation",
        .requirement("E2"))
    mutating func order() {
        for (number, lane) in [Lane.background, .urgent, .background, .urgent].enumerated() {
            test.attach("\(number)", "a/1", lane)
        }
        test.detach("2")
        test.end("a/1")
        #expect(test.informed == ["2", "0", "1", "3"])
        #expect(test.started == ["a/1"])
    }

    @Test("A waiter is first, joins a queued load, or joins a running one")
    mutating func arrivals() {
        test.setWidths(urgent: 1)
        #expect(test.attach("1", "a/1") == .first)
        #expect(test.attach("2", "a/1") == .joinedRunning)
        #expect(test.attach("3", "a/2") == .first)
        #expect(test.attach("4", "a/2") == .joined)
        _ = test.table.finishTransfer(test.id("a/1"))
        #expect(test.attach("5", "a/1") == .joined, "its transfer is over")
        test.end("a/1")
        #expect(test.informed == ["1", "2", "5"])
        #expect(test.attach("6", "a/1") == .first)
    }

    @Test("The last waiter to leave stops a load; a started load that must finish continues", .requirement("E4", "E5"))
    mutating func leaving() {
        test.setWidths(urgent: 2)
        test.attach("1", "a/1")
        test.attach("2", "a/1")
        test.attach("3", "a/2", .urgent, .finishAndStore)
        test.attach("4", "a/2")
        test.attach("5", "a/3", .urgent, .finishAndStore)
        for waiter in ["1", "1", "3", "4"] { test.detach(waiter) }
        #expect(test.stopped == [])
        #expect(test.table.isLoading("a/2"))
        test.detach("5")
        #expect(test.stopped == ["not begun"], "it waited for its turn")
        test.detach("2")
        #expect(test.stopped == ["not begun", "a/1"])
        #expect(!test.table.isLoading("a/1"))
        test.end("a/2")
        #expect(test.informed == ["1", "3", "4", "5", "2"])
        #expect(!test.table.isLoading("a/2"))
    }

    @Test("A load without waiters is not retried", .requirement("H7"))
    mutating func retryOfNobody() {
        test.attach("1", "a/1", .urgent, .finishAndStore)
        test.detach("1")
        #expect(test.fail("a/1", .later) == false)
        test.end("a/1")
        #expect(!test.table.isLoading("a/1"))
    }

    @Test(
        "isLoading is true from the first waiter until the last has the result, and not after a stop",
        .requirement("E8"))
    mutating func isLoading() {
        #expect(!test.table.isLoading("a/1"))
        test.attach("1", "a/1")
        let first = test.id("a/1")
        _ = test.table.finishTransfer(first)
        #expect(test.table.isLoading("a/1"))
        _ = test.table.end(first)
        #expect(test.table.isLoading("a/1"), "its waiters do not have the result yet")
        test.attach("2", "a/1")
        let second = test.id("a/1")
        test.detach("2")
        #expect(test.table.isLoading("a/1"), "those of the first do not have the result yet")
        // The second load was stopped. The end of its transfer does not affect the first.
        _ = test.table.end(second)
        test.table.finishDelivery(second)
        #expect(test.table.isLoading("a/1"))
        test.table.finishDelivery(first)
        #expect(!test.table.isLoading("a/1"))
    }

    @Test("An ended load keeps neither its key nor its waiters")
    func leaks() {
        final class Thing: Hashable {
            static func == (first: Thing, second: Thing) -> Bool { first === second }
            func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
        }
        struct Weak {
            weak var thing: Thing?
        }
        var table = LoadTable<Thing, Thing>(widths: LaneWidths(urgent: 2, background: 1, perHost: 1))
        var made: [Weak] = []
        func thing() -> Thing {
            let thing = Thing()
            made.append(Weak(thing: thing))
            return thing
        }
        do {
            var loads: [UInt64] = []
            var tickets: [UInt64] = []
            for number in 0..<40 {
                tickets.append(table.ticket())
                let (_, actions) = table.attach(
                    thing(), tickets[number], to: thing(), host: "\(number % 3)",
                    lane: number % 2 == 0 ? .urgent : .background, abandonment: .stop)
                for case .start(let id, _, _) in actions { loads.append(id) }
            }
            for ticket in tickets[30...] { _ = table.detach(ticket) }
            while let id = loads.popLast() {
                let actions = table.finishTransfer(id) + table.end(id).1
                table.finishDelivery(id)
                for case .start(let id, _, _) in actions { loads.append(id) }
            }
        }
        #expect(made.count == 80)
        #expect(made.allSatisfy { $0.thing == nil })
    }

    // MARK: Lanes

    @Test("At most as many loads as the width run; a change of the width takes effect immediately", .requirement("H1"))
    mutating func widths() {
        for number in 1...20 { test.attach("\(number)", "\(number)/x") }
        #expect(test.news() == (1...6).map { "\($0)/x" })
        test.setWidths(urgent: 2)
        for number in 1...4 { test.end("\(number)/x") }
        #expect(test.news() == [], "two are still under way")
        test.end("5/x")
        #expect(test.news() == ["7/x"])
        test.setWidths(urgent: 4)
        #expect(test.news() == ["8/x", "9/x"])
        test.setWidths(urgent: 0)
        test.end("6/x", "7/x", "8/x", "9/x")
        #expect(test.news() == [])
        test.setWidths(urgent: .max)
        #expect(test.news() == (10...20).map { "\($0)/x" })
    }

    @Test("A load that leaves before its start frees the slot of its host", .requirement("H1"))
    mutating func roomOfWhoLeaves() {
        test.setWidths(background: 3, perHost: 1)
        for number in 1...3 { test.attach("\(number)", "a/\(number)", .background) }
        test.attach("urgent", "b/1")
        test.end("a/1")
        test.detach("2")
        #expect(test.news() == ["a/1", "b/1"])
        test.end("b/1")
        #expect(test.news() == ["a/3"])
    }

    /// The fate of the only urgent load, `a/2`.
    enum Drain: CaseIterable {
        case landed, ended, pauses, parked, left, demoted
    }

    @Test(
        "The background continues when urgent loads have results, pause, park or leave", .requirement("H2"),
        arguments: Drain.allCases)
    mutating func backgroundGoesOn(drain: Drain) {
        test.setWidths(background: 2)
        test.attach("1", "a/1", .background)
        test.attach("2", "a/2")
        test.attach("3", "a/3", .background)
        test.end("a/1")
        #expect(test.news() == ["a/1", "a/2"])
        switch drain {
        case .landed: test.perform(test.table.finishTransfer(test.id("a/2")))
        case .ended: test.end("a/2")
        case .pauses: test.fail("a/2", .later)
        case .parked: test.fail("a/2", .whenReachable)
        case .left: test.detach("2")
        case .demoted: test.setLane(.background, "a/2")
        }
        #expect(test.news() == ["a/3"])
    }

    // MARK: Retries

    @Test("A retry keeps key, lane and waiters, and waits for its turn", .requirement("H7"))
    mutating func retries() {
        test.setWidths(urgent: 1)
        test.attach("1", "a/1")
        test.attach("2", "a/2")
        #expect(test.fail("a/1", .later) == true)
        test.attach("3", "a/3", .background)
        test.retry("a/1", after: 1)
        #expect(test.news() == ["a/1", "a/2"], "a/2 had its turn")
        test.end("a/2")
        #expect(test.news() == ["a/1 #2"])
        #expect(test.fail("a/1", .later) == true)
        test.retry("a/1", after: 1)
        #expect(test.news() == ["a/3"], "that pause was over before")
        test.retry("a/1", after: 2)
        #expect(test.news() == ["a/1 #3"])
        #expect(test.fail("a/1", .never) == false)
        test.end("a/1")
        #expect(test.informed == ["2", "1"])
    }

    @Test("A load whose response no processor accepts waits for its turn again, if it has waiters")
    mutating func refusedResponses() {
        test.setWidths(urgent: 1)
        test.attach("1", "a/1")
        test.attach("2", "a/2", .urgent, .finishAndStore)
        test.perform(test.table.finishTransfer(test.id("a/1")))
        #expect(test.fail("a/1", .later) == true)
        test.retry("a/1", after: 1)
        #expect(test.news() == ["a/1", "a/2"], "a/2 had its turn")
        test.detach("2")
        test.perform(test.table.finishTransfer(test.id("a/2")))
        #expect(test.news() == ["a/1 #2"])
        #expect(test.fail("a/2", .later) == false)
        test.end("a/1", "a/2")
        #expect(test.informed == ["2", "1"])
    }

    @Test(
        "A new waiter of a parked or pausing load starts a retry immediately, and only once", .requirement("H6"),
        arguments: [true, false])
    mutating func newDemand(isParked: Bool) {
        test.attach("1", "a/1")
        test.fail("a/1", isParked ? .whenReachable : .later)
        #expect(test.attach("2", "a/1", .background) == .joined)
        #expect(test.stopped == ["a/1"], "the pause")
        test.becameReachable("a")
        test.retry("a/1", after: 1)
        #expect(test.news() == ["a/1", "a/1 #2"])
        test.end("a/1")
        #expect(test.informed == ["1", "2"])
    }

    // MARK: Conditions of the network

    @Test("A held back urgent load does not block the background", .requirement("H9"))
    mutating func backgroundBesideHeldUrgent() {
        test.setHeldBack([.urgent: .constrained])
        test.setConditions(.constrained)
        test.attach("1", "a/1")
        test.attach("2", "a/2", .background)
        #expect(test.news() == ["a/2"])
    }

    @Test(
        "A load leaves the urgent lane with its last urgent waiter, queued or running", .requirement("H3"),
        arguments: [false, true])
    mutating func fallback(isRunning: Bool) {
        let width = isRunning ? 1 : 0
        test.setWidths(urgent: width, background: width)
        test.attach("1", "a/1", .background)
        test.attach("2", "a/1")
        test.attach("3", "a/1")
        test.detach("2")
        #expect(test.table.occupancy.urgentQueue == 1 - width)
        test.attach("4", "a/2")
        #expect(test.news() == (isRunning ? ["a/1"] : []), "the urgent lane is full")
        test.detach("3")
        #expect(test.table.occupancy.backgroundQueue == 1 - width)
        #expect(test.news() == (isRunning ? ["a/2"] : []))
        test.detach("4")
        test.setWidths()
        #expect(test.news() == (isRunning ? [] : ["a/1"]))
        test.end("a/1")
        #expect(test.informed == ["2", "3", "4", "1"])
    }

    @Test("Several settings change in one step: no load begins under a part of them", .requirement("H9"))
    mutating func oneStep() {
        test.setHeldBack([.background: .expensive])
        test.setConditions(.expensive)
        test.attach("1", "a/1", .background)
        test.perform(test.table.set(heldBack: [.background: .lowPower], conditions: .lowPower))
        test.perform(
            test.table.set(
                widths: LaneWidths(background: 2), heldBack: [.background: .expensive], conditions: .expensive))
        #expect(test.news() == [])
        test.perform(test.table.set(conditions: []))
        #expect(test.news() == ["a/1"])
    }

    // MARK: Many

    @Test("10,000 loads over 1,000 hosts begin in their order and end, each once", .requirement("H1"))
    mutating func many() {
        for number in 0..<10_000 { test.attach("\(number)", "\(number % 1000)/\(number)") }
        var next = 0
        while next < test.started.count {
            test.end(test.started[next])
            next += 1
        }
        #expect(test.started == (0..<10_000).map { "\($0 % 1000)/\($0)" })
        #expect(test.informed == (0..<10_000).map(String.init))
        #expect(test.stopped == [])
    }
}

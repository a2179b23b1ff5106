import CacheLoader
internal import HTTPCaching
import TestSupport
import Testing

/// Network conditions that hold loads back.
extension LoadTableTests {
    struct Holding: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let lane: Lane
        /// The conditions of the waiter, as for a prefetch.
        var own: NetworkConditions = []
        var lanes: [Lane: NetworkConditions] = [:]
        let conditions: NetworkConditions
        let begins: Bool

        static let all: [Holding] = [
            Holding(testDescription: "no limit", lane: .background, conditions: [.expensive, .lowPower], begins: true),
            Holding(
                testDescription: "no such condition", lane: .background, lanes: [.background: .expensive],
                conditions: [.constrained, .lowPower], begins: true),
            Holding(
                testDescription: "constrained", lane: .background, lanes: [.background: [.constrained, .expensive]],
                conditions: .constrained, begins: false),
            Holding(
                testDescription: "expensive", lane: .background, lanes: [.background: [.constrained, .expensive]],
                conditions: .expensive, begins: false),
            Holding(
                testDescription: "low power", lane: .background, lanes: [.background: .lowPower],
                conditions: [.expensive, .lowPower], begins: false),
            Holding(
                testDescription: "the other lane's limit", lane: .urgent, lanes: [.background: .expensive],
                conditions: .expensive, begins: true),
            Holding(
                testDescription: "an urgent lane with a limit", lane: .urgent, lanes: [.urgent: .constrained],
                conditions: .constrained, begins: false),
            Holding(
                testDescription: "a prefetch with a limit", lane: .background, own: .expensive,
                conditions: .expensive, begins: false),
            Holding(
                testDescription: "a prefetch in the conditions of its lane", lane: .background, own: .expensive,
                lanes: [.background: .lowPower], conditions: .lowPower, begins: false),
            Holding(
                testDescription: "a prefetch in the urgent lane", lane: .urgent, own: .expensive,
                conditions: .expensive, begins: true),
        ]
    }

    @Test(
        "A load held back by the conditions begins when they end; any other load begins immediately",
        .requirement("H9"),
        arguments: Holding.all)
    mutating func holding(_ c: Holding) {
        test.setHeldBack(c.lanes)
        test.setConditions(c.conditions)
        test.attach("1", "a/1", c.lane, heldBackBy: c.own)
        #expect(test.news() == (c.begins ? ["a/1"] : []))
        #expect(test.table.occupancy.urgentQueue == (c.lane == .urgent && !c.begins ? 1 : 0))
        #expect(test.table.occupancy.backgroundQueue == (c.lane == .background && !c.begins ? 1 : 0))
        test.setConditions([])
        #expect(test.news() == (c.begins ? [] : ["a/1"]))
        test.setConditions(c.conditions)
        #expect(test.stopped == [], "a running transfer goes on")
        #expect(test.table.occupancy.backgroundQueue == 0)
        test.fail("a/1", .later)
        test.retry("a/1", after: 1)
        #expect(test.news() == (c.begins ? ["a/1 #2"] : []), "another attempt waits as the first one does")
    }

    @Test("Held back loads begin in the order in which they joined, before later ones", .requirement("H9"))
    mutating func orderAfterHolding() {
        test.setHeldBack([.background: .expensive])
        test.setConditions(.expensive)
        for number in 1...3 { test.attach("\(number)", "a/\(number)", .background) }
        test.setConditions([.expensive, .lowPower])
        test.setConditions([])
        test.attach("4", "a/4", .background)
        for number in 1...4 { test.end("a/\(number)") }
        #expect(test.news() == ["a/1", "a/2", "a/3", "a/4"])
    }

    @Test("Queued loads are held back, too, and keep their turn", .requirement("H9"))
    mutating func heldBackInQueue() {
        test.attach("1", "a/1", .background)
        for number in 2...3 { test.attach("\(number)", "a/\(number)", .background, heldBackBy: .constrained) }
        test.attach("4", "a/4", .background)
        test.setConditions(.constrained)
        test.end("a/1")
        #expect(test.news() == ["a/1", "a/4"])
        test.setConditions([])
        test.end("a/4")
        test.end("a/2")
        #expect(test.news() == ["a/2", "a/3"])
    }

    @Test("A held back urgent load does not block the background", .requirement("H9"))
    mutating func backgroundBesideHeldUrgent() {
        test.setHeldBack([.urgent: .constrained])
        test.setConditions(.constrained)
        test.attach("1", "a/1")
        test.attach("2", "a/2", .background)
        #expect(test.news() == ["a/2"])
    }

    @Test(
        "A demand ends the wait of a prefetch: another load of its key, or another lane", .requirement("H9"),
        arguments: 0..<3)
    mutating func demand(_ kind: Int) {
        test.setConditions(.expensive)
        test.attach("1", "a/1", .background, .finishAndStore, heldBackBy: .expensive)
        test.attach("2", "a/1", .background, .finishAndStore, heldBackBy: [.expensive, .lowPower])
        #expect(test.news() == [])
        switch kind {
        case 0: test.attach("3", "a/1")
        case 1: test.attach("3", "a/1", .background)
        default: test.setLane(.urgent, "a/1")
        }
        #expect(test.news() == ["a/1"])
        test.end("a/1")
        #expect(test.informed == (kind == 2 ? ["1", "2"] : ["1", "2", "3"]))
    }

    /// A waiter of the load `a/1`.
    struct Demand: Sendable {
        var lane = Lane.background
        var own: NetworkConditions = []
        var isHoldable = true
    }

    struct Waiters: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let demands: [Demand]
        var lanes: [Lane: NetworkConditions] = [:]
        let conditions: NetworkConditions
        let begins: Bool
        /// Whether the load begins once the last waiter has left.
        let beginsWithoutLast: Bool

        static let all: [Waiters] = [
            Waiters(
                testDescription: "different conditions, all present",
                demands: [.init(own: .expensive), .init(own: .lowPower)],
                conditions: [.expensive, .lowPower], begins: false, beginsWithoutLast: false),
            Waiters(
                testDescription: "different conditions, one present",
                demands: [.init(own: .expensive), .init(own: .lowPower)],
                conditions: .expensive, begins: true, beginsWithoutLast: false),
            Waiters(
                testDescription: "an urgent waiter", demands: [.init(own: .expensive), .init(lane: .urgent)],
                conditions: .expensive, begins: true, beginsWithoutLast: false),
            Waiters(
                testDescription: "an urgent waiter that is held back, too",
                demands: [.init(own: .expensive), .init(lane: .urgent)], lanes: [.urgent: .expensive],
                conditions: .expensive, begins: false, beginsWithoutLast: false),
            Waiters(
                testDescription: "an urgent waiter that only its lane holds back",
                demands: [.init(), .init(lane: .urgent)], lanes: [.urgent: .expensive],
                conditions: .expensive, begins: true, beginsWithoutLast: true),
            Waiters(
                testDescription: "a waiter that needs no network",
                demands: [.init(), .init(own: .expensive, isHoldable: false)], lanes: [.background: .expensive],
                conditions: .expensive, begins: true, beginsWithoutLast: false),
            Waiters(
                testDescription: "equal waiters", demands: [.init(own: .expensive), .init(own: .expensive)],
                conditions: .expensive, begins: false, beginsWithoutLast: false),
        ]
    }

    @Test(
        "A load waits while all of its waiters are held back, each in its lane and its conditions", .requirement("H9"),
        arguments: Waiters.all, [false, true])
    mutating func waiters(_ c: Waiters, lastLeaves: Bool) {
        test.setWidths(urgent: 0, background: 0)
        test.setHeldBack(c.lanes)
        test.setConditions(c.conditions)
        for (number, demand) in c.demands.enumerated() {
            test.attach(
                "\(number)", "a/1", demand.lane, heldBackBy: demand.own, isHoldable: demand.isHoldable)
        }
        if lastLeaves { test.detach("\(c.demands.count - 1)") }
        test.setWidths()
        #expect(test.news() == ((lastLeaves ? c.beginsWithoutLast : c.begins) ? ["a/1"] : []))
        test.setConditions([])
        test.end("a/1")
        #expect(test.informed.count == c.demands.count)
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

    @Test("A change of a lane's limits begins the loads that the earlier limits held back", .requirement("H9"))
    mutating func otherLimits() {
        test.setHeldBack([.background: .expensive])
        test.setConditions(.expensive)
        test.attach("1", "a/1", .background)
        test.setHeldBack([.background: .lowPower])
        #expect(test.news() == ["a/1"])
    }

    @Test("A held back load leaves with its last waiter, and never begins", .requirement("H8"))
    mutating func leavingHeldBack() {
        test.setConditions(.expensive)
        test.attach("1", "a/1", .background, heldBackBy: .expensive)
        test.detach("1")
        #expect(test.table.occupancy.loads == 0)
        #expect(test.table.occupancy.backgroundQueue == 0)
        test.setConditions([])
        #expect(test.news() == [])
    }
}

import FaultModel
import TestSupport

@Suite("Kills at every system call", .enabled(if: Laboratory.canBreak, "needs Linux, and no sanitizer"))
struct KillTests {
    @Test("without faults every scenario succeeds", arguments: Scenario.allCases)
    func undisturbed(_ scenario: Scenario) async throws {
        let laboratory = try Laboratory()
        #expect(try await laboratory.run(laboratory.options(.persist(scenario))) == .exit(0), "\(laboratory.output)")
        #expect(laboratory.acknowledged == scenario.steps.count)
        let expectation = PossibleAnswers(scenario, acknowledged: scenario.steps.count)
        #expect(laboratory.problems(expectation) == [])
    }

    struct Moment: Sendable {
        let action: FaultPlan.Action
        let kinds: CallKinds
    }

    private static let moments = [
        Moment(action: .killBefore, kinds: .changes), Moment(action: .killWithin, kinds: .write),
        Moment(action: .killAfter, kinds: .changes),
    ]

    @Test(
        "after a kill, acknowledged bodies and representations are whole, the rest old or new, with no orphans",
        .requirement("A2", "F4"),
        arguments: [Scenario.everything, .forms, .parts], moments)
    func kill(_ scenario: Scenario, _ moment: Moment) async throws {
        try await KillTests.kill(scenario, moment, atMost: Repetitions.count(12, debug: 4))
    }

    @Test(
        "a kill during a checkpoint loses no acknowledged change", .requirement("A2"),
        .enabled(if: Laboratory.isThorough))
    func killWhileCheckpointing() async throws {
        try await KillTests.kill(.checkpoints, Moment(action: .killAfter, kinds: .changes), atMost: 0)
    }

    private static func kill(_ scenario: Scenario, _ moment: Moment, atMost limit: Int) async throws {
        let count = try await Laboratory.calls(.run(scenario), moment.kinds)
        let points = points(count, atMost: limit)
        var killed = 0
        report("\(points.count) of \(count) kill points (\(scenario), \(moment.action))")
        for point in points {
            let laboratory = try Laboratory()
            let plan = FaultPlan(moment.action, moment.kinds, at: point)
            let ending = try await laboratory.run(laboratory.options(.run(scenario), plan))
            // The checkpointer runs concurrently with the writer. Copying more of the WAL in one step takes fewer
            // calls.
            let isOver = ending == .exit(0) && laboratory.callCount.map { $0 < point } ?? false
            #expect(ending == .signal(9) || isOver, "\(plan): \(laboratory.output)")
            if ending == .signal(9) { killed += 1 }
            let expectation = PossibleAnswers(scenario, acknowledged: laboratory.acknowledged)
            #expect(laboratory.problems(expectation) == [], "\(plan)")
        }
        #expect(killed > points.count / 2)
    }
}

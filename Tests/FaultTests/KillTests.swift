import FaultModel
import TestSupport
import Testing

@Suite("Kills at every system call", .enabled(if: Laboratory.canBreak, "needs Linux, and no sanitizer"))
struct KillTests {
    @Test("without faults the scenarios do what they should", arguments: Scenario.allCases)
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

    @Test(
        "A2: after a kill everything acknowledged is whole, the rest is old or new, and nothing is left behind",
        arguments: [
            Moment(action: .killBefore, kinds: .changes), Moment(action: .killWithin, kinds: .write),
            Moment(action: .killAfter, kinds: .changes),
        ])
    func kill(_ moment: Moment) async throws {
        let scenario = Scenario.everything
        let count = try await Laboratory.calls(.run(scenario), moment.kinds)
        let points = points(count, atMost: 16)
        try await KillTests.kill(scenario, moment, points)
        report("\(points.count) of \(count) kill points (\(moment.action))")
    }

    @Test(
        "F4, A2: a form derived from a body is whole or absent after a kill, and never that of another body",
        arguments: [
            Moment(action: .killBefore, kinds: .changes), Moment(action: .killWithin, kinds: .write),
            Moment(action: .killAfter, kinds: .changes),
        ])
    func killForms(_ moment: Moment) async throws {
        let count = try await Laboratory.calls(.run(.forms), moment.kinds)
        let points = points(count, atMost: 12)
        try await KillTests.kill(.forms, moment, points)
        report("\(points.count) of \(count) kill points of forms (\(moment.action))")
    }

    @Test(
        "A2: so it is when bodies are in the index",
        arguments: [
            Moment(action: .killBefore, kinds: .changes), Moment(action: .killWithin, kinds: .write),
            Moment(action: .killAfter, kinds: .changes),
        ])
    func killInline(_ moment: Moment) async throws {
        let count = try await Laboratory.calls(.run(.inline), moment.kinds)
        let points = points(count, atMost: 8)
        try await KillTests.kill(.inline, moment, points)
        report("\(points.count) of \(count) kill points with bodies in the index (\(moment.action))")
    }

    @Test("A2: so it is when the log is checkpointed", .enabled(if: Laboratory.isThorough))
    func killWhileCheckpointing() async throws {
        let moment = Moment(action: .killAfter, kinds: .changes)
        let count = try await Laboratory.calls(.run(.checkpoints), moment.kinds)
        let points = points(count, atMost: 0)
        try await KillTests.kill(.checkpoints, moment, points)
        report("\(points.count) of \(count) kill points while checkpointing")
    }

    private static func kill(_ scenario: Scenario, _ moment: Moment, _ points: [UInt64]) async throws {
        for point in points {
            let laboratory = try Laboratory()
            let plan = FaultPlan(moment.action, moment.kinds, at: point)
            let ending = try await laboratory.run(laboratory.options(.run(scenario), plan))
            #expect(ending == .signal(9), "\(plan): \(laboratory.output)")
            let expectation = PossibleAnswers(scenario, acknowledged: laboratory.acknowledged)
            #expect(laboratory.problems(expectation) == [], "\(plan)")
        }
    }
}

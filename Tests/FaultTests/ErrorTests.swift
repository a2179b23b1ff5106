import FaultModel
import TestSupport

@Suite("Errors at every system call", .enabled(if: Laboratory.canBreak, "needs Linux, and no sanitizer"))
struct ErrorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let action: FaultPlan.Action
        let kinds: CallKinds
        let error: Int32
        let length: UInt64
        let scenario: Scenario

        init(
            _ name: String, _ error: Int32, _ kinds: CallKinds, _ action: FaultPlan.Action = .fail, length: UInt64,
            _ scenario: Scenario = .everything
        ) {
            (self.name, self.error, self.kinds, self.action, self.length) = (name, error, kinds, action, length)
            self.scenario = scenario
        }

        var testDescription: String { "\(name), \(length) calls, \(scenario)" }
    }

    private static let space: CallKinds = [.write, .name, .resize, .sync]

    @Test(
        "a failed system call throws or has no effect; the store continues, and no change is lost",
        arguments: [
            Case("EIO", EIO, .all, length: 1),
            Case("EIO", EIO, .all, length: 6),
            Case("EIO", EIO, .all, length: 1, .parts),
            Case("ENOSPC", ENOSPC, space, length: 1, .parts),
            Case("ENOSPC", ENOSPC, space, length: 1),
            Case("ENOSPC", ENOSPC, space, length: 6),
            Case("EDQUOT", EDQUOT, space, length: 1),
            Case("EMFILE", EMFILE, .open, length: 1),
            Case("EMFILE", EMFILE, .open, length: 4),
            Case("short write", ENOSPC, .write, .shorten, length: 1),
            Case("short write, then ENOSPC", ENOSPC, .write, .shorten, length: 4),
        ])
    func errors(_ c: Case) async throws {
        let count = try await Laboratory.calls(.persist(c.scenario), c.kinds)
        let points = points(count, atMost: Repetitions.count(5, debug: 2))
        for point in points { try await ErrorTests.run(c, at: point, in: Laboratory()) }
        report("\(points.count) of \(count) error points (\(c.testDescription))")
    }

    @Test(
        "a system call that fails during the recovery of a killed process's WAL loses no change",
        arguments: [
            Case("EIO", EIO, .all, length: 1), Case("EMFILE", EMFILE, .open, length: 1),
            Case("ENOSPC", ENOSPC, space, length: 1),
        ])
    func errorsAfterKill(_ c: Case) async throws {
        let middle = try await Laboratory.calls(.run(.everything), .changes) / 2
        // The calls of opening, and of the first steps.
        let points = points(c.kinds == .open ? 40 : 120, atMost: Repetitions.count(5, debug: 2))
        for point in points {
            let laboratory = try Laboratory()
            let kill = FaultPlan(.killAfter, .changes, at: middle)
            #expect(try await laboratory.run(laboratory.options(.run(.everything), kill)) == .signal(9))
            try laboratory.forget()
            try await ErrorTests.run(c, at: point, in: laboratory)
        }
        report("\(points.count) error points while recovering (\(c.testDescription))")
    }

    private static func run(_ c: Case, at point: UInt64, in laboratory: Laboratory) async throws {
        let scenario = c.scenario
        let plan = FaultPlan(c.action, c.kinds, at: point, length: c.length, error: c.error)
        let ending = try await laboratory.run(laboratory.options(.persist(scenario), plan))
        #expect(ending == .exit(0), "\(c.name) \(plan): \(laboratory.output)")
        // The store throws the error of the failed call, not the error of a later retry.
        #expect(!laboratory.output.contains("No such file"), "\(c.name) \(plan): \(laboratory.output)")
        let expectation = PossibleAnswers(scenario, acknowledged: laboratory.acknowledged, mayEvict: plan.isFullDisk)
        #expect(laboratory.problems(expectation) == [], "\(c.name) \(plan): \(laboratory.output)")
    }
}

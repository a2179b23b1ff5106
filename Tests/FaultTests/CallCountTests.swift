import FaultModel
import TestSupport

@Suite("System calls", .enabled(if: Laboratory.canBreak, "needs Linux, and no sanitizer"))
struct CallCountTests {
    @Test("the WAL takes one write per transaction, not two per page")
    func writes() async throws {
        let scenario = Scenario.everything
        let calls = try await Laboratory.calls(.run(scenario), .write)
        report("\(calls) writes in \(scenario.steps.count) steps")
        // 780 if each page of the WAL took two.
        #expect(calls < 200)
    }
}

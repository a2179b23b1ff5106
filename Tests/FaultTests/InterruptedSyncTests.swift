import FaultModel
import TestSupport

@Suite("Interrupted syncs", .enabled(if: Laboratory.canBreak, "needs Linux, and no sanitizer"))
struct InterruptedSyncTests {
    @Test("a sync that a signal interrupts is repeated: no durable commit fails", arguments: [Scenario.everything])
    func interrupted(_ scenario: Scenario) async throws {
        // Above the number of syncs. A later sync is not interrupted, and the run ends normally.
        let points = points(240, atMost: Repetitions.count(12, debug: 5))
        for point in points {
            let laboratory = try Laboratory()
            var options = laboratory.options(
                .run(scenario), FaultPlan(.fail, .sync, at: point, length: 3, error: EINTR))
            options.isDurable = true
            // This mode stops at the first error.
            #expect(try await laboratory.run(options) == .exit(0), "sync \(point): \(laboratory.output)")
        }
        report("\(points.count) interrupted syncs (\(scenario))")
    }
}

import TestSupport

/// The package bounds the number of concurrent test cases. Without the bound, all cases of this test would be running
/// after the first few turns.
@Suite("Width of the test run")
struct TestWidthTests {
    private static let running = Atomic(0)

    @Test("runs no more concurrent test cases than the environment or CTestDefaults sets", arguments: 0..<100)
    func width(_: Int) async throws {
        let name = "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH"
        let width = try #require(ProcessInfo.processInfo.environment[name].flatMap { Int($0) })
        Self.running.add(1, ordering: .relaxed)
        for _ in 0..<100 {
            await Task.yield()
            #expect(Self.running.load(ordering: .relaxed) <= width)
        }
        Self.running.subtract(1, ordering: .relaxed)
    }
}

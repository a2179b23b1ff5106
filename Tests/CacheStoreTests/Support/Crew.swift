/// Runs work that suspends, and knows when each piece has suspended for the first time.
///
/// The pieces share an actor, so that a piece can begin only when the one before waits.
actor Crew {
    private var begun = 0

    /// Starts `work`; it runs on the crew until it suspends.
    nonisolated func send<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value
    ) -> Task<Value, any Error> {
        Task { try await run(work) }
    }

    private func run<Value: Sendable>(_ work: @Sendable () async throws -> Value) async throws -> Value {
        begun += 1
        return try await work()
    }

    /// Returns when `count` pieces have begun and wait.
    func waitUntilSent(_ count: Int) async {
        while begun < count { await Task.yield() }
    }
}

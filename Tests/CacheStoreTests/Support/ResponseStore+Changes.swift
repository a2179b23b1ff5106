internal import TestSupport

extension ResponseStore {
    /// Starts changes while another connection holds the write lock. Returns when the first change waits for the lock,
    /// and the rest wait for the next transaction.
    func startChanges<Value: Sendable>(
        _ count: Int, _ change: @escaping @Sendable (Int) async throws -> Value
    ) async -> [Task<Value, any Error>] {
        let before = writer.changeCounts.added
        let first = Task { try await change(0) }
        await eventually { writer.changeCounts == (before + 1, 0) }
        let others = (1..<count).map { number in Task { try await change(number) } }
        await eventually { writer.changeCounts == (before + count, count - 1) }
        return [first] + others
    }
}

internal import Synchronization

/// Tasks that belong to a cache, and are cancelled with it.
final class OwnedTasks: Sendable {
    private struct State {
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var lastNumber: UInt64 = 0
    }

    /// Guards the tasks.
    private let state = Mutex(State())

    /// Starts a task. Returns at once.
    func run(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.lastNumber += 1
            let number = state.lastNumber
            state.tasks[number] = Task { [weak self] in
                await body()
                _ = self?.state.withLock { $0.tasks.removeValue(forKey: number) }
            }
        }
    }

    func cancelAll() {
        // Outside the lock: a cancellation handler may start a task.
        for task in state.withLock({ Array($0.tasks.values) }) { task.cancel() }
    }

    deinit {
        cancelAll()
    }
}

/// Returns the result of `operation`, or `nil` after `limit`, or once the calling task is cancelled. Then the operation is
/// cancelled, but not awaited: a transport may ignore its cancellation.
func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ sleep: @escaping @Sendable (Duration) async throws -> Void,
    _ operation: @escaping @Sendable () async -> Value
) async -> Value? {
    let (results, continuation) = AsyncStream<Value?>.makeStream()
    let work = Task { continuation.yield(await operation()) }
    let timer = Task {
        guard (try? await sleep(limit)) != nil else { return }
        continuation.yield(nil)
    }
    defer {
        work.cancel()
        timer.cancel()
    }
    // Ends without a result if this task is cancelled.
    for await result in results { return result }
    return nil
}

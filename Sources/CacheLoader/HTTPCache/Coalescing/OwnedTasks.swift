internal import Synchronization

/// Tasks of a cache. The cache cancels them when it is released, because a running task retains this object.
final class OwnedTasks: Sendable {
    private struct State {
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var lastNumber: UInt64 = 0
    }

    /// Guards the tasks.
    private let state = Mutex(State())

    /// Starts a task, and does not wait for it.
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
}

internal import Synchronization

/// Reports to any number of readers whether requests are in progress. Each reader has its own delay before `false`.
final class ActivityMonitor: Sendable {
    private struct State {
        var underWay = 0
        var readers = StateReaders<Bool>()

        var isActive: Bool { underWay > 0 }

        mutating func add(_ count: Int) {
            let wasActive = isActive
            underWay += count
            if isActive != wasActive { readers.notify(isActive) }
        }
    }

    /// Guards the number of requests in progress, and the readers. Changes are queued under the lock, so that they
    /// stay in order, and delivered after unlocking.
    private let state = Mutex(State())

    func began() { change { $0.add(1) } }

    func ended() { change { $0.add(-1) } }

    /// Ends all streams.
    func finish() { change { $0.readers.finish() } }

    private func change(_ body: (inout State) -> Void) {
        let deliveries = state.withLock { state in
            body(&state)
            return state.readers.deliveries
        }
        deliveries.deliver()
    }

    /// Returns a stream of the current state and of each change, until ``finish()``. `sleep` returns after a pause, or
    /// when its task is cancelled.
    func states(
        offDelay: Duration, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) -> AsyncStream<Bool> {
        let changes = state.withLock { state in
            state.readers.add(state.isActive) { [weak self] id in self?.state.withLock { $0.readers.remove(id) } }
        }
        let (stream, continuation) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            var shown: Bool?
            // Shows `false` after the delay, and returns whether it did. A change cancels it.
            var pause: Task<Bool, Never>?
            for await isActive in changes {
                pause?.cancel()
                if await pause?.value == true { shown = false }
                pause = nil
                guard isActive != shown else { continue }
                guard isActive || shown == nil || offDelay <= .zero else {
                    pause = Task {
                        try? await sleep(offDelay)
                        guard !Task.isCancelled else { return false }
                        continuation.yield(false)
                        return true
                    }
                    continue
                }
                shown = isActive
                continuation.yield(isActive)
            }
            pause?.cancel()
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

internal import Synchronization

/// Reports to any number of readers whether requests are in progress. Each reader has its own delay before `false`.
final class ActivityMonitor: Sendable {
    /// Returns after a pause, or when its task is cancelled.
    typealias Sleep = @Sendable (Duration) async throws -> Void

    private struct Reader {
        let continuation: AsyncStream<Bool>.Continuation
        let offDelay: Duration
        let sleep: Sleep
        /// The last state sent to the reader.
        var shown: Bool
        /// The task that will send `false`.
        var pause: (number: UInt64, task: Task<Void, Never>)?

        mutating func show(_ isActive: Bool, _ deliveries: DeliveryQueue<Bool>) {
            guard shown != isActive else { return }
            shown = isActive
            deliveries.add(.element(isActive, continuation))
        }
    }

    private struct State {
        var underWay = 0
        var readers: [UInt64: Reader] = [:]
        var lastNumber: UInt64 = 0
        var isFinished = false

        mutating func number() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }
    }

    /// Guards the number of requests in progress, and the readers. Messages are queued under the lock, so that they
    /// stay in order. After unlocking, the queue is delivered and tasks are cancelled.
    private let state = Mutex(State())
    private let deliveries = DeliveryQueue<Bool>()

    func began() {
        let pauses = state.withLock { state -> [Task<Void, Never>] in
            state.underWay += 1
            guard state.underWay == 1, !state.readers.isEmpty else { return [] }
            var pauses: [Task<Void, Never>] = []
            for id in Array(state.readers.keys) {
                if let pause = state.readers[id]?.pause { pauses.append(pause.task) }
                state.readers[id]?.pause = nil
                state.readers[id]?.show(true, deliveries)
            }
            return pauses
        }
        deliveries.deliver()
        for pause in pauses { pause.cancel() }
    }

    func ended() {
        state.withLock { state in
            state.underWay -= 1
            guard state.underWay == 0 else { return }
            for (id, reader) in state.readers {
                guard reader.offDelay > .zero else {
                    state.readers[id]?.show(false, deliveries)
                    continue
                }
                let number = state.number()
                let task = Task { [weak self, offDelay = reader.offDelay, sleep = reader.sleep] in
                    try? await sleep(offDelay)
                    self?.pauseIsOver(number, of: id)
                }
                state.readers[id]?.pause = (number, task)
            }
        }
        deliveries.deliver()
    }

    /// Does nothing if a request has begun during the pause.
    private func pauseIsOver(_ number: UInt64, of id: UInt64) {
        state.withLock { state in
            guard state.readers[id]?.pause?.number == number else { return }
            state.readers[id]?.pause = nil
            state.readers[id]?.show(false, deliveries)
        }
        deliveries.deliver()
    }

    /// Returns a stream of the current state and of each change, until ``finish()``.
    func states(offDelay: Duration, sleep: @escaping Sleep) -> AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state -> UInt64? in
            let present = state.underWay > 0
            continuation.yield(present)
            guard !state.isFinished else { return nil }
            let id = state.number()
            state.readers[id] = Reader(
                continuation: continuation, offDelay: offDelay, sleep: sleep, shown: present)
            return id
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    private func remove(_ id: UInt64) {
        let reader = state.withLock { $0.readers.removeValue(forKey: id) }
        reader?.pause?.task.cancel()
    }

    var readerCount: Int { state.withLock { $0.readers.count } }

    func finish() {
        let readers = state.withLock { state in
            state.isFinished = true
            defer { state.readers = [:] }
            for reader in state.readers.values { deliveries.add(.end(reader.continuation)) }
            return Array(state.readers.values)
        }
        deliveries.deliver()
        for reader in readers { reader.pause?.task.cancel() }
    }
}

internal import Synchronization

/// Tells whether anything is under way, to any number of readers, each with a delay of its own before it is told of the end.
final class ActivityMonitor: Sendable {
    /// Returns after a pause, or when its task is cancelled.
    typealias Sleep = @Sendable (Duration) async throws -> Void

    private struct Reader {
        let continuation: AsyncStream<NetworkActivity>.Continuation
        let offDelay: Duration
        let sleep: Sleep
        /// What it was told last.
        var shown: NetworkActivity
        /// What is going to tell it of the end.
        var pause: (number: UInt64, task: Task<Void, Never>)?

        mutating func show(_ activity: NetworkActivity, _ outbox: Outbox<StreamMessage<NetworkActivity>>) {
            guard shown != activity else { return }
            shown = activity
            outbox.add(.element(activity, continuation))
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

    /// Guards what is under way, and who is told. What they are told is readied under the lock, so that it is in order. They
    /// are told, and tasks cancelled, after it is unlocked.
    private let state = Mutex(State())
    private let outbox = Outbox<StreamMessage<NetworkActivity>>()

    /// Something more is under way.
    func began() {
        let pauses = state.withLock { state -> [Task<Void, Never>] in
            state.underWay += 1
            guard state.underWay == 1, !state.readers.isEmpty else { return [] }
            var pauses: [Task<Void, Never>] = []
            for id in Array(state.readers.keys) {
                if let pause = state.readers[id]?.pause { pauses.append(pause.task) }
                state.readers[id]?.pause = nil
                state.readers[id]?.show(.active, outbox)
            }
            return pauses
        }
        outbox.deliver()
        for pause in pauses { pause.cancel() }
    }

    /// Something is over.
    func ended() {
        state.withLock { state in
            state.underWay -= 1
            guard state.underWay == 0 else { return }
            for (id, reader) in state.readers {
                guard reader.offDelay > .zero else {
                    state.readers[id]?.show(.idle, outbox)
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
        outbox.deliver()
    }

    /// Nothing, if something has begun meanwhile.
    private func pauseIsOver(_ number: UInt64, of id: UInt64) {
        state.withLock { state in
            guard state.readers[id]?.pause?.number == number else { return }
            state.readers[id]?.pause = nil
            state.readers[id]?.show(.idle, outbox)
        }
        outbox.deliver()
    }

    /// The present state, then each change, up to ``finish()``.
    func states(offDelay: Duration, sleep: @escaping Sleep) -> AsyncStream<NetworkActivity> {
        let (stream, continuation) = AsyncStream<NetworkActivity>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state -> UInt64? in
            let present: NetworkActivity = state.underWay > 0 ? .active : .idle
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

    /// How many read.
    var readerCount: Int { state.withLock { $0.readers.count } }

    /// There is nothing more to tell.
    func finish() {
        let readers = state.withLock { state in
            state.isFinished = true
            defer { state.readers = [:] }
            for reader in state.readers.values { outbox.add(.end(reader.continuation)) }
            return Array(state.readers.values)
        }
        outbox.deliver()
        for reader in readers { reader.pause?.task.cancel() }
    }
}

/// Those who read every state of a resource, each in a stream of its own.
struct StateReaders<State: Sendable>: Sendable {
    private var continuations: [UInt64: AsyncStream<State>.Continuation] = [:]
    private var lastID: UInt64 = 0

    /// One more reads from now on, `state` first.
    ///
    /// - Parameter onEnd: Is called with the reader's name when its stream ends or nobody reads it any more, on any thread.
    mutating func add(
        _ state: State, onEnd: @escaping @Sendable (UInt64) -> Void
    ) -> AsyncStream<State> {
        lastID += 1
        let id = lastID
        let (stream, continuation) = AsyncStream<State>.makeStream()
        continuation.onTermination = { _ in onEnd(id) }
        continuation.yield(state)
        continuations[id] = continuation
        return stream
    }

    /// A reader is there no more.
    mutating func remove(_ id: UInt64) {
        continuations[id] = nil
    }

    /// Tells all of them. Nobody's code runs within.
    func tell(_ state: State) {
        for continuation in continuations.values { continuation.yield(state) }
    }

    /// There is nothing more to tell.
    func finish() {
        for continuation in continuations.values { continuation.finish() }
    }
}

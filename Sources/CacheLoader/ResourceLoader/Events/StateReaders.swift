/// The readers of every state of an object. Each reader has its own stream. A state is queued first, under the lock of
/// the owner if there is one, and delivered after unlocking.
package struct StateReaders<State: Sendable>: Sendable {
    /// The queued states. Deliver them after unlocking, and not under a lock that `onEnd` takes.
    package let deliveries = DeliveryQueue<State>()

    private var continuations: [UInt64: AsyncStream<State>.Continuation] = [:]
    private var lastID: UInt64 = 0

    package init() {}

    /// Adds a reader, whose stream begins with `state`. `onEnd` receives the id of the reader when its stream ends or
    /// is released, on any thread.
    package mutating func add(
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

    package mutating func remove(_ id: UInt64) {
        continuations[id] = nil
    }

    package func notify(_ state: State) {
        for continuation in continuations.values { deliveries.add(.element(state, continuation)) }
    }

    /// Queues the end of all streams.
    package func finish() {
        for continuation in continuations.values { deliveries.add(.end(continuation)) }
    }
}

/// Those who read every state of a resource, each in a stream of its own.
///
/// What they are told is readied first, under the owner's lock if there is one, and delivered after that.
struct StateReaders<State: Sendable>: Sendable {
    typealias Outbox = CacheLoader.Outbox<StreamMessage<State>>

    private let outbox: Outbox
    private var continuations: [UInt64: AsyncStream<State>.Continuation] = [:]
    private var lastID: UInt64 = 0

    init(_ outbox: Outbox = Outbox()) {
        self.outbox = outbox
    }

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

    /// Readies a state for all of them.
    func tell(_ state: State) {
        for continuation in continuations.values { outbox.add(.element(state, continuation)) }
    }

    /// There is nothing more to tell.
    func finish() {
        for continuation in continuations.values { outbox.add(.end(continuation)) }
    }

    /// Tells them what was readied. Nobody's code runs within, but not under a lock that `onEnd` takes.
    func deliver() {
        outbox.deliver()
    }
}

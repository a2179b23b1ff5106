internal import Synchronization

/// What is to be told in the order in which it was decided, but outside the lock under which that was.
///
/// To tell a stream something wakes its reader, for which the runtime takes a lock of that task. While a task is cancelled
/// the runtime holds that lock, and calls who wants to know that a stream has no reader any more. Were the stream told under
/// a lock that these take, each would wait for the other.
final class Outbox<Message: Sendable>: Sendable {
    private struct State {
        var waiting: [Message] = []
        var isBeingEmptied = false
    }

    /// Guards what waits. Nothing is called under it.
    private let state = Mutex(State())

    /// Puts in what comes after all that is there. Under the lock that decides the order.
    func add(_ message: Message) {
        state.withLock { $0.waiting.append(message) }
    }

    /// Tells what is there, one after the other. If somebody else is at it, they tell that, too. Not under any lock.
    func empty(_ tell: (Message) -> Void) {
        let isFirst = state.withLock { state in
            defer { state.isBeingEmptied = true }
            return !state.isBeingEmptied
        }
        guard isFirst else { return }
        while let messages = next() {
            for message in messages { tell(message) }
        }
    }

    private func next() -> [Message]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isBeingEmptied = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}

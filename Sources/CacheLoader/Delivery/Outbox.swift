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
        var isAtIt = false
        while let messages = take(&isAtIt) {
            for message in messages { tell(message) }
        }
    }

    /// - Parameter isAtIt: Whether it is the caller who empties it.
    private func take(_ isAtIt: inout Bool) -> [Message]? {
        state.withLock { state in
            guard isAtIt || !state.isBeingEmptied else { return nil }
            isAtIt = !state.waiting.isEmpty
            state.isBeingEmptied = isAtIt
            defer { state.waiting = [] }
            return isAtIt ? state.waiting : nil
        }
    }
}

/// What a stream is told.
enum StreamMessage<Element: Sendable>: Sendable {
    case element(Element, AsyncStream<Element>.Continuation)
    case end(AsyncStream<Element>.Continuation)
}

extension Outbox {
    /// Tells streams what is there. Not under a lock that their `onTermination` takes.
    func deliver<Element>() where Message == StreamMessage<Element> {
        empty { message in
            switch message {
            case .element(let element, let continuation): continuation.yield(element)
            case .end(let continuation): continuation.finish()
            }
        }
    }
}

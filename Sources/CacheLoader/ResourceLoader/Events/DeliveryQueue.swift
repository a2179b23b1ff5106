internal import Synchronization

/// Delivers elements to streams in the order in which they were queued, but outside the lock that decides the order.
/// Yielding to a stream wakes its reader, for which the runtime takes a lock of the reading task. While a task is
/// cancelled, the runtime holds that lock and calls the `onTermination` of the task's stream. If a thread yielded under
/// a lock that `onTermination` takes, the two threads would deadlock.
package final class DeliveryQueue<Element: Sendable>: Sendable {
    /// A message to a stream.
    enum Message: Sendable {
        case element(Element, AsyncStream<Element>.Continuation)
        case end(AsyncStream<Element>.Continuation)
    }

    private struct State {
        var waiting: [Message] = []
        var hasDeliverer = false
    }

    /// Guards the queue. Nothing is called under this lock.
    private let state = Mutex(State())

    init() {}

    /// Queues a message after all others. Call it under the lock that decides the order.
    func add(_ message: Message) {
        state.withLock { $0.waiting.append(message) }
    }

    /// Delivers the queued messages, one after the other. If another thread is delivering, that thread delivers these
    /// messages, too. Do not call it under a lock that `onTermination` of a stream takes.
    package func deliver() {
        var isDelivering = false
        while let messages = take(&isDelivering) {
            for message in messages {
                switch message {
                case .element(let element, let continuation): continuation.yield(element)
                case .end(let continuation): continuation.finish()
                }
            }
        }
    }

    /// `isDelivering` tells whether the calling thread delivers.
    private func take(_ isDelivering: inout Bool) -> [Message]? {
        state.withLock { state in
            guard isDelivering || !state.hasDeliverer else { return nil }
            isDelivering = !state.waiting.isEmpty
            state.hasDeliverer = isDelivering
            defer { state.waiting = [] }
            return isDelivering ? state.waiting : nil
        }
    }
}

internal import Synchronization

/// Passes all events of a load to a stream.
final class LoadObservation<Output: Sendable>: Sendable {
    private let continuation: AsyncStream<LoadEvent<Output>>.Continuation

    /// Guards the order of the events, so that no source overtakes the other.
    private let order: Mutex<EventOrder<Output>>
    private let deliveries = DeliveryQueue<LoadEvent<Output>>()

    init(_ continuation: AsyncStream<LoadEvent<Output>>.Continuation) {
        self.continuation = continuation
        order = Mutex(EventOrder())
    }

    /// Announces a stored value, which ``cached(_:)`` delivers.
    func awaitCached() {
        order.withLock { $0.awaitCached() }
    }

    func cached(_ loaded: Loaded<Output>?) {
        notify { $0.cached(loaded) }
    }

    func end(_ result: Result<Loaded<Output>, LoadError>) {
        notify { $0.end(result) }
    }

    /// Passes on an event of the coalesced load.
    func receive(_ event: WaiterEvent) {
        notify { order in
            switch event {
            case .requesting: order.requesting()
            case .progress(let received, let total): order.progress(received: received, total: total)
            case .retrying(let error, let attempts, let delay):
                order.retrying(error, failedAttempts: attempts, delay: delay)
            case .responding, .redirected: []
            case .storeFailed(let error): order.storeFailed(error)
            case .ended(let result): order.end(result.map { $0.cast() })
            }
        }
    }

    private func notify(_ events: (inout EventOrder<Output>) -> [LoadEvent<Output>]) {
        order.withLock { order in
            for event in events(&order) {
                deliveries.add(.element(event, continuation))
                if event.isLast { deliveries.add(.end(continuation)) }
            }
        }
        deliveries.deliver()
    }
}

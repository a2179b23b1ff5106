internal import Synchronization

/// Passes all events of a load to a stream, in the order that ``LoadEvent`` promises, regardless of which source is
/// faster. Processing a stored value may take longer than the answer of the origin. Events from the origin then wait
/// for the stored value, and so does a failure, after which the load has no other value. A newer value and a
/// cancellation do not wait, and the stored value is dropped.
package final class LoadObservation<Output: Sendable>: Sendable {
    private struct State {
        var isWaitingForCached = false
        var hadCached = false
        var hasRequested = false
        var hasStoreFailed = false
        var hasEnded = false
        var received: Int64 = 0
        /// The events that wait for the stored value.
        var held: [LoadEvent<Output>] = []
        /// The failure of the load, while it waits for the stored value.
        var failure: LoadEvent<Output>?

        /// Returns the event, or holds it back. The first event follows `requesting`. `nil` is only `requesting`.
        mutating func pass(_ event: LoadEvent<Output>?) -> [LoadEvent<Output>] {
            guard failure == nil else { return [] }
            let first = hasRequested ? nil : LoadEvent<Output>.requesting(hadCached: hadCached)
            hasRequested = true
            let events = [first, event].compactMap(\.self)
            guard isWaitingForCached else { return events }
            held += events
            return []
        }

        mutating func end(_ result: Result<Loaded<Output>, LoadError>) -> [LoadEvent<Output>] {
            let last = LoadEvent(result)
            if isWaitingForCached, case .failed = last {
                failure = failure ?? last
                return []
            }
            defer { held = [] }
            return held + [last]
        }
    }

    private let continuation: AsyncStream<LoadEvent<Output>>.Continuation

    /// Guards the order of the events, so that no source overtakes the other.
    private let state = Mutex(State())
    private let deliveries = DeliveryQueue<LoadEvent<Output>>()

    package init(_ continuation: AsyncStream<LoadEvent<Output>>.Continuation) {
        self.continuation = continuation
    }

    /// Announces a stored value, which ``cached(_:)`` delivers. Must precede all other calls.
    package func awaitCached() {
        state.withLock { state in
            state.isWaitingForCached = true
            state.hadCached = true
        }
    }

    /// Delivers the stored value. `loaded` is `nil` when no value is available after all.
    package func cached(_ loaded: Loaded<Output>?) {
        notify { state in
            guard state.isWaitingForCached else { return [] }
            state.isWaitingForCached = false
            let held = state.held + [state.failure].compactMap(\.self)
            state.held = []
            guard let loaded else {
                state.hadCached = false
                return held.map { event in
                    if case .requesting = event { .requesting(hadCached: false) } else { event }
                }
            }
            return [.cached(loaded)] + held
        }
    }

    /// Ends the load. Later calls have no effect. A failure takes effect with the stored value for which it waits,
    /// unless a cancellation precedes it.
    package func end(_ result: Result<Loaded<Output>, LoadError>) {
        notify { $0.end(result) }
    }

    /// Passes on an event of the coalesced load.
    package func receive(_ event: WaiterEvent) {
        notify { state in
            switch event {
            case .requesting: return state.pass(nil)
            case .progress(let received, let total):
                // Each attempt begins with the first byte again.
                guard received > state.received else { return [] }
                state.received = received
                return state.pass(.progress(received: received, total: total))
            case .retrying(let error, let attempts, let delay):
                return state.pass(.retrying(error, failedAttempts: attempts, delay: delay))
            case .responding, .redirected: return []
            case .storeFailed(let error):
                // One failure of a store causes more.
                guard !state.hasStoreFailed else { return [] }
                state.hasStoreFailed = true
                return state.pass(.storeFailed(error))
            case .ended(let result): return state.end(result.map { $0.cast() })
            }
        }
    }

    /// Delivers the events that `events` returns, unless the load has ended.
    private func notify(_ events: (inout State) -> [LoadEvent<Output>]) {
        state.withLock { state in
            guard !state.hasEnded else { return }
            for event in events(&state) {
                deliveries.add(.element(event, continuation))
                guard event.isLast else { continue }
                state.hasEnded = true
                deliveries.add(.end(continuation))
            }
        }
        deliveries.deliver()
    }
}

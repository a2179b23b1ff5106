internal import Synchronization

/// The observers of events of one kind.
package final class Observers<Event: Sendable>: Sendable {
    private struct State {
        var observers: [UInt64: @Sendable (Event) -> Void] = [:]
        var lastID: UInt64 = 0
    }

    /// Guards the observers. They are called and released outside the lock: an observer may hold the last reference to
    /// an object that has a lock.
    private let state = Mutex(State())

    package init() {}

    package var count: Int { state.withLock { $0.observers.count } }

    /// Calls `observer` at each event until the returned object is released. A call may still be running at that time.
    package func add(_ observer: @escaping @Sendable (Event) -> Void) -> ObserverRegistration {
        let id = state.withLock { state in
            state.lastID += 1
            state.observers[state.lastID] = observer
            return state.lastID
        }
        return ObserverRegistration { [weak self] in
            _ = self?.state.withLock { $0.observers.removeValue(forKey: id) }
        }
    }

    /// Calls all observers, on the calling thread.
    package func notify(_ event: Event) {
        for observer in state.withLock({ Array($0.observers.values) }) { observer(event) }
    }
}

/// Keeps an observer registered until the last reference to this object is released.
package final class ObserverRegistration: Sendable {
    private let end: @Sendable () -> Void

    fileprivate init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }
}

import CacheLoader
import Synchronization

/// A value that can be told from every other.
final class Box: Sendable {
    let id: Int

    init(_ id: Int) {
        self.id = id
    }
}

/// A value that does something when it goes.
final class Farewell: Sendable {
    private let work: @Sendable () -> Void

    init(_ work: @escaping @Sendable () -> Void) {
        self.work = work
    }

    deinit {
        work()
    }
}

/// A source that a test speaks for.
final class ScriptedPressure: MemoryPressureSource {
    private struct State {
        var handlers: [Int: @Sendable (MemoryPressure) -> Void] = [:]
        var lastID = 0
    }

    /// Guards who is told.
    private let state = Mutex(State())

    /// How many observe.
    var observerCount: Int { state.withLock { $0.handlers.count } }

    func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation {
        let id = state.withLock { state in
            state.lastID += 1
            state.handlers[state.lastID] = handler
            return state.lastID
        }
        return MemoryPressureObservation { [self] in
            _ = state.withLock { $0.handlers.removeValue(forKey: id) }
        }
    }

    /// Tells all, on the caller's thread.
    func signal(_ pressure: MemoryPressure) {
        for handler in state.withLock({ Array($0.handlers.values) }) { handler(pressure) }
    }
}

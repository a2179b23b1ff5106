internal import Synchronization

/// Holds callers until a test admits them.
///
/// A cancelled caller passes immediately. Any thread may open the gate.
///
///     let gate = Gate()
///     let origin = try await LoopbackOrigin { _ in await gate.wait(); return .ok() }
///     …
///     await gate.reached(2)   // two requests are held
///     gate.open()
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var permits = 0
        var arrivals = 0
        var nextID = 0
        var waiting: [(id: Int, caller: CheckedContinuation<Void, Never>)] = []
        var observing: [(id: Int, arrivals: Int, caller: CheckedContinuation<Void, Never>)] = []

        mutating func makeID() -> Int {
            nextID += 1
            return nextID
        }

        mutating func takeObservers() -> [CheckedContinuation<Void, Never>] {
            let satisfied = observing.filter { $0.arrivals <= arrivals }
            observing.removeAll { $0.arrivals <= arrivals }
            return satisfied.map(\.caller)
        }
    }

    /// Guards the waiting callers. Continuations resume outside the lock.
    private let state = Mutex(State())

    /// Creates a closed gate.
    public init() {}

    /// The number of callers at the gate.
    public var waiters: Int { state.withLock { $0.waiting.count } }

    /// Admits all present and future callers.
    public func open() {
        let released = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting.map(\.caller)
        }
        for caller in released { caller.resume() }
    }

    /// Admits `count` callers in the order of their arrival: waiting callers before later ones.
    public func admit(_ count: Int = 1) {
        let released = state.withLock { state in
            let released = state.waiting.prefix(count).map(\.caller)
            state.waiting.removeFirst(released.count)
            state.permits += count - released.count
            return released
        }
        for caller in released { caller.resume() }
    }

    /// Returns when the gate admits this caller, or when its task is cancelled.
    public func wait() async {
        let id = state.withLock { $0.makeID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let released = state.withLock { state in
                    state.arrivals += 1
                    var released = state.takeObservers()
                    if state.isOpen || Task.isCancelled {
                        released.append(caller)
                    } else if state.permits > 0 {
                        state.permits -= 1
                        released.append(caller)
                    } else {
                        state.waiting.append((id, caller))
                    }
                    return released
                }
                for caller in released { caller.resume() }
            }
        } onCancel: {
            let caller = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0).caller }
            }
            caller?.resume()
        }
    }

    /// Returns after `count` calls of ``wait()`` since the creation of the gate, or when this task is cancelled.
    ///
    /// Counts admitted callers, too. Otherwise a gate that opens early would block this call forever.
    public func reached(_ count: Int) async {
        let id = state.withLock { $0.makeID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let isReached = state.withLock { state in
                    if state.arrivals >= count || Task.isCancelled { return true }
                    state.observing.append((id, count, caller))
                    return false
                }
                if isReached { caller.resume() }
            }
        } onCancel: {
            let caller = state.withLock { state in
                state.observing.firstIndex { $0.id == id }.map { state.observing.remove(at: $0).caller }
            }
            caller?.resume()
        }
    }
}

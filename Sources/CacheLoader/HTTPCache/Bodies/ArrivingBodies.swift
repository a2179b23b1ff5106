internal import Synchronization

/// Counts the bodies that arrive for the store, so that a process can wait for them before it ends.
final class ArrivingBodies: Sendable {
    private struct State {
        var count = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Guards the count. Waiters resume outside the lock.
    private let state = Mutex(State())

    func begin() {
        state.withLock { $0.count += 1 }
    }

    /// Notes that a body or its part is stored, or will not be.
    func end() {
        let waiters = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns once no body is under way.
    func waitForAll() async {
        await withCheckedContinuation { waiter in
            let isIdle = state.withLock { state in
                if state.count > 0 { state.waiters.append(waiter) }
                return state.count == 0
            }
            if isIdle { waiter.resume() }
        }
    }
}

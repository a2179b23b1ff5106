internal import Synchronization

/// Counts the bodies that are being stored, so that a process can wait for them before it exits.
final class ArrivingBodies: Sendable {
    private struct State {
        var count = 0
        var lastTicket: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    /// Guards the count. Waiters resume outside the lock.
    private let state = Mutex(State())

    func begin() {
        state.withLock { $0.count += 1 }
    }

    /// Records that a body is stored as a whole or in part, or will not be stored.
    func end() {
        let waiters = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until no body is arriving, or the calling task is cancelled.
    func waitForAll() async {
        let ticket = state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = state.withLock { state in
                    if state.count == 0 || Task.isCancelled { return true }
                    state.waiters[ticket] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: ticket) }?.resume()
        }
    }
}

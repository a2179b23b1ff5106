internal import Synchronization

/// Whether a load runs, is suspended or has ended.
final class LoadControl: Sendable {
    private struct State {
        var isPaused = false
        var hasEnded = false
        var waiting: [CheckedContinuation<Void, Never>] = []

        mutating func release() -> [CheckedContinuation<Void, Never>] {
            defer { waiting = [] }
            return waiting
        }
    }

    /// Guards the state. Continuations resume outside the lock.
    private let state = Mutex(State())

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func pause() { state.withLock { $0.isPaused = !$0.hasEnded } }

    func resume() {
        change { $0.isPaused = false }
    }

    func stop() {
        change { state in
            state.hasEnded = true
            state.isPaused = false
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let waiting = state.withLock { state in
            body(&state)
            return state.release()
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns while the load is not suspended.
    func waitWhilePaused() async {
        await withCheckedContinuation { continuation in
            let isWaiting = state.withLock { state in
                if state.isPaused { state.waiting.append(continuation) }
                return state.isPaused
            }
            if !isWaiting { continuation.resume() }
        }
    }
}

internal import Synchronization

/// Runs writes after their responses were delivered, with a bound on the bytes that wait.
///
/// Bytes are reserved while a body arrives. Without room for it, a body is dropped; the owner counts the drops.
final class WriteBehind: Sendable {
    private struct State {
        var byteCount = 0
        var waiting: [Job] = []
        var runningCount = 0
        var drains: [CheckedContinuation<Void, Never>] = []

        var isIdle: Bool { waiting.isEmpty && runningCount == 0 }
    }

    private struct Job {
        let byteCount: Int
        let run: @Sendable () async -> Void
    }

    private let byteLimit: Int
    private let jobLimit: Int
    private let width = 4
    /// Guards the reserved bytes and the waiting writes. No write runs under this lock.
    private let state = Mutex(State())

    init(byteLimit: Int, jobLimit: Int) {
        self.byteLimit = byteLimit
        self.jobLimit = jobLimit
    }

    /// Reserves room for bytes that arrive; `false` if there is none.
    func reserve(_ count: Int) -> Bool {
        state.withLock { state in
            guard state.byteCount + count <= byteLimit else { return false }
            state.byteCount += count
            return true
        }
    }

    func release(_ count: Int) {
        state.withLock { $0.byteCount -= count }
    }

    /// Adds a write and takes over its reserved bytes; `false`, and the bytes are released, if too many writes wait.
    func add(byteCount: Int, _ run: @escaping @Sendable () async -> Void) -> Bool {
        let isAdmitted = state.withLock { state in
            guard state.waiting.count < jobLimit else {
                state.byteCount -= byteCount
                return false
            }
            state.waiting.append(Job(byteCount: byteCount, run: run))
            return true
        }
        if isAdmitted { startNext() }
        return isAdmitted
    }

    /// Returns once no write waits or runs.
    func drain() async {
        await withCheckedContinuation { caller in
            let isIdle = state.withLock { state in
                if !state.isIdle { state.drains.append(caller) }
                return state.isIdle
            }
            if isIdle { caller.resume() }
        }
    }

    private func startNext() {
        let job = state.withLock { state -> Job? in
            guard state.runningCount < width, !state.waiting.isEmpty else { return nil }
            state.runningCount += 1
            return state.waiting.removeFirst()
        }
        guard let job else { return }
        Task { [self] in
            await job.run()
            let drains = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.runningCount -= 1
                state.byteCount -= job.byteCount
                guard state.isIdle else { return [] }
                defer { state.drains = [] }
                return state.drains
            }
            for caller in drains { caller.resume() }
            startNext()
        }
    }
}

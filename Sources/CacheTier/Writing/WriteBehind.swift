internal import Synchronization

/// Runs writes after their responses were delivered, with a bound on the bytes that wait.
///
/// Bytes are reserved while a body arrives. Without room for it, a body is dropped; the owner counts the drops.
package final class WriteBehind: Sendable {
    private struct State {
        var byteCount = 0
        var urgent: [Job] = []
        /// The ends of leases, which alternate with the waiting writes.
        var ends: [Job] = []
        var isEndNext = true
        var waiting: [Job] = []
        var runningCount = 0
        var nextNumber = 0
        /// The numbers of the jobs that wait or run.
        var numbers: Set<Int> = []
        /// The callers that wait for the jobs with smaller numbers.
        var drains: [(number: Int, caller: CheckedContinuation<Void, Never>)] = []

        mutating func makeNumber() -> Int {
            nextNumber += 1
            numbers.insert(nextNumber)
            return nextNumber
        }

        mutating func takeNext() -> Job? {
            if !urgent.isEmpty { return urgent.removeFirst() }
            if !ends.isEmpty, isEndNext || waiting.isEmpty {
                isEndNext = false
                return ends.removeFirst()
            }
            isEndNext = true
            return waiting.isEmpty ? nil : waiting.removeFirst()
        }

        mutating func takeDrains() -> [CheckedContinuation<Void, Never>] {
            guard !drains.isEmpty else { return [] }
            let first = numbers.min() ?? .max
            let ended = drains.filter { $0.number < first }
            drains.removeAll { $0.number < first }
            return ended.map(\.caller)
        }
    }

    private struct Job {
        let number: Int
        let byteCount: Int
        let run: @Sendable () async -> Void
    }

    private let byteLimit: Int
    private let jobLimit: Int
    private let width: Int
    /// Guards the reserved bytes and the waiting writes. No write runs under this lock.
    private let state = Mutex(State())

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - byteLimit: The most bytes that are reserved at a time.
    ///   - jobLimit: The most writes that wait, and the most ends of leases.
    ///   - width: The most writes that run at a time. Few, so that lookups find connections.
    package init(byteLimit: Int, jobLimit: Int, width: Int = 2) {
        self.byteLimit = byteLimit
        self.jobLimit = jobLimit
        self.width = width
    }

    /// Reserves room for bytes that arrive; `false` if there is none.
    package func reserve(_ count: Int) -> Bool {
        state.withLock { state in
            guard state.byteCount + count <= byteLimit else { return false }
            state.byteCount += count
            return true
        }
    }

    package func release(_ count: Int) {
        state.withLock { $0.byteCount -= count }
    }

    /// Adds a write and takes over its reserved bytes; `false`, and the bytes are released, if too many writes wait.
    package func add(byteCount: Int, _ run: @escaping @Sendable () async -> Void) -> Bool {
        let isAdmitted = state.withLock { state in
            guard state.waiting.count < jobLimit else {
                state.byteCount -= byteCount
                return false
            }
            state.waiting.append(Job(number: state.makeNumber(), byteCount: byteCount, run: run))
            return true
        }
        if isAdmitted { startNext() }
        return isAdmitted
    }

    /// Adds a write without bytes ahead of the other ones. The caller bounds their number.
    package func addUrgent(_ run: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.urgent.append(Job(number: state.makeNumber(), byteCount: 0, run: run))
        }
        startNext()
    }

    /// Adds the end of a lease. Without room it is dropped: the lease ends by its lifetime.
    package func addEnd(_ run: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard state.ends.count < jobLimit else { return }
            state.ends.append(Job(number: state.makeNumber(), byteCount: 0, run: run))
        }
        startNext()
    }

    /// Returns once the writes that wait or run now have ended.
    package func drain() async {
        await withCheckedContinuation { caller in
            let isIdle = state.withLock { state in
                if !state.numbers.isEmpty { state.drains.append((state.nextNumber, caller)) }
                return state.numbers.isEmpty
            }
            if isIdle { caller.resume() }
        }
    }

    private func startNext() {
        let job = state.withLock { state -> Job? in
            guard state.runningCount < width, let job = state.takeNext() else { return nil }
            state.runningCount += 1
            return job
        }
        guard let job else { return }
        Task { [self] in
            await job.run()
            let drains = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.runningCount -= 1
                state.byteCount -= job.byteCount
                state.numbers.remove(job.number)
                return state.takeDrains()
            }
            for caller in drains { caller.resume() }
            startNext()
        }
    }
}

internal import Synchronization

/// Runs writes after the delivery of their responses, with a bound on the waiting bytes.
///
/// Bytes are reserved while a body arrives. Without room, the body is dropped, and the owner counts it.
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
        /// The numbers of the waiting and running jobs.
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
    ///   - byteLimit: The most bytes reserved at the same time.
    ///   - jobLimit: The most waiting writes, and the most waiting ends of leases.
    ///   - width: The most simultaneous writes. Few, so that lookups find connections.
    package init(byteLimit: Int, jobLimit: Int, width: Int = 2) {
        self.byteLimit = byteLimit
        self.jobLimit = jobLimit
        self.width = width
    }

    /// Reserves room for arriving bytes. Returns `false` without room.
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

    /// Adds a write and takes over its reserved bytes. If too many writes wait, returns `false` and releases the bytes.
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

    /// Adds a write without bytes, ahead of the others. The caller bounds their number.
    package func addUrgent(_ run: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.urgent.append(Job(number: state.makeNumber(), byteCount: 0, run: run))
        }
        startNext()
    }

    /// Adds the end of a lease. Without room it is dropped, and the lease ends with its lifetime.
    package func addEnd(_ run: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard state.ends.count < jobLimit else { return }
            state.ends.append(Job(number: state.makeNumber(), byteCount: 0, run: run))
        }
        startNext()
    }

    /// Returns when the currently waiting and running writes have ended.
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

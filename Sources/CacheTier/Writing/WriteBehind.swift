internal import CacheFoundation
internal import Synchronization

/// Runs writes after the delivery of their responses, with a bound on the waiting bytes. Bytes are reserved while a
/// body arrives. Without room, the body is dropped, and the owner counts it.
package final class WriteBehind: Sendable {
    private struct State {
        var byteCount = 0
        var urgent: [Job] = []
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

    /// The bytes that a write without a body counts for, so that the bound in bytes also bounds their number.
    private static let jobByteCount = 1024

    private let byteLimit: Int
    private let width: Int
    /// Guards the reserved bytes and the waiting writes. No write runs under this lock.
    private let state = Mutex(State())

    /// `byteLimit` is the most bytes reserved at the same time, `width` the most simultaneous writes.
    package init(byteLimit: Int, width: Int) {
        self.byteLimit = byteLimit
        self.width = max(1, width)
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

    /// Adds a write, and takes over its reserved bytes.
    package func add(reserved byteCount: Int, _ run: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            state.waiting.append(Job(number: state.makeNumber(), byteCount: byteCount, run: run))
        }
        startNext()
    }

    /// Adds a write without a body. Without room, returns `false`.
    @discardableResult
    package func add(_ run: @escaping @Sendable () async -> Void) -> Bool {
        guard reserve(Self.jobByteCount) else { return false }
        add(reserved: Self.jobByteCount, run)
        return true
    }

    /// Adds a write without bytes, ahead of the others. The caller bounds their number.
    package func addUrgent(_ run: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            // Removals overtake fills: a later fill costs a miss, a later removal a wrong answer.
            state.urgent.append(Job(number: state.makeNumber(), byteCount: 0, run: run))
        }
        startNext()
    }

    /// Drops the writes that have not begun. Returns their number.
    package func dropWaiting() -> Int {
        let (count, drains) = state.withLock { state in
            let dropped = state.urgent + state.waiting
            (state.urgent, state.waiting) = ([], [])
            for job in dropped {
                state.byteCount -= job.byteCount
                state.numbers.remove(job.number)
            }
            return (dropped.count, state.takeDrains())
        }
        for caller in drains { caller.resume() }
        return count
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

internal import CacheFoundation
internal import Synchronization

/// Runs writes after the delivery of their responses, with a bound on the waiting bytes. Bytes are reserved while a
/// body arrives. Without room, the body is dropped, and the owner counts it.
package final class WriteBehind: Sendable {
    private struct State {
        var byteCount = 0
        var urgent = Queue()
        var waiting = Queue()
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

        mutating func takeNext() -> Job? { urgent.popFirst() ?? waiting.popFirst() }

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

    /// Jobs in their order. Removing the first of an array would move all others.
    private struct Queue {
        private var added: [Job] = []
        /// The jobs before those in `added`, the first job last.
        private var next: [Job] = []

        mutating func append(_ job: Job) { added.append(job) }

        mutating func popFirst() -> Job? {
            if next.isEmpty { (next, added) = (added.reversed(), []) }
            return next.popLast()
        }

        mutating func takeAll() -> [Job] {
            defer { (next, added) = ([], []) }
            return next + added
        }
    }

    /// The fewest bytes that a write counts for, so that the bound in bytes also bounds the number of writes.
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

    /// Adds a write, and takes over its reserved bytes. Without room for the rest of its least cost, releases them and
    /// returns `false`.
    @discardableResult
    package func add(reserved byteCount: Int = 0, _ run: @escaping @Sendable () async -> Void) -> Bool {
        let cost = max(byteCount, Self.jobByteCount)
        guard reserve(cost - byteCount) else {
            release(byteCount)
            return false
        }
        state.withLock { state in
            state.waiting.append(Job(number: state.makeNumber(), byteCount: cost, run: run))
        }
        startNext()
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

    /// Drops the writes that have not begun, except the urgent ones. Returns the number of dropped writes.
    package func dropWaiting() -> Int {
        let (count, drains) = state.withLock { state in
            let dropped = state.waiting.takeAll()
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

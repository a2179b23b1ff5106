/// The jobs that wait for the write lock.
///
/// The caller that adds the first job becomes the leader. The leader runs all jobs that have arrived by then in one
/// transaction; the callers of the other jobs wait. The queue has no lock and does no I/O.
package struct WriteQueue<Job> {
    private var waiting: [Job] = []
    private var hasLeader = false

    /// The number of jobs that were added so far, waiting or not.
    private(set) var addedCount = 0

    package init() {}

    /// Adds a job; `true` if its caller becomes the leader.
    package mutating func add(_ job: Job) -> Bool {
        waiting.append(job)
        addedCount += 1
        defer { hasLeader = true }
        return !hasLeader
    }

    /// Removes and returns the jobs of the next transaction: at most `limit`, in the order of arrival.
    package mutating func next(limit: Int) -> [Job] {
        let batch = Array(waiting.prefix(limit))
        waiting.removeFirst(batch.count)
        return batch
    }

    /// Makes jobs the next again that were not run.
    mutating func putBack(_ jobs: some Collection<Job>) {
        waiting.insert(contentsOf: jobs, at: 0)
    }

    /// The number of jobs that wait for the next transaction.
    var waitingCount: Int { waiting.count }

    /// Whether no job waits. If so, ends the leadership.
    package mutating func isFinished() -> Bool {
        if waiting.isEmpty { hasLeader = false }
        return waiting.isEmpty
    }
}

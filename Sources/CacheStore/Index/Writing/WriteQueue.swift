/// The jobs that wait for the write lock. The caller that adds the first job becomes the leader. In one transaction,
/// the leader runs all jobs that are queued by then, while their callers wait. The queue has no lock and does no I/O.
package struct WriteQueue<Job> {
    private var waiting: [Job] = []
    private var hasLeader = false

    /// The number of jobs added so far, waiting or not.
    private(set) var addedCount = 0

    package init() {}

    /// Adds a job. Returns `true` if its caller becomes the leader.
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

    /// Puts jobs that were not run back to the front.
    mutating func putBack(_ jobs: some Collection<Job>) {
        waiting.insert(contentsOf: jobs, at: 0)
    }

    /// The number of jobs that wait for the next transaction.
    var waitingCount: Int { waiting.count }

    /// Whether no job waits. If none does, ends the leadership.
    package mutating func isFinished() -> Bool {
        // End the leadership in one step with the check: the next job finds no leader, so its caller leads.
        if waiting.isEmpty { hasLeader = false }
        return waiting.isEmpty
    }
}

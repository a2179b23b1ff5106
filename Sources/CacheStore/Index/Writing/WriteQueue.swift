/// The jobs that wait for the write lock.
///
/// The first one to come makes its caller the leader, who runs it and, in the same transaction, the jobs that came in the meantime;
/// the other callers wait for the leader. Pure: the queue only says what to do.
package struct WriteQueue<Job> {
    private var waiting: [Job] = []
    private var hasLeader = false

    package init() {}

    /// Adds a job; `true` if its caller becomes the leader.
    package mutating func add(_ job: Job) -> Bool {
        waiting.append(job)
        defer { hasLeader = true }
        return !hasLeader
    }

    /// The jobs of the next transaction, at most `limit`, in the order in which they came.
    package mutating func next(limit: Int) -> [Job] {
        let batch = Array(waiting.prefix(limit))
        waiting.removeFirst(batch.count)
        return batch
    }

    /// Whether no job waits; then there is no leader any more.
    package mutating func isFinished() -> Bool {
        if waiting.isEmpty { hasLeader = false }
        return waiting.isEmpty
    }
}

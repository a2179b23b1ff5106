/// The jobs that wait for the write lock, and who runs them.
///
/// The first to come leads: it runs its own job and, in the same transaction, those that came in the meantime; the others
/// wait for it. Pure: it only says what to do.
package struct WriteBatch<Job> {
    private var waiting: [Job] = []
    private var isLed = false

    package init() {}

    /// Adds a job; `true` if whoever added it has to lead.
    package mutating func add(_ job: Job) -> Bool {
        waiting.append(job)
        defer { isLed = true }
        return !isLed
    }

    /// The jobs of the next transaction, at most `limit`, in the order in which they came.
    package mutating func next(limit: Int) -> [Job] {
        let batch = Array(waiting.prefix(limit))
        waiting.removeFirst(batch.count)
        return batch
    }

    /// Whether nobody waits; then the leader is relieved.
    package mutating func isFinished() -> Bool {
        if waiting.isEmpty { isLed = false }
        return waiting.isEmpty
    }
}

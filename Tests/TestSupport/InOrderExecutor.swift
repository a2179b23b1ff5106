internal import Dispatch

/// Runs the jobs of tasks one at a time, in the order of their arrival.
///
///     let executor = InOrderExecutor()
///     let tasks = (0..<3).map { number in Task(executorPreference: executor) { … } }
///     await executor.settled()   // each task has reached its first suspension
public final class InOrderExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "InOrderExecutor")

    /// Creates an executor without jobs.
    public init() {}

    /// Runs a job after all earlier ones.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Returns once all earlier jobs have run.
    public func settled() async { await withCheckedContinuation { caller in queue.async { caller.resume() } } }
}

internal import Dispatch

/// Runs the parts of tasks one after the other, each as soon as those before it have run.
///
///     let executor = InOrderExecutor()
///     let tasks = (0..<3).map { number in Task(executorPreference: executor) { … } }
///     await executor.settled()   // each of them has come to where it waits for something
public final class InOrderExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "InOrderExecutor")

    /// Creates one that has nothing to run.
    public init() {}

    /// Runs a part of a task after those before it.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Returns once everything has run that was there before.
    public func settled() async {
        await withCheckedContinuation { caller in queue.async { caller.resume() } }
    }
}

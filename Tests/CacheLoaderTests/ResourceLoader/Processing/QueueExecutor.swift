internal import Dispatch
import TestSupport

/// An executor that can tell whether it runs the caller.
final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "QueueExecutor")
    /// Guards the thread of the job that is running.
    private let thread = Mutex<ObjectIdentifier?>(nil)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            self.thread.withLock { $0 = ObjectIdentifier(Thread.current) }
            job.runSynchronously(on: self.asUnownedSerialExecutor())
            self.thread.withLock { $0 = nil }
        }
    }

    var isHere: Bool { thread.withLock { $0 == ObjectIdentifier(Thread.current) } }
}

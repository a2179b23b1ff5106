internal import Dispatch

/// Runs blocking work in order, off the caller's executor. The lane is a serial queue. On Linux, concurrent queues
/// share their threads with Swift's tasks, and blocking work there starves every task of the process.
///
/// The folder `Concurrency/` has queues for blocking work, a bounded dictionary and a pause. The folder may use
/// Dispatch. Only `BackgroundWork` knows the store. The folder opens no file and no index.
package final class BlockingLane: Sendable {
    private let queue: DispatchQueue

    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Runs `work` after all queued work.
    func submit(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    /// Runs `work` after all queued work and returns its result. Blocks the caller.
    func runAndWait<Value, Failure: Error>(_ work: () throws(Failure) -> Value) throws(Failure) -> Value {
        // `sync` rethrows, and would lose the type of the error.
        try queue.sync { Result(catching: work) }.get()
    }

    /// Runs `work` after at least `delay`.
    func submit(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        // Dispatch counts nanoseconds: a longer delay would wrap around.
        queue.asyncAfter(deadline: .now() + min(delay / .seconds(1), 1e9), execute: work)
    }

    /// Runs `work` on the lane and returns its result.
    package func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }
}

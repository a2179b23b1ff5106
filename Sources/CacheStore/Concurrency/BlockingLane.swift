internal import Dispatch

/// Where blocking work runs that would otherwise hold up a caller's executor, one piece after the other.
///
/// A serial queue of its own: on Linux a concurrent queue and Swift's tasks share their threads, and blocking work there
/// starves every task of the process.
final class BlockingLane: Sendable {
    private let queue: DispatchQueue

    init(label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Runs `work` after what is queued already.
    func submit(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    /// Runs `work` after what is queued already, while the caller waits; returns what it returns.
    func runAndWait<Value, Failure: Error>(_ work: () throws(Failure) -> Value) throws(Failure) -> Value {
        try queue.sync { () -> Result<Value, Failure> in
            // As below.
            do throws(Failure) {
                return .success(try work())
            } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Runs `work` some time after `delay` has passed.
    func submit(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        // Dispatch counts nanoseconds, and would wrap around.
        queue.asyncAfter(deadline: .now() + min(delay / .seconds(1), 1e9), execute: work)
    }

    /// Runs `work` and returns what it returns.
    func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            submit {
                // The closure of `Result(catching:)` would lose the type of the error.
                do throws(Failure) {
                    continuation.resume(returning: .success(try work()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}

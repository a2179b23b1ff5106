public import Foundation

/// The awaited event did not happen within a minute.
public struct NeverHappened: Error {
    /// Creates the error.
    public init() {}
}

/// Waits on the calling thread while the condition holds. Throws after a minute. A test that blocks a thread of Swift's
/// pool forever would hang the whole run, and the run would not name the test.
public func spinWhile(_ condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while try condition() {
        guard ContinuousClock.now < end else { throw NeverHappened() }
        sched_yield()
    }
}

extension DispatchSemaphore {
    /// Waits on the calling thread for a signal. Throws after a minute, for the reason given at ``spinWhile(_:)``.
    public func waitForSignal() throws {
        guard wait(timeout: .now() + 60) == .success else { throw NeverHappened() }
    }
}

/// Returns once the condition holds. For events that send no signal, such as the end of background work.
public func eventually(_ condition: () throws -> Bool) async rethrows {
    while try !condition() { await Task.yield() }
}

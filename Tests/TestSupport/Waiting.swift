public import Foundation

/// What a test waits for has not happened within a minute.
public struct NeverHappened: Error {}

/// Waits on the calling thread while the condition holds. Throws after a minute: a test that blocks a thread of Swift's pool for
/// ever keeps all other tests from their end, and the run does not say which one it was.
public func spinWhile(_ condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while try condition() {
        guard ContinuousClock.now < end else { throw NeverHappened() }
        sched_yield()
    }
}

extension DispatchSemaphore {
    /// Waits on the calling thread for a signal. Throws after a minute, for the reason of ``spinWhile(_:)``.
    public func waitForSignal() throws {
        guard wait(timeout: .now() + 60) == .success else { throw NeverHappened() }
    }
}

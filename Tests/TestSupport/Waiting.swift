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
    public func waitForSignal() throws { guard wait(timeout: .now() + 60) == .success else { throw NeverHappened() } }
}

/// Returns once the condition holds. For events that send no signal, such as the end of background work. Records an
/// issue after 200 seconds in vain, before the time limit of the suite, so that a broken rule fails its test by name.
public func eventually<Failure: Error>(
    isolation: isolated (any Actor)? = #isolation, fileID: String = #fileID, filePath: String = #filePath,
    line: Int = #line, column: Int = #column, _ condition: () async throws(Failure) -> Bool
) async throws(Failure) {
    let end = ContinuousClock.now + .seconds(200)
    while try await !condition() {
        guard ContinuousClock.now < end else {
            let place = SourceLocation(fileID: fileID, filePath: filePath, line: line, column: column)
            Issue.record("the condition never held", sourceLocation: place)
            return
        }
        await Task.yield()
    }
}

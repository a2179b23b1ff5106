import TestSupport

/// A call on a separate thread.
final class ThreadCall: Sendable {
    private let ended = DispatchSemaphore(value: 0)
    /// Guards the error.
    private let failure = Mutex<(any Error)?>(nil)

    init(_ body: @escaping @Sendable () throws -> Void) {
        Thread.detachNewThread { [self] in
            do { try body() } catch { failure.withLock { $0 = error } }
            ended.signal()
        }
    }

    /// Waits for the end of the call. Returns its error, or `nil`.
    func error() throws -> StoreError? {
        try ended.waitForSignal()
        return failure.withLock { $0 } as? StoreError
    }
}

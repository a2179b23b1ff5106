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

    /// Waits for the end of the call. Returns its error, or `nil`. Throws an error that is not of the store.
    func error() throws -> StoreError? {
        try ended.waitForSignal()
        guard let error = failure.withLock({ $0 }) else { return nil }
        guard let error = error as? StoreError else { throw error }
        return error
    }
}

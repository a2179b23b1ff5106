internal import Dispatch
internal import Synchronization

/// Runs reads of the index that may take long: queries, checks, selections and copies. Each read opens its own
/// connection, so that lookups do not wait for it. Closing or suspending the store interrupts these reads and waits
/// until their connections are closed. The ballast is created as a long read, too.
final class LongReads: Sendable {
    /// The error that calls throw instead of running. Guards the number of running reads.
    private let refusal = Mutex<StoreError?>(nil)
    private let interruption = InterruptFlag()
    private let underWay = DispatchGroup()

    /// Calls `body`, which ends its statements when the flag is set, and closes its connections before it returns.
    func run<Value>(
        _ body: (InterruptFlag) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try refusal.withLock { (refusal) throws(StoreError) in
            if let refusal { throw refusal }
            // Enter under the mutex. Otherwise `end` could wait before this read has entered, and return while it runs.
            underWay.enter()
        }
        defer { underWay.leave() }
        do throws(StoreError) {
            return try body(interruption)
        } catch {
            guard error.isInterruption else { throw error }
            // The caller learns that the store is suspended or closed, which is the reason of the interruption.
            throw refusal.withLock { $0 } ?? error
        }
    }

    /// Interrupts the running reads. Until ``begin()``, later reads throw `error`.
    func end(with error: StoreError) {
        refusal.withLock { $0 = error }
        interruption.set(true)
        underWay.wait()
    }

    /// Allows reads again after a suspension.
    func begin() {
        refusal.withLock { refusal in
            // A store that was closed after the suspension stays closed.
            guard refusal == .suspended else { return }
            interruption.set(false)
            refusal = nil
        }
    }
}

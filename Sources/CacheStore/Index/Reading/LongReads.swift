internal import Dispatch
internal import Synchronization

/// Runs the reads of the index that may take long: queries, checks, selections and copies. Each opens a connection, so
/// that no lookup waits for one.
///
/// Closing or suspending the store interrupts them, and waits until their connections are closed.
final class LongReads: Sendable {
    /// The error that calls throw instead of running. Guards the number of reads under way.
    private let refusal = Mutex<StoreError?>(nil)
    private let interruption = InterruptFlag()
    private let underWay = DispatchGroup()

    /// Calls `body`, which ends the statements of its connections when the flag is set, and closes them before it
    /// returns.
    func run<Value>(
        _ body: (InterruptFlag) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try refusal.withLock { (refusal) throws(StoreError) in
            if let refusal { throw refusal }
            underWay.enter()
        }
        defer { underWay.leave() }
        do throws(StoreError) {
            return try body(interruption)
        } catch {
            guard error.isInterruption else { throw error }
            throw refusal.withLock { $0 } ?? error
        }
    }

    /// Interrupts the present reads, and throws `error` from all later ones, until ``begin()``.
    func end(with error: StoreError) {
        refusal.withLock { $0 = error }
        interruption.set(true)
        underWay.wait()
    }

    /// Allows reads again after a suspension.
    func begin() {
        refusal.withLock { refusal in
            // A store that was closed in the meantime stays closed.
            guard refusal == .suspended else { return }
            interruption.set(false)
            refusal = nil
        }
    }
}

internal import CSQLite
internal import Dispatch
internal import Synchronization

/// Runs the queries and copies of the index that use connections of their own.
///
/// Closing or suspending the store interrupts them, and waits until their connections are closed.
final class InterruptibleQueries: Sendable {
    /// The error that calls throw instead of running. Guards the number of queries under way.
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
            guard case .index(let reason) = error, reason.code == SQLITE_INTERRUPT else { throw error }
            throw refusal.withLock { $0 } ?? error
        }
    }

    /// Interrupts the queries under way, and throws `error` from all later ones, until ``begin()``.
    func end(with error: StoreError) {
        refusal.withLock { $0 = error }
        interruption.set(true)
        underWay.wait()
    }

    /// Allows queries again after a suspension.
    func begin() {
        refusal.withLock { refusal in
            // A store that was closed in the meantime stays closed.
            guard refusal == .suspended else { return }
            interruption.set(false)
            refusal = nil
        }
    }
}

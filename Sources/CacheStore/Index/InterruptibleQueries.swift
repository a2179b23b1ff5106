internal import CSQLite
internal import Dispatch
internal import Synchronization

/// The queries and copies of the index that run on connections of their own.
///
/// Closing or suspending the store interrupts them, and waits until their connections are closed.
final class InterruptibleQueries: Sendable {
    /// Thrown instead of a result. Guards the number of queries under way.
    private let refusal = Mutex<StoreError?>(nil)
    private let interruption = InterruptFlag()
    private let underWay = DispatchGroup()

    /// Calls `body`. Its connections end their statements when the flag is set, and are closed when it returns.
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
            // A store closed in the meantime stays closed.
            guard refusal == .suspended else { return }
            interruption.set(false)
            refusal = nil
        }
    }
}

internal import CSQLite
internal import Dispatch
internal import Synchronization

/// Questions that are asked on connections of their own, for as long as they take. A store that is closed or suspended ends them,
/// and waits until they have let go of the index.
final class Inquiries: Sendable {
    /// What is thrown instead of an answer. Guards who is counted as under way.
    private let refusal = Mutex<StoreError?>(nil)
    private let interruption = InterruptFlag()
    private let underWay = DispatchGroup()

    /// Calls `body`, whose connections look at the flag, and are gone when it returns.
    func inquire<Value>(
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

    /// Ends what is under way, and throws `error` from now on, until ``begin()``.
    func end(with error: StoreError) {
        refusal.withLock { $0 = error }
        interruption.set(true)
        underWay.wait()
    }

    /// Allows questions again after a suspension.
    func begin() {
        refusal.withLock { refusal in
            // What was closed meanwhile stays closed.
            guard refusal == .suspended else { return }
            interruption.set(false)
            refusal = nil
        }
    }
}

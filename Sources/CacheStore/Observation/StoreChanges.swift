internal import Synchronization

/// A change that this process made to the entries of a store.
package enum StoreChange: Sendable {
    /// The entry of this key with this id was stored, or its metadata was replaced.
    case stored(CacheKey, id: Int64)
    /// Entries of this key were removed.
    case removed(CacheKey)
    /// Entries of many keys were removed; the partition is `nil` if entries of all partitions may be among them.
    case removedMany(partition: String?)
}

/// Tells observers, such as the memory of a loader, about the changes of one store object.
///
/// An eviction is no change in this sense: an evicted response was correct. Changes by other processes are not seen.
package final class StoreChanges: Sendable {
    /// Called after the transaction of the change, on the thread of the caller that made the change, without a lock. A thread
    /// of the store reports a replaced index.
    package typealias Observer = @Sendable (StoreChange) -> Void

    private struct State {
        var observers: [UInt64: Observer] = [:]
        var lastTicket: UInt64 = 0
    }

    /// Guards the observers. They are called outside.
    private let state = Mutex(State())

    /// Calls `observer` for each change until the returned object is released.
    package func observe(_ observer: @escaping Observer) -> StoreObserving {
        state.withLock { state in
            state.lastTicket += 1
            state.observers[state.lastTicket] = observer
            return StoreObserving(self, state.lastTicket)
        }
    }

    fileprivate func end(_ ticket: UInt64) {
        // Outside the lock: the observer may hold the last reference to something that has a lock.
        let ended = state.withLock { $0.observers.removeValue(forKey: ticket) }
        _ = consume ended
    }

    func note(_ change: StoreChange) {
        for observer in state.withLock({ Array($0.observers.values) }) { observer(change) }
    }
}

/// An observation of the changes of a store, which ends with the last reference to this object.
package final class StoreObserving: Sendable {
    private let changes: StoreChanges
    private let ticket: UInt64

    fileprivate init(_ changes: StoreChanges, _ ticket: UInt64) {
        self.changes = changes
        self.ticket = ticket
    }

    deinit {
        changes.end(ticket)
    }
}

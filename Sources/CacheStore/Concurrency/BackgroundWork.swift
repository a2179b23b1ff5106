internal import Synchronization

/// Runs a store's own work on a lane, one piece after the other. Drops the work if the store is gone by then.
final class BackgroundWork: Sendable {
    private struct Reference: Sendable {
        weak var store: ResponseStore?
    }

    /// Runs also work that needs no store, or whose caller keeps the store.
    let lane = BlockingLane(label: "CacheStore.background")
    /// Guards the reference. ``attach(_:)`` sets it once, when the store is complete.
    private let reference = Mutex(Reference())

    func attach(_ store: ResponseStore) {
        reference.withLock { $0.store = store }
    }

    func submit(_ work: @escaping @Sendable (ResponseStore) -> Void) {
        lane.submit { [weak self] in
            if let store = self?.reference.withLock({ $0.store }) { work(store) }
        }
    }
}

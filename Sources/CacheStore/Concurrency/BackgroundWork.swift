internal import Synchronization

/// Runs a store's own work on a lane, one piece after the other. Drops the work if the store is gone by then.
final class BackgroundWork: Sendable {
    private struct Reference: Sendable {
        weak var store: ResponseStore?
    }

    private let lane = BlockingLane(label: "CacheStore.background")
    /// Guards the reference. ``attach(_:)`` sets it once, when the store is complete.
    private let reference = Mutex(Reference())

    func attach(_ store: ResponseStore) {
        reference.withLock { $0.store = store }
    }

    /// Runs `work` for a caller, after the work that was submitted before.
    func run<Value: Sendable>(
        _ work: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await lane.run(work)
    }

    /// Runs work that needs no store, even after the store was released.
    func submitWithoutStore(_ work: @escaping @Sendable () -> Void) {
        lane.submit(work)
    }

    func submit(_ work: @escaping @Sendable (ResponseStore) -> Void) {
        lane.submit { [weak self] in
            if let store = self?.reference.withLock({ $0.store }) { work(store) }
        }
    }
}

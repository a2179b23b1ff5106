internal import Synchronization

/// Runs a store's own work on a lane, in order. Drops the work if the store was released.
final class BackgroundWork: Sendable {
    private struct Reference: Sendable {
        weak var store: ResponseStore?
    }

    /// The lane itself, for work that needs no store or whose caller keeps the store alive.
    let lane = BlockingLane(label: "CacheStore.background")
    /// Guards the reference, which ``attach(_:)`` sets once, when the store is complete.
    private let reference = Mutex(Reference())

    func attach(_ store: ResponseStore) {
        reference.withLock { $0.store = store }
    }

    /// - Parameter delay: The time before the work, during which the store may be released.
    func submit(after delay: Duration? = nil, _ work: @escaping @Sendable (ResponseStore) -> Void) {
        let work: @Sendable () -> Void = { [weak self] in
            if let store = self?.reference.withLock({ $0.store }) { work(store) }
        }
        if let delay { lane.submit(after: delay, work) } else { lane.submit(work) }
    }
}

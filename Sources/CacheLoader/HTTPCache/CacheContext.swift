internal import CacheStore
internal import Synchronization

/// The objects that all requests of one cache or loader share.
final class CacheContext: Sendable {
    /// Runs a background revalidation, and reports its result once.
    typealias Revalidator =
        @Sendable (CacheTransaction, _ ended: @escaping @Sendable (Revalidations.Outcome) -> Void) -> Void

    let store: ResponseStore
    let transport: any HTTPTransport
    /// Counts and times requests.
    let meters: CacheMeters
    /// Shared by all caches and loaders on the store.
    let coalescer: RequestCoalescer
    /// The bodies that arrive for the store.
    let bodies = ArrivingBodies()

    /// Guards the revalidator, which is `nil` until the owner is complete.
    private let revalidator = Mutex<Revalidator?>(nil)

    init(store: ResponseStore, transport: any HTTPTransport, meters: CacheMeters) {
        self.store = store
        self.transport = transport
        self.meters = meters
        coalescer = .of(store)
    }

    /// Sets the function that runs background revalidations. Must not keep the owner of the context.
    func setRevalidator(_ revalidator: @escaping Revalidator) {
        self.revalidator.withLock { $0 = revalidator }
    }

    func revalidate(
        _ transaction: CacheTransaction, ended: @escaping @Sendable (Revalidations.Outcome) -> Void
    ) {
        guard let revalidator = revalidator.withLock({ $0 }) else { return ended(.cancelled) }
        revalidator(transaction, ended)
    }
}

/// A configuration of a cache. Requests share it, because a copy of all its properties is expensive.
final class CacheSettings: Sendable {
    let configuration: HTTPCache.Configuration

    init(_ configuration: HTTPCache.Configuration) {
        self.configuration = configuration
    }
}

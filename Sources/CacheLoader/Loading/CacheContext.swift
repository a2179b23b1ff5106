internal import CacheStore

/// What the requests of one cache share.
final class CacheContext: Sendable {
    let store: ResponseStore
    let transport: any HTTPTransport
    /// What is counted and timed.
    let meters: CacheMeters
    /// Is told of what was removed from the store or invalidated there; `nil` if it cannot be told by keys.
    let onRemoval: @Sendable ([CacheKey]?) -> Void
    /// Responses whose bodies are still arriving.
    let arrivals = Arrivals()
    /// The bodies that arrive for the store.
    let bodies = BodiesUnderWay()
    /// Revalidations behind the back of whoever was answered.
    let revalidations = Revalidations()

    init(
        store: ResponseStore, transport: any HTTPTransport, meters: CacheMeters,
        onRemoval: @escaping @Sendable ([CacheKey]?) -> Void = { _ in }
    ) {
        self.store = store
        self.transport = transport
        self.meters = meters
        self.onRemoval = onRemoval
    }
}

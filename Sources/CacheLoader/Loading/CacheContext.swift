internal import CacheStore

/// What the requests of one cache share.
final class CacheContext: Sendable {
    let store: ResponseStore
    let transport: any HTTPTransport
    /// Responses whose bodies are still arriving.
    let arrivals = Arrivals()
    /// Revalidations behind the back of whoever was answered.
    let revalidations = Revalidations()

    init(store: ResponseStore, transport: any HTTPTransport) {
        self.store = store
        self.transport = transport
    }
}

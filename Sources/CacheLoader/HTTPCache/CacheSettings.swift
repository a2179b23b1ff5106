/// A configuration of a cache. Requests share it, because a copy of all its properties is expensive.
final class CacheSettings: Sendable {
    let configuration: HTTPCache.Configuration

    init(_ configuration: HTTPCache.Configuration) {
        self.configuration = configuration
    }
}

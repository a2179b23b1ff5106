internal import CacheStore
internal import HTTPCaching
internal import Synchronization

/// A configuration of a loader. Loads share it, because a copy of all its properties is expensive.
final class LoaderSettings: Sendable {
    let configuration: ResourceLoader.Configuration
    /// The configuration of the cache that follows from ``configuration``.
    let cache: HTTPCache.Configuration
    /// The number of earlier changes of the configuration. Loads before and after a change are not coalesced.
    let generation: UInt64
    private let lastNumber = Atomic<UInt64>(0)

    init(_ configuration: ResourceLoader.Configuration, generation: UInt64) {
        self.configuration = configuration
        cache = configuration.cache
        self.generation = generation
    }

    /// Returns the policy of a request. Reads its URL only if policies depend on it.
    func policy(of request: ResourceRequest) -> CachePolicy {
        var policy = configuration.policy
        if !configuration.urlPolicies.isEmpty, let url = try? CacheKey(url: request.url) {
            policy = policy.applying(configuration.urlPolicies, to: url)
        }
        return policy.applying(request.policy)
    }

    /// Returns a number that no other load with these settings has.
    func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }
}

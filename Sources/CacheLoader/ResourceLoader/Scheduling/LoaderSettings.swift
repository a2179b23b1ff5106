internal import CacheStore
internal import HTTPCaching
internal import Synchronization

/// A configuration of a loader. Loads share it, because a copy of all its properties is expensive.
final class LoaderSettings: Sendable {
    let configuration: ResourceLoader.Configuration
    /// The configuration of the cache that follows from ``configuration``.
    let cache: CacheSettings
    /// The number of earlier changes of the configuration. Loads before and after a change are not coalesced.
    let generation: UInt64
    private let lastNumber = Atomic<UInt64>(0)

    init(_ configuration: ResourceLoader.Configuration, generation: UInt64) {
        self.configuration = configuration
        cache = CacheSettings(configuration.cache)
        self.generation = generation
    }

    /// Returns the policy of a request. Reads its URL only if policies depend on it.
    func policy(of request: ResourceRequest) -> CachePolicy {
        guard !configuration.urlPolicies.isEmpty, let url = try? CacheKey(url: request.url) else {
            return configuration.policy.applying(request.policy)
        }
        return policy(for: url).applying(request.policy)
    }

    /// Returns the policy for a URL without the changes of a request.
    func policy(for url: CacheKey) -> CachePolicy {
        configuration.policy.applying(configuration.urlPolicies, to: url)
    }

    /// Returns a number that no other load with these settings has.
    func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }
}

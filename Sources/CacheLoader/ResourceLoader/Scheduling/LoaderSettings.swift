internal import CacheStore
internal import Synchronization

/// A configuration of a loader. Loads share it, because a copy of all its properties is expensive.
final class LoaderSettings: Sendable {
    let configuration: ResourceLoader.Configuration
    /// The configuration of the cache that follows from ``configuration``.
    let cache: CacheSettings
    /// The number of earlier changes of the configuration. Loads before and after a change are not coalesced.
    let generation: UInt64
    /// The number of earlier changes that affect the value of a response, or the choice of the response. After such a
    /// change, older values in memory no longer answer.
    let valueGeneration: UInt64
    private let lastNumber = Atomic<UInt64>(0)

    /// `former` are the settings before a change. The first settings have none.
    init(_ configuration: ResourceLoader.Configuration, after former: LoaderSettings? = nil) {
        self.configuration = configuration
        cache = CacheSettings(configuration.cache)
        generation = former.map { $0.generation + 1 } ?? 0
        let isSame = former.map { Self.makeSameValues($0.configuration, configuration) } ?? true
        valueGeneration = (former?.valueGeneration ?? 0) + (isSame ? 0 : 1)
    }

    private static func makeSameValues(_ a: ResourceLoader.Configuration, _ b: ResourceLoader.Configuration) -> Bool {
        a.policy == b.policy && a.urlPolicies == b.urlPolicies && a.partition == b.partition
            && a.credentials == b.credentials && a.maxRedirects == b.maxRedirects && a.cacheStatus == b.cacheStatus
            && a.maxBodyBytes == b.maxBodyBytes && a.maxDecodedBytes == b.maxDecodedBytes
            && a.decodesContent == b.decodesContent && a.contentTypes == b.contentTypes
            && a.acceptsMissingContentType == b.acceptsMissingContentType && a.loadsFiles == b.loadsFiles
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

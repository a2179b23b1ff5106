internal import CacheStore
internal import HTTPTypes
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The values that a loader keeps in memory, and what has to be known of each to serve it.
///
/// A value is served as long as the response that it was made of would be: until that turns stale. It is found by the text
/// of its request, for to normalise a URL takes longer than to find a value.
final class LoaderMemory: Sendable {
    /// What a value is found by.
    struct Key: Hashable {
        private let url: String
        private let name: String?
        private let headerFields: HTTPFields
        private let policy: CachePolicy?
        private let recipe: Recipe.Identity
        /// Stands for the configuration.
        private let generation: UInt64

        /// `nil` if a value in memory must not answer the request: it says more about that than a key can.
        init?(
            _ request: ResourceRequest, _ recipe: Recipe, _ configuration: ResourceLoader.Configuration,
            _ generation: UInt64
        ) {
            guard request.usesMemory, request.method == .get, configuration.memoryLimit != nil else { return nil }
            guard !request.headerFields.contains(where: { Self.telling.contains($0.name.canonicalName) }) else {
                return nil
            }
            let policy = request.policy ?? configuration.policy
            guard [.http, .cacheFirst, .cacheOnly].contains(policy.mode), !policy.storesNothing else { return nil }
            url = request.url
            name = request.key
            headerFields = request.headerFields
            self.policy = request.policy
            self.recipe = recipe.identity
            self.generation = generation
        }

        private static let telling: Set<String> = [
            "cache-control", "pragma", "range", "if-range", "if-none-match", "if-modified-since", "if-match",
            "if-unmodified-since",
        ]
    }

    private struct Facts {
        let loaded: Loaded<Void>
        let entry: StoredEntry
        let insertedAt: Date
    }

    /// Values of which something is known; those longest unused are forgotten first.
    private static let capacity = 65_536

    private let clock: @Sendable () -> Date
    private let values: MemoryCache<Key, any Sendable>
    private let facts: MemoryCache<Key, Facts>

    init(_ configuration: ResourceLoader.Configuration) {
        clock = configuration.clock
        values = MemoryCache(
            costLimit: configuration.memoryLimit ?? 0, stress: configuration.memoryStress,
            pressure: configuration.memoryPressure, clock: configuration.clock)
        facts = MemoryCache(costLimit: Self.capacity, clock: configuration.clock)
    }

    /// What the values may take together; `nil`: there are none.
    func setLimit(_ limit: Int?) {
        values.costLimit = limit ?? 0
        if limit == nil { removeAll() }
    }

    /// The value for a key, and the entry of the store that it was made of.
    func value(for key: Key) -> (loaded: Loaded<any Sendable>, entry: StoredEntry)? {
        guard let facts = facts.value(for: key) else { return nil }
        let resident = clock().timeIntervalSince(facts.insertedAt)
        // A clock that was set back tells nothing.
        guard resident >= 0, let value = values.value(for: key) else { return nil }
        var loaded = facts.loaded.with(value)
        loaded.source = .memory
        loaded.age = loaded.age.saturatingAdding(Int64(resident))
        return (loaded, facts.entry)
    }

    /// Keeps a value as long as it is fresh.
    func insert(_ loaded: Loaded<any Sendable>, for key: Key, cost: Int, entry: StoredEntry) {
        let now = clock()
        guard let expiresAt = loaded.expiresAt, !loaded.isStale, loaded.failure == nil, expiresAt > now,
            values.insert(loaded.value, for: key, cost: cost, expiresAt: expiresAt)
        else { return }
        let known = Facts(loaded: loaded.with(()), entry: entry, insertedAt: now)
        facts.insert(known, for: key, cost: 1, expiresAt: expiresAt)
    }

    /// Removes all that was made of what is stored under a key.
    func remove(_ key: CacheKey) {
        let keys = Set(facts.keys { $0.entry.key == key })
        guard !keys.isEmpty else { return }
        values.removeAll { keys.contains($0) }
        facts.removeAll { keys.contains($0) }
    }

    /// Lets go of all values; one that somebody else holds is found again.
    func evictAll() -> FreedMemory {
        values.evictAll()
    }

    @discardableResult
    func removeAll() -> FreedMemory {
        facts.removeAll()
        return values.removeAll()
    }
}

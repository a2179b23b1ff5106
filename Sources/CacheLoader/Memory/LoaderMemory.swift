internal import CacheStore
internal import HTTPCaching
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
    /// What a value is found by. Hashed once, for a hit looks into several tables.
    struct Key: Hashable {
        private let hash: Int
        private let url: String
        private let name: String?
        private let headerFields: HTTPFields
        private let policy: CachePolicy?
        private let recipe: Recipe.Identity
        /// Stands for the configuration.
        private let generation: UInt64

        /// `nil` if a value in memory must not answer the request: it says more about that than a key can.
        init?(_ request: ResourceRequest, _ recipe: Recipe, _ settings: LoaderSettings) {
            guard request.usesMemory, request.method == .get, (settings.configuration.memoryLimit ?? 0) > 0 else {
                return nil
            }
            guard !request.headerFields.contains(where: { Self.telling.contains($0.name.canonicalName) }) else {
                return nil
            }
            guard (request.policy ?? settings.configuration.policy).usesMemory else { return nil }
            url = request.url
            name = request.key
            headerFields = request.headerFields
            self.policy = request.policy
            self.recipe = recipe.identity
            generation = settings.generation
            var hasher = Hasher()
            hasher.combine(url)
            hasher.combine(name)
            if !headerFields.isEmpty { hasher.combine(headerFields) }
            hasher.combine(recipe.identity)
            hash = hasher.finalize()
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(hash)
        }

        private static let telling: Set<String> = [
            "cache-control", "pragma", "range", "if-range", "if-none-match", "if-modified-since", "if-match",
            "if-unmodified-since",
        ]
    }

    /// What is known of a value. By reference, so that a hit copies only what it needs.
    private final class Facts: Sendable {
        /// What the value is kept under.
        let number: UInt64
        let loaded: Loaded<Void>
        let entry: Int64
        let insertedAt: Date
        let expiresAt: Date

        init(_ number: UInt64, _ loaded: Loaded<Void>, entry: Int64, insertedAt: Date, expiresAt: Date) {
            self.number = number
            self.loaded = loaded
            self.entry = entry
            self.insertedAt = insertedAt
            self.expiresAt = expiresAt
        }
    }

    /// A struct, because an instance that is evicted would be noted, to be found again.
    private struct Known {
        let facts: Facts
    }

    /// Values of which something is known; those longest unused are forgotten first.
    private static let capacity = 65_536

    /// What happened to the store, as far as memory has been told. Compared with a later one, it says whether what was read
    /// there in between may have been removed meanwhile.
    struct Moment: Equatable {
        fileprivate let removals: UInt32
    }

    /// What was kept of each key of the store.
    private struct Index {
        /// Some of the values may be gone by now.
        private var keys: [CacheKey: Set<Key>] = [:]
        private var count = 0
        private var lastNumber: UInt64 = 0
        /// Removals of keys, told apart by some bits of their hashes.
        private var removals = [UInt32](repeating: 0, count: 1024)

        func moment(of key: CacheKey) -> Moment { Moment(removals: removals[place(of: key)]) }

        mutating func number() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        private func place(of key: CacheKey) -> Int { key.hashValue & (removals.count - 1) }

        mutating func insert(_ key: Key, under stored: CacheKey) {
            if keys[stored, default: []].insert(key).inserted { count += 1 }
        }

        mutating func remove(_ stored: CacheKey) -> Set<Key> {
            removals[place(of: stored)] &+= 1
            let removed = keys.removeValue(forKey: stored) ?? []
            count -= removed.count
            return removed
        }

        mutating func removeAll() {
            for place in removals.indices { removals[place] &+= 1 }
            keys = [:]
            count = 0
        }

        /// Forgets what is gone, once that is the greater part.
        mutating func prune(_ isThere: (Key) -> Bool) {
            guard count > 2 * LoaderMemory.capacity else { return }
            keys = keys.compactMapValues { keys in
                let left = keys.filter(isThere)
                return left.isEmpty ? nil : left
            }
            count = keys.values.reduce(0) { $0 + $1.count }
        }
    }

    private let clock: @Sendable () -> Date
    /// By number: only what is known of a value has to be found by its long key.
    private let values: MemoryCache<UInt64, any Sendable>
    private let known: MemoryCache<Key, Known>
    /// Lets one after the other set the limit.
    private let limits = Mutex(())
    /// Guards the index, and that no fact is inserted of what is being removed.
    private let index = Mutex(Index())

    /// - Parameter onEvent: Is told what happens to the values by itself, on any thread and without a lock.
    init(_ configuration: ResourceLoader.Configuration, onEvent: @escaping @Sendable (MemoryEvent) -> Void) {
        clock = configuration.clock
        values = MemoryCache(
            costLimit: Self.costLimit(configuration.memoryLimit), stress: configuration.memoryStress,
            pressure: configuration.memoryPressure, clock: configuration.clock, onEvent: onEvent)
        known = MemoryCache(costLimit: Self.capacity, clock: configuration.clock)
    }

    /// Empties the memory for a new configuration, which has the memory limit `limit`.
    func setLimit(_ limit: () -> Int?) {
        limits.withLock { _ in values.costLimit = Self.costLimit(limit()) }
        removeAll()
    }

    /// Returns the cost limit for a memory limit. A share of `Int.max` would free nothing under pressure; a cache
    /// without a limit keeps a share of its values.
    private static func costLimit(_ memoryLimit: Int?) -> Int? {
        memoryLimit == .max ? nil : memoryLimit ?? 0
    }

    /// The value for a key.
    ///
    /// - Parameter use: Is called with the entry of the store that it was made of.
    func value(for key: Key, _ use: (_ entry: Int64) -> Void) -> Loaded<any Sendable>? {
        let now = clock()
        guard let facts = known.value(for: key, at: now)?.facts else { return nil }
        let resident = now.timeIntervalSince(facts.insertedAt)
        // A clock that was set back tells nothing.
        guard resident >= 0, let value = values.value(for: facts.number, at: now) else {
            if facts.expiresAt <= now { forget(key) }
            return nil
        }
        use(facts.entry)
        var loaded = facts.loaded.with(value)
        loaded.source = .memory
        loaded.age = loaded.age.saturatingAdding(Int64(resident))
        return loaded
    }

    /// The present moment of what is stored under a key.
    func moment(of key: CacheKey) -> Moment {
        index.withLock { $0.moment(of: key) }
    }

    /// Keeps a value as long as it is fresh, unless what it was made of was removed since `moment`.
    func insert(_ loaded: Loaded<any Sendable>, for key: Key, cost: Int, entry: StoredEntry, since moment: Moment) {
        let now = clock()
        guard let expiresAt = loaded.expiresAt, !loaded.isStale, loaded.failure == nil, expiresAt > now,
            let number = index.withLock({ $0.moment(of: entry.key) == moment ? $0.number() : nil })
        else { return }
        // What there was gives way, whether there is room for this or not.
        forget(key)
        guard values.insert(loaded.value, for: number, cost: cost, expiresAt: expiresAt) else { return }
        let facts = Facts(number, loaded.with(()), entry: entry.id, insertedAt: now, expiresAt: expiresAt)
        let gone = index.withLock { index in
            guard index.moment(of: entry.key) == moment else { return [Known(facts: facts)] }
            index.insert(key, under: entry.key)
            let gone = known.insertSayingWhatGoes(Known(facts: facts), for: key, cost: 1)
            index.prune { known.contains($0) }
            return gone
        }
        // A value of which nothing is known is not found.
        for known in gone { values.remove(known.facts.number) }
    }

    private func forget(_ key: Key) {
        if let facts = known.take(key)?.facts { values.remove(facts.number) }
    }

    /// Removes all that was made of what is stored under some keys; `nil` for any.
    func remove(_ keys: [CacheKey]?) {
        guard let keys else { return _ = removeAll() }
        for key in keys { remove(key) }
    }

    /// Removes all that was made of what is stored under a key, and keeps nothing of it that was read there before.
    func remove(_ key: CacheKey) {
        _ = remove(key, since: moment(of: key))
    }

    /// As ``remove(_:)-(CacheKey)``.
    ///
    /// - Returns: The moment after that; but `moment` if there was another removal between it and this one.
    func remove(_ key: CacheKey, since moment: Moment) -> Moment {
        let (removed, before, after) = index.withLock { index in
            let before = index.moment(of: key)
            return (index.remove(key), before, index.moment(of: key))
        }
        for key in removed { forget(key) }
        return before == moment ? after : moment
    }

    /// Lets go of all values; one that somebody else holds is found again.
    func evictAll() -> FreedMemory {
        values.evictAll()
    }

    @discardableResult
    func removeAll() -> FreedMemory {
        index.withLock { $0.removeAll() }
        known.removeAll()
        return values.removeAll()
    }
}

extension CachePolicy {
    /// Whether what is kept, and is fresh, answers.
    fileprivate var usesMemory: Bool {
        switch mode {
        case .http, .cacheFirst, .cacheOnly: !storesNothing
        case .revalidateAlways, .remoteOnly: false
        }
    }
}

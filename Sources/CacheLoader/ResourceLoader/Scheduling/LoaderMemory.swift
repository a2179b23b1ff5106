internal import CacheFoundation
internal import CacheStore
internal import HTTPCaching
internal import HTTPTypes
internal import Synchronization

/// The values that a loader keeps in memory, with the metadata needed to serve them.
///
/// Serves a value while the response from which it was made is fresh. Finds it by the text of the URL: normalising a
/// URL takes longer than the lookup.
final class LoaderMemory: Sendable {
    /// The key of a value. Stores its hash, because a hit looks into several tables.
    struct Key: Hashable {
        private let hash: Int
        private let url: String
        private let name: String?
        private let headerFields: HTTPFields
        private let policy: CachePolicy.Override
        private let plan: ProcessingPlan.Identity
        /// Identifies the configuration.
        private let generation: UInt64

        /// Returns `nil` if memory is off, or must not answer because of the method, fields or policy. Fields such as
        /// `Cache-Control` demand more than a key can express.
        ///
        /// Not an initialiser, which would get copies of request and plan.
        static func of(_ request: ResourceRequest, _ plan: ProcessingPlan, _ settings: LoaderSettings) -> Key? {
            guard request.usesMemory, request.method == .get, request.content == nil,
                (settings.configuration.memoryLimit ?? 0) > 0
            else { return nil }
            guard !request.headerFields.contains(where: { Self.telling.contains($0.name.canonicalName) }) else {
                return nil
            }
            guard settings.policy(of: request).usesMemory else { return nil }
            var hasher = Hasher()
            hasher.combine(request.url)
            hasher.combine(request.key)
            if !request.headerFields.isEmpty { hasher.combine(request.headerFields) }
            hasher.combine(plan.identity)
            return Key(
                hash: hasher.finalize(), url: request.url, name: request.key, headerFields: request.headerFields,
                policy: request.policy, plan: plan.identity, generation: settings.generation)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(hash)
        }

        private static let telling: Set<String> = [
            "cache-control", "pragma", "range", "if-range", "if-none-match", "if-modified-since", "if-match",
            "if-unmodified-since",
        ]
    }

    /// The metadata of a value. A class, so that a hit copies only the fields that it needs.
    private final class Facts: Sendable {
        /// The key of the value in `values`.
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

    /// A struct: the cache keeps weak references to evicted class instances, and would find this one again.
    private struct Known {
        let facts: Facts
    }

    /// The number of values with metadata. The least recently used are evicted first.
    private static let capacity = 65_536

    /// The keys of the values that were made from each stored response.
    private struct Index {
        /// May include keys of values that are gone.
        private var keys: [CacheKey: Set<Key>] = [:]
        private var count = 0
        private var lastNumber: UInt64 = 0
        private(set) var epochs = Epochs(capacity: 1024)
        /// The id of the entry that the latest change of each slot stored; 0 for another change.
        private var lastStored = [Int64](repeating: 0, count: 1024)

        mutating func number() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        mutating func insert(_ key: Key, under stored: CacheKey) {
            if keys[stored, default: []].insert(key).inserted { count += 1 }
        }

        /// Removes the values of a stored key, of which the entry with the id `stored` takes the place, if there is one.
        mutating func change(_ key: CacheKey, stored: Int64 = 0) -> Set<Key> {
            epochs.advance(key)
            lastStored[epochs.slot(of: key)] = stored
            let removed = keys.removeValue(forKey: key) ?? []
            count -= removed.count
            return removed
        }

        /// Removes the values of all keys of a partition.
        mutating func changeAll(in partition: String) -> [Key] {
            advanceAll()
            let removed = keys.filter { $0.key.partition == partition }
            for (key, values) in removed {
                keys[key] = nil
                count -= values.count
            }
            return removed.flatMap(\.value)
        }

        mutating func removeAll() {
            advanceAll()
            keys = [:]
            count = 0
        }

        private mutating func advanceAll() {
            epochs.advanceAll()
            for slot in lastStored.indices { lastStored[slot] = 0 }
        }

        /// Whether an entry is still the stored one: nothing changed since `epoch`, or only this entry was stored.
        func isCurrent(_ entry: StoredEntry, since epoch: Epoch, mayBeChange: Bool) -> Bool {
            let present = epochs[entry.key]
            if present == epoch { return true }
            return mayBeChange && present == epoch.next && lastStored[epochs.slot(of: entry.key)] == entry.id
        }

        /// Drops the keys of values that are gone, once they are the majority.
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
    /// Values by number. Only their metadata needs a lookup by the long key.
    private let values: MemoryCache<UInt64, any Sendable>
    private let known: MemoryCache<Key, Known>
    /// Serialises changes of the limit.
    private let limits = Mutex(())
    /// Guards the index. Metadata is also inserted under this lock, so that none is added for a response that is being
    /// removed.
    private let index = Mutex(Index())

    /// - Parameter onEvent: Receives evictions and memory pressure. Called on any thread, without a lock.
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
        memoryLimit == .max ? nil : max(0, memoryLimit ?? 0)
    }

    /// Returns the value for a key.
    ///
    /// - Parameter use: Receives the id of the entry in the store from which the value was made.
    func value(for key: Key, _ use: (_ entry: Int64) -> Void) -> Loaded<any Sendable>? {
        let now = clock()
        guard let facts = known.value(for: key, at: now)?.facts else { return nil }
        let resident = now.timeIntervalSince(facts.insertedAt)
        // A negative time means that the clock was set back: a miss.
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

    /// Returns the present epoch of a key of the store. A change of the entries of the key ends it.
    func epoch(of key: CacheKey) -> Epoch {
        index.withLock { $0.epochs[key] }
    }

    /// Keeps a value while it is fresh, unless its stored response changed since `epoch`.
    ///
    /// - Parameter mayBeChange: Whether the load of the value may have stored the entry itself.
    func insert(
        _ loaded: Loaded<any Sendable>, for key: Key, cost: Int, entry: StoredEntry, since epoch: Epoch,
        mayBeChange: Bool
    ) {
        let now = clock()
        guard let expiresAt = loaded.expiresAt, !loaded.isStale, loaded.failure == nil, expiresAt > now else { return }
        let number = index.withLock { index in
            index.isCurrent(entry, since: epoch, mayBeChange: mayBeChange) ? index.number() : nil
        }
        guard let number else { return }
        // Remove the former value even if the new one does not fit.
        forget(key)
        guard values.insert(loaded.value, for: number, cost: cost, expiresAt: expiresAt) else { return }
        let facts = Facts(number, loaded.with(()), entry: entry.id, insertedAt: now, expiresAt: expiresAt)
        let gone = index.withLock { index in
            guard index.isCurrent(entry, since: epoch, mayBeChange: mayBeChange) else { return [Known(facts: facts)] }
            index.insert(key, under: entry.key)
            let gone = known.insertSayingWhatGoes(Known(facts: facts), for: key, cost: 1)
            index.prune { known.contains($0) }
            return gone
        }
        // No lookup finds a value without metadata.
        for known in gone { values.remove(known.facts.number) }
    }

    private func forget(_ key: Key) {
        if let facts = known.take(key)?.facts { values.remove(facts.number) }
    }

    /// Removes the values made from responses that a change of the store replaced or removed. Values whose response was
    /// read before the change are not inserted afterwards.
    func note(_ change: StoreChange) {
        switch change {
        case .stored(let key, let id): forget(index.withLock { $0.change(key, stored: id) })
        case .removed(let key): forget(index.withLock { $0.change(key) })
        case .removedMany(nil): removeAll()
        case .removedMany(let partition?): forget(index.withLock { $0.changeAll(in: partition) })
        }
    }

    private func forget(_ keys: some Sequence<Key>) {
        for key in keys { forget(key) }
    }

    /// Evicts all values. A later lookup finds a value again if the program still holds it.
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
    /// Whether a fresh value in memory may answer.
    fileprivate var usesMemory: Bool {
        switch mode {
        case .http, .cacheFirst, .cacheOnly: !storesNothing
        case .revalidateAlways, .remoteOnly: false
        }
    }
}

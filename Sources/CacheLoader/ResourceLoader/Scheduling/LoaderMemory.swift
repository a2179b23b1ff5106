internal import ByteText
internal import CacheFoundation
internal import CacheStore

/// The values that a loader keeps in memory, with the metadata needed to serve them. Serves a value while the response
/// from which it was made is fresh and in the store. Finds it by the text of the URL: normalising a URL takes longer
/// than the lookup.
final class LoaderMemory: Sendable {
    /// The key of a value.
    struct Key: Hashable {
        private let hash: Int
        private let url: String
        private let name: String?
        private let headerFields: HTTPFields
        private let policy: CachePolicy.Override
        private let plan: ProcessingPlan.Identity
        /// Identifies the part of the configuration on which values depend.
        private let generation: UInt64

        /// Returns `nil` when memory is off, or must not answer because of the method, fields or policy. A static method,
        /// because an initialiser would get copies of request and plan.
        static func of(_ request: ResourceRequest, _ plan: ProcessingPlan, _ settings: LoaderSettings) -> Key? {
            guard request.usesMemory, request.method == .get, request.content == nil,
                settings.configuration.memoryLimit.map({ $0 > 0 }) ?? true
            else { return nil }
            // These fields demand more than a key can express.
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
                policy: request.policy, plan: plan.identity, generation: settings.valueGeneration)
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(hash)
        }

        /// Compares URLs and names byte by byte, as keys of the store. Swift compares strings by canonical equivalence.
        static func == (left: Key, right: Key) -> Bool {
            left.hash == right.hash && left.url.hasSameBytes(as: right.url)
                && (left.name ?? "").hasSameBytes(as: right.name ?? "")
                && (left.name == nil) == (right.name == nil) && left.headerFields == right.headerFields
                && left.policy == right.policy && left.plan == right.plan && left.generation == right.generation
        }

        /// The approximate size of the key in bytes.
        var byteCount: Int {
            headerFields.reduce(url.utf8.count + (name?.utf8.count ?? 0)) { $0 + $1.value.utf8.count + 64 }
        }

        private static let telling: Set<String> = [
            "cache-control", "pragma", "range", "if-range", "if-none-match", "if-modified-since", "if-match",
            "if-unmodified-since",
        ]
    }

    /// The metadata of a value. A class, so that a hit copies only the fields that it needs.
    private final class Facts: Sendable {
        let loaded: Loaded<Void>
        let entry: Int64
        /// The entries of the key in the store when the value was made.
        let version: KeyVersion
        let insertedAt: Date

        init(_ loaded: Loaded<Void>, entry: Int64, version: KeyVersion, insertedAt: Date) {
            self.loaded = loaded
            self.entry = entry
            self.version = version
            self.insertedAt = insertedAt
        }

        /// The approximate size of the metadata in bytes.
        var byteCount: Int {
            loaded.headerFields.reduce(version.byteCount + 256) {
                $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 64
            }
        }
    }

    /// A key with the metadata of its value. A lookup uses a key without metadata.
    private struct Slot: Hashable {
        let key: Key
        var facts: Facts?

        static func == (left: Slot, right: Slot) -> Bool { left.key == right.key }

        func hash(into hasher: inout Hasher) { hasher.combine(key) }
    }

    private let store: ResponseStore
    private let clock: @Sendable () -> Date
    private let values: MemoryCache<Slot, any Sendable>

    /// `onEvent` receives evictions and memory pressure, on any thread, without a lock.
    init(
        _ store: ResponseStore, _ configuration: ResourceLoader.Configuration,
        onEvent: @escaping @Sendable (MemoryEvent) -> Void
    ) {
        self.store = store
        clock = configuration.clock
        values = MemoryCache(
            costLimit: Self.costLimit(configuration.memoryLimit), stress: configuration.memoryStress,
            pressure: configuration.memoryPressure, clock: configuration.clock, onEvent: onEvent)
    }

    /// Calls `limit` under a lock.
    func setLimit(_ limit: () -> Int?) {
        values.setCostLimit { Self.costLimit(limit()) }
    }

    private static func costLimit(_ memoryLimit: Int?) -> Int? {
        // `Int.max` becomes no limit: under pressure a share of `Int.max` would free nothing, but a cache without a
        // limit keeps a share of its values.
        memoryLimit == .max ? nil : memoryLimit.map { max(0, $0) }
    }

    /// Records a use of the entry. Drops a value whose response is no longer in the store.
    func value(for key: Key) -> Loaded<any Sendable>? {
        let now = clock()
        guard let (slot, value) = values.use(Slot(key: key), at: now), let facts = slot.facts else { return nil }
        let resident = now.timeIntervalSince(facts.insertedAt)
        // A negative time means that the clock was set back: a miss.
        guard resident >= 0, let isCurrent = try? store.isCurrent(facts.version) else { return nil }
        guard isCurrent else {
            values.remove(slot)
            return nil
        }
        // The store evicts by last use and counts hits.
        store.touchEntry(facts.entry, as: .hit)
        var loaded = facts.loaded.with(value)
        loaded.source = .memory
        loaded.age = loaded.age.saturatingAdding(Int64(resident))
        return loaded
    }

    /// Keeps a value while it is fresh. `cost` is its size in bytes without its metadata. `version` has the entries of
    /// the key in the store when the value was made.
    func insert(_ loaded: Loaded<any Sendable>, for key: Key, cost: Int, entry: Int64, version: KeyVersion) {
        let now = clock()
        guard let expiresAt = loaded.expiresAt, !loaded.isStale, loaded.failure == nil, expiresAt > now else { return }
        let facts = Facts(loaded.with(()), entry: entry, version: version, insertedAt: now)
        let total = Int64(max(0, cost)).saturatingAdding(Int64(facts.byteCount + key.byteCount))
        values.insert(
            loaded.value, for: Slot(key: key, facts: facts), cost: Int(clamping: total), expiresAt: expiresAt)
    }

    /// Evicts all values. A later lookup finds a value again if the program still holds it.
    func evictAll() -> FreedMemory {
        values.evictAll()
    }

    @discardableResult
    func removeAll() -> FreedMemory {
        values.removeAll()
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

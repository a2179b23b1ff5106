internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Values in memory, up to a limit of what they cost; the one that was used longest ago goes first.
///
/// ```swift
/// let images = MemoryCache<URL, Image>(costLimit: 64 << 20, pressure: SystemMemoryPressure())
/// images.insert(image, for: url, cost: image.byteCount)
/// let image = images.value(for: url)
/// ```
///
/// To *evict* is to make room: by the limit, under memory pressure, by ``evictAll()``. A class instance that is evicted and
/// still held by somebody else is noted, and ``value(for:)`` finds it again. To *remove* is to forget: what is removed,
/// replaced or has expired is not found again.
///
/// May be used from any thread. A hit allocates nothing and calls the system for nothing but the time. Keys are compared
/// and hashed under a lock; values are released outside it.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Item = RecencyTable<Key, Value>.Item

    private let clock: @Sendable () -> Date
    private let onEvent: (@Sendable (MemoryEvent) -> Void)?

    /// Guards what the cache holds.
    private let state: Mutex<MemoryState<Key, Value>>

    /// Guards the observation, which is set once, when the cache is complete.
    private let observation = Mutex<MemoryPressureObservation?>(nil)

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - costLimit: See ``costLimit``.
    ///   - stress: How far the cache shrinks under memory pressure.
    ///   - pressure: Tells of memory pressure; `nil` for none. It is kept as long as the cache.
    ///   - clock: Tells the time. The system clock by default.
    public convenience init(
        costLimit: Int, stress: StressLimits = StressLimits(), pressure: (any MemoryPressureSource)? = nil,
        clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(costLimit: costLimit, stress: stress, pressure: pressure, clock: clock, onEvent: nil)
    }

    /// As the public form.
    ///
    /// - Parameter onEvent: Is told what happens to the values by itself, on any thread and without a lock.
    package init(
        costLimit: Int, stress: StressLimits, pressure: (any MemoryPressureSource)?,
        clock: @escaping @Sendable () -> Date, onEvent: (@Sendable (MemoryEvent) -> Void)?
    ) {
        self.clock = clock
        self.onEvent = onEvent
        state = Mutex(MemoryState(costLimit: Self.limit(costLimit), stress: stress))
        guard let pressure else { return }
        let observation = pressure.observe { [weak self] in _ = self?.respond(to: $0) }
        self.observation.withLock { $0 = observation }
    }

    // MARK: Limits

    /// What the values may cost together, in units of the caller's choice; 0 for no limit.
    ///
    /// A lower limit evicts at once. During memory pressure less may be in force; see ``StressLimits``.
    ///
    /// - Precondition: Not negative.
    public var costLimit: Int {
        get { state.withLock { $0.costLimit } ?? 0 }
        set {
            let (limit, now) = (Self.limit(newValue), clock())
            finish(state.withLock { $0.setCostLimit(limit, at: now) })
        }
    }

    private static func limit(_ costLimit: Int) -> Int? {
        precondition(costLimit >= 0, "a cost limit is not negative")
        return costLimit == 0 ? nil : costLimit
    }

    /// What the values cost together. What has expired counts until somebody asks for it.
    public var totalCost: Int { state.withLock { $0.table.totalCost } }

    /// How many values there are. What has expired counts until somebody asks for it.
    public var count: Int { state.withLock { $0.table.count } }

    // MARK: Values

    /// The value for `key`, and a use of it.
    ///
    /// An evicted class instance that somebody still holds is found too. It is then in the cache again, as far as the limit
    /// allows.
    public func value(for key: Key) -> Value? {
        value(for: key, at: clock())
    }

    /// As ``value(for:)``, for a caller who knows the time.
    package func value(for key: Key, at now: Date) -> Value? {
        let (value, removed) = state.withLock { $0.use(key, at: now) }
        finish(removed)
        return value
    }

    /// The value for `key`, without a use of it. Evicted values are not found.
    public func peek(_ key: Key) -> Value? {
        let now = clock()
        return state.withLock { $0.peek(key, at: now) }.value
    }

    /// Whether there is a value for `key`. Not a use of it. Evicted values are not found.
    public func contains(_ key: Key) -> Bool {
        peek(key) != nil
    }

    /// Keeps `value`, and evicts what was used longest ago to make room for it. Counts as a use.
    ///
    /// Takes the place of an older value for `key` in any case; its expiry goes with it.
    ///
    /// - Parameters:
    ///   - value: What is kept.
    ///   - key: What it is found by.
    ///   - cost: In the units of ``costLimit``. A value that costs more than the limit is not kept, and evicts nothing.
    ///   - expiresAt: From here on the value counts as gone; `nil` for never. A value that has expired is not kept.
    /// - Returns: Whether the value is kept.
    /// - Precondition: The cost is not negative.
    @discardableResult
    public func insert(_ value: Value, for key: Key, cost: Int, expiresAt: Date? = nil) -> Bool {
        precondition(cost >= 0, "a cost is not negative")
        let item = Item(key: key, value: value, cost: cost, expiresAt: expiresAt)
        let now = clock()
        let (isAdmitted, removed) = state.withLock { $0.insert(item, at: now) }
        finish(removed)
        return isAdmitted
    }

    /// As ``insert(_:for:cost:expiresAt:)``, for a caller who wants to know what has given way: the older value, and those that
    /// were evicted.
    package func insertSayingWhatGoes(_ value: Value, for key: Key, cost: Int) -> [Value] {
        let item = Item(key: key, value: value, cost: cost, expiresAt: nil)
        let now = clock()
        let removed = state.withLock { $0.insert(item, at: now).removed }
        let values = removed.map(\.value)
        finish(removed)
        return values
    }

    /// The key of the value that was used longest ago, and would be evicted next. Passes over what has expired.
    public var oldestKey: Key? {
        let now = clock()
        return state.withLock { $0.table.oldestKey(at: now) }
    }

    /// The key of the value that was used last. Passes over what has expired.
    public var newestKey: Key? {
        let now = clock()
        return state.withLock { $0.table.newestKey(at: now) }
    }

    // MARK: Removing

    /// Removes the value for `key`.
    ///
    /// - Returns: Whether there was one; `false` for one that was evicted or had expired.
    @discardableResult
    public func remove(_ key: Key) -> Bool {
        let now = clock()
        let removed = state.withLock { $0.remove(key) }
        return removed.map { !$0.hasExpired(at: now) } ?? false
    }

    /// As ``remove(_:)``. The value, even if it had expired; `nil` for one that was evicted.
    package func take(_ key: Key) -> Value? {
        state.withLock { $0.remove(key) }?.value
    }

    /// Removes everything. Evicted values are not found again either.
    @discardableResult
    public func removeAll() -> FreedMemory {
        finish(state.withLock { $0.removeAll() })
    }

    /// Removes the values for keys that `isRemoved` is true of. Evicted ones are not found again either.
    ///
    /// Looks at each key that is there when the call begins, outside the lock.
    @discardableResult
    public func removeAll(where isRemoved: (Key) -> Bool) -> FreedMemory {
        let keys = state.withLock { $0.keys }.filter(isRemoved)
        return finish(state.withLock { $0.remove(keys) })
    }

    /// Removes what has expired. Looks at every value.
    @discardableResult
    public func removeExpired() -> FreedMemory {
        let now = clock()
        return finish(state.withLock { $0.removeExpired(at: now) })
    }

    // MARK: Evicting

    /// Evicts everything, to free memory.
    @discardableResult
    public func evictAll() -> FreedMemory {
        finish(state.withLock { $0.evictAll() })
    }

    /// Removes what has expired, then evicts down to the stress limit of `pressure`, which is in force for a while; see
    /// ``StressLimits``.
    ///
    /// The cache does so by itself if it was given a source. Looks at every value.
    @discardableResult
    public func respond(to pressure: MemoryPressure) -> FreedMemory {
        let now = clock()
        let freed = finish(state.withLock { $0.respond(to: pressure, at: now) })
        onEvent?(.pressure(pressure, freed))
        return freed
    }

    /// Counts and releases what was taken out.
    @discardableResult
    private func finish(_ items: consuming [Item]) -> FreedMemory {
        guard !items.isEmpty else { return FreedMemory() }
        let freed = FreedMemory(count: items.count, cost: items.reduce(0) { $0 + $1.cost })
        items = []
        // Only now it shows who holds what was evicted. Released after the lock, as the others.
        let (_, evicted) = state.withLock { ($0.sweepReferences(), $0.takeEvicted()) }
        if evicted.count > 0 { onEvent?(.evicted(evicted)) }
        return freed
    }
}

// The folder `ResourceLoader/Memory/` has the values in memory: their order, their limits, and the system's memory
// pressure. The folder may read the memory pressure that the system reports. The folder knows no store, no response and
// no loader: `LoaderMemory` in `Scheduling/` compares values with their entries.

public import CacheFoundation
internal import Synchronization

/// A memory cache with a cost limit. Evicts the least recently used values first.
///
/// ```swift
/// let images = MemoryCache<URL, Image>(costLimit: 64 << 20, pressure: .system())
/// images.insert(image, for: url, cost: image.byteCount)
/// let image = images.value(for: url)
/// ```
///
/// *Evicting* makes room: to keep the limit, under memory pressure, or by ``evictAll()``. The cache keeps a weak
/// reference to an evicted class instance. ``value(for:)`` finds the instance while the program still holds it.
/// *Removing* is final: the cache does not find a removed, replaced or expired value again.
///
/// May be used from any thread. A hit allocates nothing and makes no system call, except to read the clock. The cache
/// compares and hashes keys under a lock, and releases values outside it.
public final class MemoryCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private typealias Item = RecencyTable<Key, Value>.Item

    private let clock: @Sendable () -> Date
    private let onEvent: (@Sendable (MemoryEvent) -> Void)?

    /// Guards the contents and limits of the cache.
    private let state: Mutex<MemoryState<Key, Value>>

    /// Guards the observation. The initialiser sets it once, when the cache is complete.
    private let observation = Mutex<MemoryPressureSource.Observation?>(nil)

    /// Creates an empty cache.
    ///
    /// - Parameters:
    ///   - costLimit: See ``costLimit``.
    ///   - stress: How far the cache shrinks under memory pressure.
    ///   - pressure: The source of memory pressure, or `nil` for none. The cache retains it.
    ///   - clock: Returns the current time. The system clock by default.
    public convenience init(
        costLimit: Int?, stress: StressLimits = StressLimits(), pressure: MemoryPressureSource? = nil,
        clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(costLimit: costLimit, stress: stress, pressure: pressure, clock: clock, onEvent: nil)
    }

    /// `onEvent` receives evictions and memory pressure, on any thread, without a lock.
    init(
        costLimit: Int?, stress: StressLimits, pressure: MemoryPressureSource?,
        clock: @escaping @Sendable () -> Date, onEvent: (@Sendable (MemoryEvent) -> Void)?
    ) {
        self.clock = clock
        self.onEvent = onEvent
        state = Mutex(MemoryState(costLimit: Self.checked(costLimit), stress: stress))
        guard let pressure else { return }
        let observation = pressure.observe { [weak self] in _ = self?.respond(to: $0) }
        self.observation.withLock { $0 = observation }
    }

    // MARK: Limits

    /// The highest total cost of the values, in units of the caller's choice, or `nil` for no limit. 0 keeps only
    /// values that cost nothing.
    ///
    /// Lowering the limit evicts immediately. During memory pressure a lower limit may be in force; see
    /// ``StressLimits``.
    ///
    /// - Precondition: The limit is not negative.
    public var costLimit: Int? {
        get { state.withLock { $0.costLimit } }
        set { setCostLimit { newValue } }
    }

    /// Sets the limit that `limit` returns. Calls `limit` under the lock, so that of two concurrent changes the one
    /// that reads later stays.
    func setCostLimit(_ limit: () -> Int?) {
        let now = clock()
        finish(state.withLock { $0.setCostLimit(Self.checked(limit()), at: now) })
    }

    private static func checked(_ costLimit: Int?) -> Int? {
        precondition(costLimit ?? 0 >= 0, "a cost limit is not negative")
        return costLimit
    }

    /// The total cost of the values. An expired value counts until a lookup finds it expired.
    public var totalCost: Int { state.withLock { $0.table.totalCost } }

    /// The number of values. An expired value counts until a lookup finds it expired.
    public var count: Int { state.withLock { $0.table.count } }

    // MARK: Values

    /// Returns the value for `key`, and records its use.
    ///
    /// Also finds an evicted class instance that the program still holds, and inserts it again if the limit allows.
    public func value(for key: Key) -> Value? {
        use(key, at: clock())?.value
    }

    /// Like ``value(for:)``, for a caller that has read the clock. Also returns the inserted key, which equals `key`.
    func use(_ key: Key, at now: Date) -> (key: Key, value: Value)? {
        let (found, removed) = state.withLock { $0.use(key, at: now) }
        finish(removed)
        return found
    }

    /// Returns the value for `key` without recording a use. Does not find evicted values.
    public func peek(_ key: Key) -> Value? {
        let now = clock()
        return state.withLock { $0.peek(key, at: now) }.value
    }

    /// Returns whether there is a value for `key`, without recording a use. Does not find evicted values.
    public func contains(_ key: Key) -> Bool {
        peek(key) != nil
    }

    /// Inserts `value` as the most recently used one. Evicts the least recently used values to make room.
    ///
    /// Always replaces an older value for `key` and its expiry date, even if `value` is not kept.
    ///
    /// - Parameters:
    ///   - value: The value to keep.
    ///   - key: The key of the value.
    ///   - cost: The cost in units of ``costLimit``. A value that costs more than the limit is not kept, and evicts
    ///     nothing.
    ///   - expiresAt: The date from which the value is expired, or `nil` for never. An expired value is not kept.
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

    /// The key of the least recently used value, the next to evict. Skips expired values.
    public var oldestKey: Key? {
        let now = clock()
        return state.withLock { $0.table.oldestKey(at: now) }
    }

    /// The key of the most recently used value. Skips expired values.
    public var newestKey: Key? {
        let now = clock()
        return state.withLock { $0.table.newestKey(at: now) }
    }

    // MARK: Removing

    /// Removes the value for `key`.
    ///
    /// - Returns: Whether there was a value; `false` for an evicted or expired one.
    @discardableResult
    public func remove(_ key: Key) -> Bool {
        let now = clock()
        let removed = state.withLock { $0.remove(key) }
        return removed.map { !$0.hasExpired(at: now) } ?? false
    }

    /// Removes all values. Evicted values are not found again either.
    @discardableResult
    public func removeAll() -> FreedMemory {
        finish(state.withLock { $0.removeAll() })
    }

    /// Removes the values whose keys satisfy `isRemoved`. Evicted values with such keys are not found again either.
    ///
    /// Calls `isRemoved` outside the lock, with each key that exists when the call begins.
    @discardableResult
    public func removeAll(where isRemoved: (Key) -> Bool) -> FreedMemory {
        let keys = state.withLock { $0.keys }.filter(isRemoved)
        return finish(state.withLock { $0.remove(keys) })
    }

    /// Removes expired values. Examines every value.
    @discardableResult
    public func removeExpired() -> FreedMemory {
        let now = clock()
        return finish(state.withLock { $0.removeExpired(at: now) })
    }

    // MARK: Evicting

    /// Evicts all values, to free memory.
    @discardableResult
    public func evictAll() -> FreedMemory {
        finish(state.withLock { $0.evictAll() })
    }

    /// Removes expired values, then evicts down to the stress limit of `pressure`.
    ///
    /// The limit stays in force for a while; see ``StressLimits``. A cache with a source of memory pressure calls this
    /// method itself. Examines every value.
    @discardableResult
    public func respond(to pressure: MemoryPressure) -> FreedMemory {
        let now = clock()
        let freed = finish(state.withLock { $0.respond(to: pressure, at: now) })
        onEvent?(.pressure(pressure, freed))
        return freed
    }

    /// Counts and releases removed items.
    @discardableResult
    private func finish(_ items: consuming [Item]) -> FreedMemory {
        guard !items.isEmpty else { return FreedMemory() }
        let freed = FreedMemory(count: items.count, cost: items.reduce(0) { $0 + $1.cost })
        let keys = items.map(\.key)
        items = []
        // Only this release shows which evicted objects the program still holds. The sweep retains live objects, which
        // are then also released outside the lock.
        let (_, evicted) = state.withLock { ($0.sweepReferences(of: keys), $0.takeEvicted()) }
        if evicted.count > 0 { onEvent?(.evicted(evicted)) }
        return freed
    }
}

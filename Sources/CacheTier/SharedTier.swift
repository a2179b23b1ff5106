internal import CacheFoundation
internal import CacheLoader
internal import CacheStore
internal import CoreMetrics
internal import Crypto
internal import Synchronization

/// A cache on a server, which the stores of many machines share.
///
/// ```swift
/// var connections = DefaultTransport.Configuration()
/// connections.connectionsPerHost = 32
/// let engine = try PlainEngine(
///     "https://tier.example/feeds", transport: DefaultTransport(configuration: connections))
/// let tier = SharedTier(engine: engine, keys: keys)
/// let cache = HTTPCache(store: store, transport: TieredTransport(tier: tier, origin: DefaultTransport()))
/// ```
///
/// Safe to use from any task. Create one tier for each engine and partition and keep it: it contains the breaker,
/// the known removals and the pending writes.
public final class SharedTier: Sendable {
    static let start = ContinuousClock.now

    let engine: any TierEngine
    let keys: TierKeys
    let layout: TierLayout
    let configuration: Configuration
    let writes: WriteBehind
    /// The metrics, or `nil` without a handler.
    let meters: TierMeters?

    struct State {
        var statistics = TierStatistics()
        var breaker = CircuitBreaker()
        /// The known removals of hosts, tags and everything.
        var scopes = KnownScopes()
        /// The objects of URLs, with the uptimes before their reads.
        var keys = BoundedDictionary<String, (object: KeyObject, uptime: Duration)>(capacity: 10_000)
        /// The removals by this process, by the names of their objects.
        var ownRemovals = BoundedDictionary<String, OwnRemoval>(capacity: 20_000)
        /// The removals that the engine has not accepted yet.
        var pendingRemovals: Set<Removal> = []
        /// Records whose bodies this process could not complete: their times of writing, by name. A dropped record
        /// costs one more attempt.
        var refused = BoundedDictionary<String, Int64>(capacity: 1000)
        /// The last stated time of the tier, and the uptime of its arrival.
        var time: (date: HTTPDate, uptime: Duration)?
    }

    /// Guards the counts, the breaker and the known removals. No request and no other lock under it.
    let state: Mutex<State>

    /// Creates a tier. Sends no request.
    ///
    /// - Parameters:
    ///   - engine: The server with the objects: a ``PlainEngine``, an ``S3Engine`` or one of your own.
    ///   - keys: The keys of names and records.
    ///   - configuration: Additional settings.
    public init(engine: any TierEngine, keys: TierKeys, configuration: Configuration = Configuration()) {
        self.engine = engine
        self.keys = keys
        self.configuration = configuration
        layout = TierLayout(names: keys.names, partition: configuration.partition)
        writes = WriteBehind(byteLimit: configuration.maxPendingBytes, width: configuration.writers)
        state = Mutex(State())
        meters = TierMeters(configuration.metrics ?? MetricsSystem.factory, name: configuration.name)
    }

    deinit {
        if isBreakerOpen { meters?.breakerChanged(isOpen: false) }
    }

    /// The current counts.
    public var statistics: TierStatistics { state.withLock { $0.statistics } }

    /// Whether the breaker is open: requests go to the origin without asking the engine.
    public var isBreakerOpen: Bool { state.withLock { $0.breaker.isOpen } }

    /// Whether the keys permit writing.
    public var canWrite: Bool { keys.canWrite }

    /// The longest wait for the head of a response.
    public var deadline: Duration { configuration.deadline ?? engine.deadline }

    /// The number of removals by unsafe requests that the engine has not accepted yet.
    ///
    /// Until then, this process neither answers with the removed responses nor writes older ones. It repeats the write
    /// after pauses of 1 to 30 seconds.
    public var pendingRemovalCount: Int { state.withLock { $0.pendingRemovals.count } }

    /// Returns when all writes that are now waiting have ended. Call this before the process ends.
    ///
    /// Does not wait for repetitions of failed removals: see ``pendingRemovalCount``.
    ///
    /// - Parameter limit: The longest wait; 5 seconds by default. Then drops the waiting writes, except removals, and
    ///   counts the dropped ones as ``TierStatistics/droppedWrites``.
    public func waitForWrites(within limit: Duration = .seconds(5)) async {
        let isDone: Void? = await withTimeLimit(limit, configuration.sleep) { [writes] in await writes.drain() }
        guard isDone == nil else { return }
        let dropped = writes.dropWaiting()
        count { $0.droppedWrites += dropped }
    }
}

extension SharedTier: CustomReflectable {
    /// A mirror without children, because some of them contain secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

internal import CacheFoundation
internal import CacheLoader
internal import CacheStore
internal import CoreMetrics
internal import Crypto
internal import HTTPCaching
internal import HTTPTypes
internal import Synchronization

/// A cache on an HTTP server, which the stores of many machines share.
///
/// ```swift
/// var connections = DefaultTransport.Configuration()
/// connections.connectionsPerHost = 32
/// let engine = try TierEngine.plain(
///     "https://tier.example/feeds", transport: DefaultTransport(configuration: connections))
/// let tier = SharedTier(engine: engine, keys: keys)
/// let cache = HTTPCache(store: store, transport: TieredTransport(tier: tier, origin: DefaultTransport()))
/// ```
///
/// Safe to use from any task. Create one tier for each engine and partition and keep it: it contains the measurements,
/// the breaker and the pending writes.
public final class SharedTier: Sendable {
    static let start = ContinuousClock.now

    let engine: TierEngine
    let keys: TierKeys
    let layout: TierLayout
    let configuration: Configuration
    let writes: WriteBehind
    /// The metrics, or `nil` without a handler.
    let meters: TierMeters?

    struct State {
        var statistics = TierStatistics()
        var breaker = CircuitBreaker()
        /// Suspends hits with separate body objects. One body that did not arrive in time opens this breaker.
        var bodyBreaker = CircuitBreaker(threshold: 1)
        var plan = HedgingPlan()
        var epochs: EpochTable
        /// The running reads of epochs.
        var epochReads: [String: EpochRead] = [:]
        /// The running writes of epochs that the engine lacks.
        var epochWrites: [String: Task<Void, Never>] = [:]
        /// Whether the engine has turned out not to support conditional writes.
        var lacksConditions = false
        /// Whether a write has already tested that.
        var hasCheckedCondition = false
        /// Responses that need no lease: the uptimes of their notes, by the names of the leases. A dropped note costs
        /// one more lease.
        var leaseNotes = BoundedDictionary<String, Duration>(capacity: 1000)
        /// The uptimes of unsafe requests by epoch, in a process that cannot write.
        var ownRemovals: [String: Duration] = [:]
        /// Records whose bodies this process could not complete: their times of writing, by name. A dropped record
        /// costs one more attempt.
        var refused = BoundedDictionary<String, Int64>(capacity: 1000)
        /// The last stated time of the tier, and the uptime of its arrival.
        var time: (date: HTTPDate, uptime: Duration)?
    }

    /// Guards the counts, the measurements and the known epochs.
    let state: Mutex<State>

    /// Creates a tier. Sends no request.
    ///
    /// - Parameters:
    ///   - engine: The server with the objects.
    ///   - keys: The keys of names and records.
    ///   - configuration: Additional settings.
    public init(engine: TierEngine, keys: TierKeys, configuration: Configuration = Configuration()) {
        self.engine = engine
        self.keys = keys
        var configuration = configuration
        // A lease of one second could be over when it is taken.
        configuration.leaseLifetime = max(configuration.leaseLifetime, .seconds(2))
        self.configuration = configuration
        layout = TierLayout(names: keys.names, partition: configuration.partition)
        writes = WriteBehind(byteLimit: configuration.maxPendingBytes, jobLimit: 1000)
        state = Mutex(State(epochs: EpochTable(lifetime: configuration.epochLifetime)))
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

    /// The number of removals by unsafe requests that the engine has not accepted yet.
    ///
    /// Until then, this process neither answers with the removed responses nor writes new ones. It repeats the write
    /// after pauses of 1 to 30 seconds.
    public var pendingRemovalCount: Int { state.withLock { $0.epochs.pendingCount } }

    /// Returns when all writes that are now waiting have ended. Call this before the process ends.
    ///
    /// Does not wait for repetitions of failed removals: see ``pendingRemovalCount``.
    public func waitForWrites() async {
        await writes.drain()
    }
}

extension SharedTier: CustomReflectable {
    /// A mirror without children, because some of them contain secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

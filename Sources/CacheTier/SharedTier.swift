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
/// Safe to use from any task. Create one for each engine and partition, and keep it: it owns the measurements, the
/// breaker and the writes that wait.
public final class SharedTier: Sendable {
    static let start = ContinuousClock.now

    let engine: TierEngine
    let keys: TierKeys
    let layout: TierLayout
    let configuration: Configuration
    let writes: WriteBehind
    /// `nil` without a handler of metrics.
    let meters: TierMeters?

    struct State {
        var statistics = TierStatistics()
        var breaker = CircuitBreaker()
        /// Suspends hits with bodies of their own: each body that did not arrive in time opens this one.
        var bodyBreaker = CircuitBreaker(threshold: 1)
        var plan = HedgingPlan()
        var epochs: EpochTable
        /// The reads of epochs that run.
        var epochReads: [String: EpochRead] = [:]
        /// The writes of epochs that the engine lacks, while they run.
        var epochWrites: [String: Task<Void, Never>] = [:]
        /// Whether the engine has shown that it has no conditional writes.
        var lacksConditions = false
        /// Whether a write has tried to find that out.
        var hasCheckedCondition = false
        /// The responses that are not worth a lease: the uptimes of their notes, by the names of the leases. A dropped note
        /// costs one more lease.
        var leaseNotes = BoundedDictionary<String, Duration>(capacity: 1000)
        /// The uptimes of unsafe requests, by epoch, of a process that cannot write.
        var ownRemovals: [String: Duration] = [:]
        /// The records whose bodies this process could not complete: their times of writing, by name. A dropped record costs
        /// one more attempt.
        var refused = BoundedDictionary<String, Int64>(capacity: 1000)
        /// The tier's time as last stated, and the uptime of its arrival.
        var time: (date: HTTPDate, uptime: Duration)?
    }

    /// Guards the counts, the measurements and the known epochs.
    let state: Mutex<State>

    /// Creates a tier; sends no request.
    ///
    /// - Parameters:
    ///   - engine: The server with the objects.
    ///   - keys: The keys of names and records.
    ///   - configuration: Further settings.
    public init(engine: TierEngine, keys: TierKeys, configuration: Configuration = Configuration()) {
        self.engine = engine
        self.keys = keys
        var configuration = configuration
        // A lease of a second could be over when it is taken.
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

    /// The counts until now.
    public var statistics: TierStatistics { state.withLock { $0.statistics } }

    /// Whether the breaker is open: requests go to the origin without asking the engine.
    public var isBreakerOpen: Bool { state.withLock { $0.breaker.isOpen } }

    /// Whether the keys permit writing.
    public var canWrite: Bool { keys.canWrite }

    /// The number of removals by unsafe requests that the engine has not taken yet.
    ///
    /// This process neither answers with the removed responses nor writes new ones. It repeats the write with pauses of
    /// 1 to 30 seconds.
    public var pendingRemovalCount: Int { state.withLock { $0.epochs.pendingCount } }

    /// Returns once all writes that wait now have ended. Call this before the process ends.
    ///
    /// Does not wait for the repetition of removals that have failed: see ``pendingRemovalCount``.
    public func waitForWrites() async {
        await writes.drain()
    }
}

extension SharedTier: CustomReflectable {
    /// A mirror without children: some of them hold secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

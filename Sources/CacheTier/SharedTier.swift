public import CacheLoader
public import CoreMetrics
internal import Crypto
public import HTTPCaching
internal import HTTPTypes
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cache on an HTTP server, which the stores of many machines share.
///
/// ```swift
/// let engine = try TierEngine.plain("https://tier.example/feeds", transport: DefaultTransport())
/// let tier = SharedTier(engine: engine, keys: keys)
/// let cache = HTTPCache(store: store, transport: TieredTransport(tier: tier, origin: DefaultTransport()))
/// ```
///
/// Safe to use from any task. Create one for each engine and partition, and keep it: it owns the measurements, the
/// breaker and the writes that wait.
public final class SharedTier: Sendable {
    /// The configuration of a tier.
    public struct Configuration: Sendable {
        /// The name in `Cache-Status`; `tier` by default.
        public var name = "tier"
        /// A part of every key, such as a tenant; empty by default. Machines with another partition find nothing.
        public var partition = ""
        /// The rules for storing and answering; those of a shared cache by default.
        ///
        /// For a partition of one user, a private policy also stores responses with `private` and to requests with
        /// `Authorization`.
        public var policy = CachePolicy.shared
        /// The longest wait for the head of a response; 50 milliseconds by default.
        public var deadline: Duration = .milliseconds(50)
        /// The longest wait for the next 64 KiB of a body; 1 second by default. Then the rest comes from the origin.
        ///
        /// For the whole body, the waits take at most a further second for each MiB.
        public var bodyDeadline: Duration = .seconds(1)
        /// The longest time for one write; 10 seconds by default.
        public var writeDeadline: Duration = .seconds(10)
        /// The time after a removal during which other machines may still answer with removed responses; 5 seconds by
        /// default.
        public var epochLifetime: Duration = .seconds(5)
        /// The longest body to write; 8 MiB by default.
        public var maxBodyBytes = 8 << 20
        /// The most bytes of bodies that arrive or wait for their writing; 32 MiB by default.
        public var maxPendingBytes = 32 << 20
        /// Returns the current time, for signatures until the engine has told its own. The system clock by default.
        public var clock: @Sendable () -> Date = { Date() }
        /// Pauses the calling task, for the deadlines. `Task.sleep(for:)` by default.
        public var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        /// Receives a step for each request to the tier; none by default.
        public var observer: (any RequestObserver)? = nil
        /// The factory for metrics. With `nil`, the default, the tier uses the factory with which swift-metrics is
        /// bootstrapped when the tier is created. A later change has no effect.
        public var metrics: (any MetricsFactory)? = nil
        /// Returns a time that only advances.
        package var uptime: @Sendable () -> Duration = { ContinuousClock.now - SharedTier.start }

        /// Creates the default configuration.
        public init() {}
    }

    private static let start = ContinuousClock.now

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
        /// The uptimes of unsafe requests, by epoch, of a process that cannot write. At most one for each group of URLs.
        var ownRemovals: [String: Duration] = [:]
        /// The records with bodies that this process has refused.
        var refused = RefusedRecords()
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

    /// Removes responses from the tier: writes another epoch for the scope.
    ///
    /// Machines with a later read of the epoch no longer find the responses; the others follow within
    /// ``Configuration/epochLifetime``. A response that a machine requested before the removal never becomes visible
    /// after it. The stores of the machines keep their own responses. The engine's retention deletes the objects.
    ///
    /// - Parameter scope: The responses to remove.
    /// - Throws: ``TierError/readOnly``, or ``TierError/engine(_:)`` if the removal could not be recorded.
    public func removeAll(in scope: TierScope) async throws(TierError) {
        let name = layout.epoch(scope)
        guard keys.canWrite, let (value, object) = newEpoch(name) else { throw .readOnly }
        let start = configuration.uptime()
        try await put(object, as: name)
        let end = configuration.uptime()
        state.withLock { $0.epochs.wrote(value, to: name, from: start, to: end) }
    }

    /// Writes, reads and deletes an object, to show that address, credentials and permissions fit.
    ///
    /// - Throws: ``TierError/engine(_:)`` with the answer of the engine; ``TierError/readOnly`` for keys that cannot
    ///   write.
    public func check() async throws(TierError) {
        guard keys.canWrite else { throw .readOnly }
        let value = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0) }
        let name = "\(TierLayout.version)/cas/\(SHA256.hash(data: value).hexadecimal)"
        try await put(value, as: name)
        let read = await get(name, limit: 64)
        guard case .found(let object) = read, object.bytes == value else {
            throw .engine("the object that was written could not be read: \(read.summary)")
        }
        let answer: TransportResponse
        do throws(TransportError) {
            answer = try await engine.send(.delete, name, now: signingTime)
        } catch {
            throw .engine("\(error)")
        }
        guard answer.head.status.kind == .successful else { throw .engine("DELETE \(answer.head.status)") }
    }
}

extension SharedTier: CustomReflectable {
    /// A mirror without children: some of them hold secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Objects

extension SharedTier {
    /// An object in memory, with the tier's times.
    struct Object: Sendable {
        let bytes: Data
        let stamp: Stamp
    }

    /// The tier's present time, and its time of an object.
    struct Stamp: Sendable {
        let now: HTTPDate
        let lastModified: HTTPDate
        /// The seconds that the object has spent in a cache in front of the engine.
        let age: Int64
    }

    enum Answer<Found: Sendable>: Sendable {
        case found(Found)
        case absent
        case failed(String)

        /// A text for people.
        var summary: String {
            switch self {
            case .found: "found"
            case .absent: "absent"
            case .failed(let reason): reason
            }
        }
    }

    /// The time of signatures: the tier's own, as far as known.
    var signingTime: HTTPDate { tierTime ?? HTTPDate(configuration.clock()) }

    /// The tier's present time, at most; `nil` before its first response.
    var tierTime: HTTPDate? {
        let uptime = configuration.uptime()
        return state.withLock { state in
            state.time.map { $0.date.advanced(by: (uptime - $0.uptime).components.seconds) }
        }
    }

    /// Requests an object. A found body has not arrived yet.
    func open(_ name: String, fields: HTTPFields = [:]) async -> Answer<(body: TransportBody, stamp: Stamp)> {
        let response: TransportResponse
        do throws(TransportError) {
            response = try await engine.send(.get, name, fields: fields, now: signingTime)
        } catch {
            return .failed("\(error)")
        }
        let fields = response.head.headerFields
        let now = note(fields)
        switch response.head.status.code {
        case 200:
            guard let now, let lastModified = fields.date(.lastModified, now: now) else {
                return .failed("GET without Date or Last-Modified")
            }
            return .found((response.body, Stamp(now: now, lastModified: lastModified, age: fields.age)))
        case 404, 410:
            _ = try? await response.body.next()
            return .absent
        default:
            return .failed("GET \(response.head.status)")
        }
    }

    /// Requests a whole object of at most `limit` bytes.
    func get(_ name: String, limit: Int, fields: HTTPFields = [:]) async -> Answer<Object> {
        switch await open(name, fields: fields) {
        case .absent: return .absent
        case .failed(let reason): return .failed(reason)
        case .found(let (body, stamp)):
            var bytes = Data()
            do throws(TransportError) {
                while let chunk = try await body.next() {
                    bytes += chunk
                    guard bytes.count <= limit else { break }
                }
            } catch {
                return .failed("\(error)")
            }
            return .found(Object(bytes: bytes, stamp: stamp))
        }
    }

    /// The reason why the engine did not take an object.
    struct WriteFailure: Error {
        let reason: String
        /// Whether the engine has answered. An engine without room can still be read.
        let isRefusal: Bool
    }

    /// Writes an object.
    func put(_ object: Data, as name: String) async throws(TierError) {
        do throws(WriteFailure) {
            try await write(object, as: name)
        } catch {
            throw .engine(error.reason)
        }
    }

    /// Writes an object.
    func write(_ object: Data, as name: String) async throws(WriteFailure) {
        let result = await withDeadline(configuration.writeDeadline, configuration.sleep) {
            [self] () -> Result<Void, WriteFailure> in
            do throws(TransportError) {
                let response = try await engine.send(.put, name, content: object, now: signingTime)
                _ = note(response.head.headerFields)
                _ = try? await response.body.next()
                guard response.head.status.kind != .successful else { return .success(()) }
                return .failure(WriteFailure(reason: "PUT \(response.head.status)", isRefusal: true))
            } catch {
                return .failure(WriteFailure(reason: "\(error)", isRefusal: false))
            }
        }
        guard let result else { throw WriteFailure(reason: "PUT took too long", isRefusal: false) }
        try result.get()
    }

    /// Records the tier's time; `nil` if the fields do not state it.
    private func note(_ fields: HTTPFields) -> HTTPDate? {
        let reference = HTTPDate(configuration.clock())
        guard let date = fields.date(.date, now: reference) else { return nil }
        // A cache in front of the engine repeats an older Date, and states its age.
        let now = date.advanced(by: fields.age)
        let uptime = configuration.uptime()
        state.withLock { $0.time = (now, uptime) }
        return now
    }
}

extension HTTPFields {
    /// The seconds in `Age`; 0 without the field.
    var age: Int64 { Swift.max(0, self[.age].flatMap { Int64($0) } ?? 0) }

    /// The first field with this name as a date.
    func date(_ name: HTTPField.Name, now: HTTPDate) -> HTTPDate? {
        first { $0.name == name }.flatMap { HTTPDate($0, now: now) }
    }
}

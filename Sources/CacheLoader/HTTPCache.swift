public import CacheStore
public import CoreMetrics
public import HTTPCaching
public import HTTPTypes
public import Logging
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A cache between a client and its origins, as RFC 9111 describes it: a request in, a response out.
///
/// Any method, any status. GET is answered from the store while the stored response is fresh, validated when it is not, and
/// fetched and stored when there is none; HEAD is answered from a stored GET; everything else goes to the origin, and what
/// it changed there is forgotten here. Bodies stream through while they are stored.
///
/// ```swift
/// let cache = HTTPCache(store: store, transport: URLSessionTransport())
/// let response = try await cache.response(
///     for: HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/feed.json"))
/// for try await chunk in response.body { … }
/// ```
///
/// May be used from any task. A failing store fails no request that the origin answers.
public final class HTTPCache: Sendable {
    /// How a cache behaves.
    public struct Configuration: Sendable {
        /// What may be answered from the store, and for how long; RFC 9111 for a private cache by default.
        public var policy: CachePolicy = CachePolicy()
        /// Part of every key: user, tenant or site; none by default.
        public var partition: String = ""
        /// Bodies of more bytes end in ``LoadError/bodyTooLarge(url:limit:)``; 1 GiB by default.
        ///
        /// Counts what was taken from the transport. ``URLSessionTransport`` on Linux takes in more while nobody reads.
        public var maxBodyBytes: Int64 = 1 << 30
        /// How many bytes of a body that nobody reads any more are taken all the same, so that it can be stored whole; 64 KiB
        /// by default. It must be known that there are no more: a response that does not tell its length is stopped, unless
        /// this is `Int64.max`.
        public var abandonedBytes: Int64 = 65_536
        /// How responses tell what the cache did (RFC 9211); `nil` for not at all.
        public var cacheStatus: CacheStatusOptions? = CacheStatusOptions()
        /// Whether `Clear-Site-Data: "cache"` from a secure origin removes what is stored of it. Off by default: it lets an
        /// origin empty the cache.
        public var clearsSiteData = false
        /// Tells the time. The system clock by default.
        public var clock: @Sendable () -> Date = { Date() }
        /// Pauses the calling task, until that is cancelled. The system's by default.
        public var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        /// Is told what ``logOptions`` say. Silent by default.
        public var logger: Logger = Logger(label: "CacheLoader") { _ in SwiftLogNoOpLogHandler() }
        /// What the logger is told of: errors by default.
        public var logOptions: LogOptions = .errors
        /// Where metrics go. `nil`, the default, for what swift-metrics is bootstrapped with when the cache is made. A later
        /// change has no effect.
        public var metrics: (any MetricsFactory)? = nil

        /// The defaults.
        public init() {}
    }

    /// Where responses are kept.
    public var store: ResponseStore { context.store }

    private let context: CacheContext
    var meters: CacheMeters { context.meters }
    private let flights = CollapsedFlights()

    /// Guards the configuration.
    private let current: Mutex<Configuration>

    /// Creates a cache that keeps responses in `store` and asks origins through `transport`.
    public init(store: ResponseStore, transport: any HTTPTransport, configuration: Configuration = Configuration()) {
        let meters = CacheMeters(configuration.metrics ?? MetricsSystem.factory)
        context = CacheContext(store: store, transport: transport, meters: meters)
        current = Mutex(configuration)
    }

    deinit {
        meters.activity.finish()
    }

    /// How the cache behaves. A change affects requests that begin afterwards.
    public var configuration: Configuration {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Answers a request from the store or from its origin.
    ///
    /// Requests for one URL that come while another for it is on its way wait for the head of its response, and share it as
    /// far as RFC 9111 allows.
    ///
    /// When the origin cannot be reached, and nothing stored may stand in, the answer is a 502 or, after a timeout, when a
    /// stored response must be validated, or when the request forbids the network, a 504, with ``CachedResponse/failure``
    /// set.
    ///
    /// - Parameters:
    ///   - request: The head, with scheme, authority and path.
    ///   - content: The content of the request, if it has any. It streams to the origin.
    ///   - policy: Takes the place of the configured one for this request.
    /// - Throws: ``LoadError/invalidURL(_:reason:)`` and ``LoadError/cancelled``. While the body is read,
    ///   ``LoadError/transport(_:url:)`` and ``LoadError/bodyTooLarge(url:limit:)`` too.
    public func response(
        for request: HTTPRequest, content: RequestContent? = nil, policy: CachePolicy? = nil
    ) async throws(LoadError) -> CachedResponse {
        let transaction = try transaction(for: request, content: content, policy: policy)
        do {
            return try await answer(transaction)
        } catch {
            return try transaction.generated(for: error)
        }
    }

    /// Answers a request from the store alone; `nil` if that takes the network.
    ///
    /// As ``response(for:content:policy:)`` does first. Runs on the calling thread and waits for nobody: a lookup and the
    /// opening of a file.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``.
    public func storedResponse(
        for request: HTTPRequest, policy: CachePolicy? = nil
    ) throws(LoadError) -> CachedResponse? {
        let transaction = try transaction(for: request, content: nil, policy: policy)
        do {
            return try transaction.answerFromStore()
        } catch {
            return try transaction.generated(for: error)
        }
    }

    /// Whether anything is being validated in the background.
    package var isRevalidating: Bool { context.revalidations.isRunning }

    func transaction(
        for request: HTTPRequest, content: RequestContent?, policy: CachePolicy?
    ) throws(LoadError) -> CacheTransaction {
        let configuration = configuration
        let key = try CacheKey.loading(request, partition: configuration.partition)
        var request = request
        request.setTarget(to: key)
        return CacheTransaction(
            request, content: content, key: key, context: context, configuration: configuration, policy: policy)
    }

    private func answer(_ transaction: CacheTransaction) async throws(LoadError) -> CachedResponse {
        let landings = flights.landings
        switch try transaction.begin() {
        case .answered(let response): return response
        case .forwarded(let forwarding):
            guard transaction.mayShare(forwarding) else { return try await transaction.forward(forwarding) }
            return try await share(transaction, forwarding, since: landings)
        }
    }

    /// - Parameter landings: Those before what to ask was decided.
    private func share(
        _ transaction: CacheTransaction, _ forwarding: CacheTransaction.Forwarding, since landings: UInt64
    ) async throws(LoadError) -> CachedResponse {
        let key = CollapsedFlights.Key(key: transaction.key, policy: transaction.policy)
        let landing = await flights.join(key) { [flights] () async throws(LoadError) in
            // What another flight has brought since the decision may answer.
            let beginning = flights.landings == landings ? .forwarded(forwarding) : try transaction.begin()
            return try await Self.finish(beginning, transaction)
        }
        switch landing {
        case .answered(let response): return response
        case .failed(let error): return try transaction.serveStale(for: error, forwarding)
        case .decideAgain(let response):
            if let failure = response.failure {
                // What has failed for one has failed for all. But of an error status nothing is at hand to pass on.
                do throws(LoadError) {
                    return try transaction.serveStale(for: failure, forwarding)
                } catch {
                    if case .transport = error { throw error }
                }
            }
            // As long as the response of the flight is held, there is something to join.
            let beginning = try withExtendedLifetime(response) { () throws(LoadError) in try transaction.begin() }
            return try await Self.finish(beginning, transaction)
        }
    }

    private static func finish(
        _ beginning: CacheTransaction.Beginning, _ transaction: CacheTransaction
    ) async throws(LoadError) -> CachedResponse {
        switch beginning {
        case .answered(let response): return response
        case .forwarded(let forwarding): return try await transaction.forward(forwarding)
        }
    }
}

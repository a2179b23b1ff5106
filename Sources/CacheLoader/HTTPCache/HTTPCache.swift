// The folder `HTTPCache/` has the cache. A `CacheTransaction` carries one request through the cache, with a file for
// each step. The module `HTTPCaching` decides about reuse and about storing; the folder acts on the decisions. The
// folder may use the store, the transport and the observation of requests. The folder has no lanes and no retry policy,
// and names no type of `ResourceLoader/` except `ContentTypeFilter`.

public import CacheFoundation
public import CacheStore
public import CoreMetrics
public import Logging
internal import Synchronization

/// An HTTP cache between a client and its origins (RFC 9111): takes a request, and returns a response.
///
/// Accepts all methods and all statuses. Answers a GET from the store while the stored response is fresh, and validates
/// a stale one. Fetches and stores a missing one. Answers a HEAD from the stored response to a GET. Answers a QUERY
/// from the stored response to an equal QUERY, if its content is data of at most 64 KiB (RFC 10008). Forwards all other
/// requests. After the success of an unsafe method, invalidates the stored responses of the URL (RFC 9111 §4.4). Bodies
/// reach the reader while the store receives them.
///
/// ```swift
/// let cache = HTTPCache(store: store, transport: DefaultTransport())
/// let response = try await cache.response(
///     for: HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/feed.json"))
/// for try await chunk in response.body { … }
/// ```
///
/// Safe to use from any task. A request that the origin answers succeeds even if the store fails.
public final class HTTPCache: Sendable {
    /// The configuration of a cache.
    ///
    /// <doc:HowARequestIsAnswered> lists the properties whose defaults differ from those of a loader.
    public struct Configuration: Sendable {
        /// The rules for answers from the store; those of RFC 9111 for a private cache by default.
        public var policy: CachePolicy = CachePolicy()
        /// Changes to ``policy`` for the URLs that match a pattern; none by default. The first match counts.
        ///
        /// The policy of a request changes the result further, and inherits the rest.
        public var urlPolicies: [URLPolicy] = []
        /// A part of every key, such as a user, a tenant or a site; empty by default.
        public var partition: String = ""
        /// The maximum length of a body in bytes; 1 GiB by default. Reading a longer body throws
        /// ``LoadError/bodyTooLarge(url:limit:)``.
        ///
        /// Counts the bytes taken from the transport, which may receive more bytes while the reader pauses.
        public var maxBodyBytes: Int64 = 1 << 30
        /// The maximum number of bytes to receive after the last reader has left, so that the store gets the whole
        /// body; 64 KiB by default. The transfer stops if more bytes may remain, as for a body of unknown length.
        /// `Int64.max` completes all bodies.
        public var abandonedBytes: Int64 = 65_536
        /// The options for `Cache-Status` in responses (RFC 9211), or `nil` for no such field.
        public var cacheStatus: CacheStatusOptions? = CacheStatusOptions()
        /// Whether `Clear-Site-Data: "cache"` from a secure origin removes the stored responses of that origin. Off by
        /// default, because it lets an origin empty its part of the cache.
        public var clearsSiteData = false
        /// The maximum wait for another process that requests the same URL from its origin; 10 seconds by default, 0
        /// for no wait. The wait ends when the other process ends. If the other process takes longer, the wait occurs
        /// once for each URL.
        public var processWait: Duration = .seconds(10)
        /// Returns the current time. The system clock by default.
        public var clock: @Sendable () -> Date = { Date() }
        /// Pauses the calling task until the time has passed or the task is cancelled. `Task.sleep(for:)` by default.
        public var sleep: @Sendable (Duration) async throws -> Void = { try await pause(for: $0) }
        /// Receives the messages that ``logOptions`` select. Silent by default.
        public var logger: Logger = Logger(label: "CacheLoader") { _ in SwiftLogNoOpLogHandler() }
        /// The kinds of messages that the logger receives: errors by default.
        public var logOptions: LogOptions = .errors
        /// The factory for metrics. With `nil`, the default, the cache uses the factory with which swift-metrics is
        /// bootstrapped when the cache is created. A later change has no effect.
        public var metrics: (any MetricsFactory)? = nil
        /// Receives the steps of each request; none by default.
        public var observer: (any RequestObserver)? = nil

        /// Creates the default configuration.
        public init() {}
    }

    /// The store of the responses.
    public var store: ResponseStore { context.store }

    private let context: CacheContext
    var meters: CacheMeters { context.meters }

    /// The background revalidations.
    private let tasks = OwnedTasks()

    /// Guards the current settings.
    private let settings: Mutex<CacheSettings>

    /// Creates a cache that keeps responses in `store` and sends requests through `transport`.
    public init(store: ResponseStore, transport: any HTTPTransport, configuration: Configuration = Configuration()) {
        let meters = CacheMeters(configuration.metrics ?? MetricsSystem.factory)
        context = CacheContext(store: store, transport: transport, meters: meters)
        settings = Mutex(CacheSettings(configuration))
        context.setRevalidator { [tasks] transaction, ended in
            tasks.run { ended(await transaction.revalidate()) }
        }
    }

    deinit {
        tasks.cancelAll()
        meters.activity.finish()
    }

    /// The configuration. A change affects requests that begin afterwards.
    public var configuration: Configuration {
        get { settings.withLock { $0 }.configuration }
        set {
            let newSettings = CacheSettings(newValue)
            settings.withLock { $0 = newSettings }
        }
    }

    /// Answers a request from the store or from its origin.
    ///
    /// While a request for a URL is in flight, further requests for the URL wait for the head of its response. All
    /// share the response as far as RFC 9111 allows.
    ///
    /// If the origin cannot be reached, and no stored response may answer, the cache generates a 502 or 504 and sets
    /// ``CachedResponse/failure``. The status is 504 after a timeout, if a stored response needs validation, or if the
    /// request forbids the network.
    ///
    /// - Parameters:
    ///   - request: The head, with scheme, authority and path.
    ///   - content: The content of the request, which streams to the origin, or `nil` for none.
    ///   - policy: Changes to the configured policy for this request.
    ///   - onInterimResponse: Receives the interim responses of the origin to this request, such as 103 (RFC 9110
    ///     §15.2): in order, on any thread, and before this method returns. Must not block. Interim responses are
    ///     neither stored nor shared: an answer from the store has none, and neither has an answer from the request of
    ///     another caller. With `nil`, the default, the cache ignores them.
    /// - Throws: ``LoadError/invalidURL(_:reason:)`` and ``LoadError/cancelled``. Reading the body also throws
    ///   ``LoadError/transport(_:url:)`` and ``LoadError/bodyTooLarge(url:limit:)``.
    public func response(
        for request: HTTPRequest, content: RequestContent? = nil, policy: CachePolicy.Override = .init(),
        onInterimResponse: (@Sendable (HTTPResponse) -> Void)? = nil
    ) async throws(LoadError) -> CachedResponse {
        meters.requests.add()
        var transaction = try transaction(for: request, content: content, policy: policy)
        transaction.interimResponses = onInterimResponse.map(InterimResponses.init)
        defer { transaction.interimResponses?.end() }
        do {
            return try await transaction.answer()
        } catch {
            return try transaction.generated(for: error)
        }
    }

    /// Answers a request from the store alone. Returns `nil` when the answer needs the network.
    ///
    /// Follows the same rules as ``response(for:content:policy:onInterimResponse:)``. Runs on the calling thread and
    /// does not wait for other requests. Costs one lookup, and the opening of a file.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``.
    public func storedResponse(
        for request: HTTPRequest, content: RequestContent? = nil, policy: CachePolicy.Override = .init()
    ) throws(LoadError) -> CachedResponse? {
        let transaction = try transaction(for: request, content: content, policy: policy)
        do {
            guard let response = try transaction.answerFromStore() else { return nil }
            meters.requests.add()
            return response
        } catch {
            meters.requests.add()
            return try transaction.generated(for: error)
        }
    }

    /// Cancels all validations in the background. Later ones are not affected.
    public func cancelRevalidations() {
        tasks.cancelAll()
    }

    /// Returns once every arriving body is stored, as a whole or a part, or will not be stored, or once the calling
    /// task is cancelled. Bodies whose callers still read them arrive, too.
    ///
    /// A process that ends calls ``cancelRevalidations()``, then this method, and then closes the store.
    public func waitForBodies() async {
        await context.bodies.waitForAll()
    }

    /// Whether a validation is running in the background.
    package var isRevalidating: Bool { context.coalescer.revalidations.isRunning }

    func transaction(
        for request: HTTPRequest, content: RequestContent?, policy: CachePolicy.Override
    ) throws(LoadError) -> CacheTransaction {
        let settings = settings.withLock { $0 }
        let configuration = settings.configuration
        let target = try CacheKey.loading(request, partition: configuration.partition)
        let policy = configuration.policy.applying(configuration.urlPolicies, to: target).applying(policy)
        var request = request
        request.setTarget(to: target)
        var transaction = CacheTransaction(
            request, content: content, key: target.key(for: request, content, policy), target: target,
            context: context, settings: settings, policy: policy)
        transaction.countsFailures = true
        return transaction
    }
}

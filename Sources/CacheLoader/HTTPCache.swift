public import CacheStore
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
        /// Tells the time. The system clock by default.
        public var clock: @Sendable () -> Date = { Date() }
        /// Is told when the store could not be read or written. Silent by default.
        public var logger: Logger = Logger(label: "CacheLoader") { _ in SwiftLogNoOpLogHandler() }

        /// The defaults.
        public init() {}
    }

    /// Where responses are kept.
    public let store: ResponseStore

    private let transport: any HTTPTransport

    /// Guards the configuration.
    private let current: Mutex<Configuration>

    /// Creates a cache that keeps responses in `store` and asks origins through `transport`.
    public init(store: ResponseStore, transport: any HTTPTransport, configuration: Configuration = Configuration()) {
        self.store = store
        self.transport = transport
        current = Mutex(configuration)
    }

    /// How the cache behaves. A change affects requests that begin afterwards.
    public var configuration: Configuration {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Answers a request from the store or from its origin.
    ///
    /// When the origin cannot be reached, the answer is a 502 or, after a timeout or when the request forbids the network, a
    /// 504, with ``CachedResponse/failure`` set.
    ///
    /// - Parameters:
    ///   - request: The head, with scheme, authority and path.
    ///   - content: The content of the request, if it has any.
    ///   - policy: Takes the place of the configured one for this request.
    /// - Throws: ``LoadError/invalidURL(_:reason:)`` and ``LoadError/cancelled``. While the body is read,
    ///   ``LoadError/transport(_:url:)`` and ``LoadError/bodyTooLarge(url:limit:)`` too.
    public func response(
        for request: HTTPRequest, content: RequestContent? = nil, policy: CachePolicy? = nil
    ) async throws(LoadError) -> CachedResponse {
        let configuration = configuration
        let key = try CacheKey.loading(request, partition: configuration.partition)
        var request = request
        request.setTarget(to: key)
        let transaction = CacheTransaction(
            request, content: content, key: key, store: store, transport: transport, configuration: configuration,
            policy: policy)
        do {
            return try await transaction.answer()
        } catch {
            return try CachedResponse.standingIn(for: error, at: transaction.now)
        }
    }
}

extension CachedResponse {
    /// The response that a gateway gives in place of one that it could not get (RFC 9110 §15.6.3, §15.6.5).
    fileprivate static func standingIn(for error: LoadError, at now: HTTPDate) throws(LoadError) -> CachedResponse {
        let status: HTTPResponse.Status
        switch error {
        case .notCached: status = .gatewayTimeout
        case .transport(let failure, _): status = failure.code == .timedOut ? .gatewayTimeout : .badGateway
        default: throw error
        }
        return CachedResponse(
            head: HTTPResponse(status: status, headerFields: [.date: now.description, .contentLength: "0"]),
            body: .empty, source: .generated, age: 0, isStale: false, expiresAt: nil, failure: error,
            collect: { () async throws(LoadError) in Data() })
    }
}

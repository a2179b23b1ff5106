public import AsyncHTTPClient
public import CacheLoader
public import HTTPTypes
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Synchronization

/// The transport on AsyncHTTPClient, for servers that already use SwiftNIO.
///
/// The transport speaks HTTP/1.1, and HTTP/2 if a TLS origin offers it. Content and bodies stream in both directions
/// with back-pressure. The transport follows no redirects, keeps no cookies, decodes nothing, and adds no field that
/// `Vary` could name. Field lines keep their order, their number and the case of their names. In values that are not
/// UTF-8, U+FFFD replaces each invalid byte, in both directions. A response loses an `ETag` or `Last-Modified` with
/// U+FFFD, because such validators could match those of other responses.
///
/// AsyncHTTPClient changes the targets of some URLs, such as `/caf%E9.txt`. The transport refuses them with
/// `TransportError.Code.unsupportedRequest`.
///
/// The transport repeats a safe request once if the origin closes the connection before the response. It sends unsafe
/// requests and requests with a stream of content only once, and reports `TransportError.Code.connectionLost`.
///
/// The connections close after the release of the transport and its response bodies, or immediately with
/// ``shutdown()``.
public final class AsyncHTTPClientTransport: HTTPTransport {
    /// The settings of a transport.
    public struct Configuration: Sendable {
        /// The connect timeout, 10 seconds by default.
        public var connectTimeout: Duration = .seconds(10)
        /// The longest time without progress while the origin receives content or sends a response. 60 seconds by
        /// default.
        ///
        /// Excludes the time in which the program produces content or does not read a body.
        public var idleTimeout: Duration = .seconds(60)
        /// The longest time to the head of the response, including the sending of content.
        ///
        /// By default `nil`: only ``idleTimeout`` applies.
        public var headTimeout: Duration?
        /// The most concurrent HTTP/1.1 connections to one host, 6 by default. Further requests wait.
        public var connectionsPerHost: Int = 6
        /// The time that an idle connection stays open, 60 seconds by default.
        public var keepAliveTimeout: Duration = .seconds(60)
        /// Whether the transport uses HTTP/2 if a TLS origin offers it, `true` by default.
        public var allowsHTTP2: Bool = true
        /// The root certificates to trust in addition to the system's. By default `nil`.
        ///
        /// The checks of host name, dates and chain apply to these certificates as well.
        public var additionalTrustRoots: RootCertificates?

        /// Creates the default configuration.
        public init() {}
    }

    private let connections: ClientConnections
    private let idleTimeout: TimeAmount
    private let headTimeout: TimeAmount?
    /// The error of the additional root certificates, if any.
    private let rootsError: TransportError?

    /// Creates a transport with its own client, on the event loops that SwiftNIO shares in the process.
    public init(configuration: Configuration = Configuration()) {
        var settings = HTTPClient.Configuration()
        settings.redirectConfiguration = .disallow
        settings.decompression = .disabled
        settings.timeout = .init(connect: TimeAmount(configuration.connectTimeout))
        settings.connectionPool = .init(
            idleTimeout: TimeAmount(configuration.keepAliveTimeout),
            concurrentHTTP1ConnectionsPerHostSoftLimit: configuration.connectionsPerHost)
        // A refused connection is final: a load with a stored response must not wait for the timeout.
        settings.connectionPool.retryConnectionEstablishment = false
        settings.rejectInvalidStatuses()
        settings.httpVersion = configuration.allowsHTTP2 ? .automatic : .http1Only
        var rootsError: TransportError?
        if let roots = configuration.additionalTrustRoots {
            var security = TLSConfiguration.makeClientConfiguration()
            do {
                security.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMBytes(Array(roots.pem)))]
            } catch {
                rootsError = TransportError(.insecure, message: "a root certificate cannot be read: \(error)")
            }
            settings.tlsConfiguration = security
        }
        connections = ClientConnections(
            HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: settings), isOwned: true)
        idleTimeout = TimeAmount(configuration.idleTimeout)
        headTimeout = configuration.headTimeout.map { TimeAmount($0) }
        self.rootsError = rootsError
    }

    /// Creates a transport on an existing client. The creator of the client shuts it down.
    ///
    /// The client must not follow redirects (`redirectConfiguration: .disallow`). The response to a redirected exchange
    /// belongs to another URL, so the exchange fails with `TransportError.Code.unsupportedRequest`. The client must not
    /// decompress (`decompression: .disabled`), and its configuration must reject invalid statuses. The transport
    /// cannot check these two. A read timeout of the client includes the time that a body waits for its reader,
    /// `idleTimeout` does not.
    ///
    /// ```swift
    /// var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow, decompression: .disabled)
    /// configuration.rejectInvalidStatuses()
    /// configuration.proxy = .server(host: "proxy.example.com", port: 3128)
    /// let transport = AsyncHTTPClientTransport(client: HTTPClient(configuration: configuration))
    /// ```
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - idleTimeout: The longest time without progress of the origin.
    ///   - headTimeout: The longest time to the head of the response, including the sending of content.
    public init(client: HTTPClient, idleTimeout: Duration = .seconds(60), headTimeout: Duration? = nil) {
        connections = ClientConnections(client, isOwned: false)
        self.idleTimeout = TimeAmount(idleTimeout)
        self.headTimeout = headTimeout.map { TimeAmount($0) }
        rootsError = nil
    }

    /// Ends all exchanges and closes the connections. Later requests fail.
    ///
    /// Returns after all connections are closed. A second call has no effect, nor has a call for a client from
    /// ``init(client:idleTimeout:headTimeout:)``.
    public func shutdown() async throws(TransportError) {
        try await connections.shutdown()
    }

    /// Adds no fields. Repairs values that are not UTF-8 the way the transport sends them.
    public func prepare(_ request: HTTPRequest) -> HTTPRequest {
        guard request.headerFields.contains(where: { !$0.isASCII }) else { return request }
        var request = request
        request.headerFields = HTTPFields(
            request.headerFields.map { $0.isASCII ? $0 : HTTPField(name: $0.name, value: $0.value) })
        return request
    }

    /// Sends `request`. See `HTTPTransport.send(_:content:onInterimResponse:)`. The client hides interim responses.
    ///
    /// If the origin answers early with a status of 300 or more, the transport stops sending the content.
    public func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        if let rootsError { throw rootsError }
        let watch = IdleWatch(limit: idleTimeout, eventLoop: connections.client.eventLoopGroup.any())
        let message = try HTTPClientRequest.make(request, content, watch)
        let deadline = headTimeout.map { NIODeadline.now() + $0 } ?? .distantFuture
        let exchange = ClientExchange(
            connections: connections, watch: watch, method: request.method,
            isRepeatable: request.method.isSafe && (content == nil || content?.data != nil))
        return try await exchange.start(message, deadline: deadline)
    }
}

/// A client that a transport and its response bodies keep alive.
final class ClientConnections: Sendable {
    let client: HTTPClient
    private let isOwned: Bool
    private let isShutDown = Atomic(false)

    init(_ client: HTTPClient, isOwned: Bool) {
        self.client = client
        self.isOwned = isOwned
    }

    deinit {
        // AsyncHTTPClient traps when it is released without a shutdown. The client keeps itself alive during the
        // shutdown. `deinit` must not block, because it may run on an event loop.
        if isOwned, !isShutDown.load(ordering: .acquiring) { client.shutdown { _ in } }
    }

    func shutdown() async throws(TransportError) {
        guard isOwned, !isShutDown.exchange(true, ordering: .acquiringAndReleasing) else { return }
        do {
            try await client.shutdown()
        } catch {
            throw TransportError(.other, message: "\(error)")
        }
    }
}

extension TimeAmount {
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        // Limits the timeout to a century, so that a practically infinite timeout does not overflow.
        self = .nanoseconds(min(max(seconds, 0), 3_155_760_000) * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}

extension HTTPRequest.Method {
    /// Whether IANA registers the method as safe: a safe method changes nothing at the origin (RFC 9110 §9.2.1).
    fileprivate var isSafe: Bool {
        ["GET", "HEAD", "OPTIONS", "PRI", "PROPFIND", "QUERY", "REPORT", "SEARCH", "TRACE"].contains(rawValue)
    }
}

extension HTTPField {
    fileprivate var isASCII: Bool { withUnsafeBytesOfValue { $0.allSatisfy { $0 < 0x80 } } }
}

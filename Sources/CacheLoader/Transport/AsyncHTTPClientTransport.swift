#if AsyncHTTPClient
public import AsyncHTTPClient
public import HTTPTypes
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// The transport on AsyncHTTPClient, for servers, proxies and tools.
///
/// HTTP/1.1, and HTTP/2 where a TLS origin offers it. Content and bodies stream both ways, and the slower side holds the
/// faster one back. No redirects, no cookies, no decoding; nothing is added that `Vary` could name. Field lines keep their
/// order, their number and the case of their names; a value that is not UTF-8 is not kept byte for byte, as <doc:Transports>
/// says.
///
/// A request is sent once. When a connection that was kept alive turns out to be dead, that is
/// ``TransportError/Code/connectionLost``, and trying again is the caller's decision.
///
/// The connections close when the transport and the bodies that came through it are gone, or at once with ``shutdown()``.
public final class AsyncHTTPClientTransport: HTTPTransport {
    /// How a client behaves.
    public struct Configuration: Sendable {
        /// The longest to wait for a connection; 10 seconds by default.
        public var connectTimeout: Duration = .seconds(10)
        /// The longest to wait for anything to happen: for the origin to take content, or to send; 60 seconds by default.
        ///
        /// What the program takes itself, to make content or to read a body, does not count.
        public var idleTimeout: Duration = .seconds(60)
        /// The longest to wait for the head of the response, with all that goes before it, sending the content included;
        /// `nil`, the default, for as long as something happens.
        public var headTimeout: Duration?
        /// Connections to one host at once over HTTP/1.1; 6 by default. Further requests wait.
        public var connectionsPerHost: Int = 6
        /// How long a connection is kept without a request; 60 seconds by default.
        public var keepAliveTimeout: Duration = .seconds(60)
        /// Whether HTTP/2 is used where a TLS origin offers it; it is by default.
        public var allowsHTTP2: Bool = true

        /// The defaults.
        public init() {}
    }

    private let connections: ClientConnections
    private let idleTimeout: TimeAmount
    private let headTimeout: TimeAmount?

    /// Creates a transport with a client of its own, on the event loops that SwiftNIO shares in the process.
    public init(configuration: Configuration = Configuration()) {
        var settings = HTTPClient.Configuration()
        settings.redirectConfiguration = .disallow
        settings.decompression = .disabled
        settings.timeout = .init(connect: TimeAmount(configuration.connectTimeout))
        settings.connectionPool = .init(
            idleTimeout: TimeAmount(configuration.keepAliveTimeout),
            concurrentHTTP1ConnectionsPerHostSoftLimit: configuration.connectionsPerHost)
        // A refused connection is an answer: who can do without the origin is not to wait for the timeout.
        settings.connectionPool.retryConnectionEstablishment = false
        settings.httpVersion = configuration.allowsHTTP2 ? .automatic : .http1Only
        connections = ClientConnections(
            HTTPClient(eventLoopGroup: MultiThreadedEventLoopGroup.singleton, configuration: settings), isOwned: true)
        idleTimeout = TimeAmount(configuration.idleTimeout)
        headTimeout = configuration.headTimeout.map { TimeAmount($0) }
    }

    /// Creates a transport on a client that is there already, and that its maker shuts down.
    ///
    /// The client must follow no redirects (`redirectConfiguration: .disallow`): an exchange that it redirected fails with
    /// ``TransportError/Code/unsupportedRequest``, because its response belongs to another URL. It must not decompress
    /// (`decompression: .disabled`), which cannot be seen from here. A read timeout of the client also counts while a body
    /// waits for its reader; `idleTimeout` does not.
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - idleTimeout: The longest to wait for anything to happen.
    ///   - headTimeout: The longest to wait for the head of a response, with all that goes before it.
    public init(client: HTTPClient, idleTimeout: Duration = .seconds(60), headTimeout: Duration? = nil) {
        connections = ClientConnections(client, isOwned: false)
        self.idleTimeout = TimeAmount(idleTimeout)
        self.headTimeout = headTimeout.map { TimeAmount($0) }
    }

    /// Ends all exchanges in progress and closes the connections; requests that follow fail.
    ///
    /// Returns when they are closed. Does nothing the second time, nor to a client that the transport did not make.
    public func shutdown() async throws(TransportError) {
        try await connections.shutdown()
    }

    /// Adds nothing. Values that are not UTF-8 are shown as they will be sent.
    public func prepare(_ request: HTTPRequest) -> HTTPRequest {
        guard request.headerFields.contains(where: { !$0.isASCII }) else { return request }
        var request = request
        request.headerFields = HTTPFields(
            request.headerFields.map { $0.isASCII ? $0 : HTTPField(name: $0.name, value: $0.value) })
        return request
    }

    /// Sends `request`; see ``HTTPTransport/send(_:content:)``.
    ///
    /// When the origin answers with a status of 300 or more before it has all of the content, the rest is not sent.
    public func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        let watch = IdleWatch(limit: idleTimeout, eventLoop: connections.client.eventLoopGroup.any())
        let message = try HTTPClientRequest.make(request, content, watch)
        let deadline = headTimeout.map { NIODeadline.now() + $0 } ?? .distantFuture
        let exchange = ClientExchange(connections: connections, watch: watch, method: request.method)
        return try await exchange.start(message, deadline: deadline)
    }
}

/// A client, kept for as long as a transport or a body needs it.
final class ClientConnections: Sendable {
    let client: HTTPClient
    private let isOwned: Bool
    private let isShutDown = Atomic(false)

    init(_ client: HTTPClient, isOwned: Bool) {
        self.client = client
        self.isOwned = isOwned
    }

    deinit {
        // A client that goes without this is a programmer's mistake to AsyncHTTPClient. It keeps itself alive until it is
        // done, and nobody waits for it: this may be any thread, one of an event loop too.
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
        // A century, so that a limit nobody means to reach does not overflow.
        self = .nanoseconds(min(max(seconds, 0), 3_155_760_000) * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}

extension HTTPField {
    fileprivate var isASCII: Bool { withUnsafeBytesOfValue { $0.allSatisfy { $0 < 0x80 } } }
}
#endif

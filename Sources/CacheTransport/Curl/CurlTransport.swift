// The folder `Curl/` has the transport on libcurl: its thread, its transfers, and the options of its handles.
// The folder may call libcurl; a handle belongs to the thread of its loop. The folder names only types of `Transport/`,
// and decodes no body.

#if Curl && !canImport(Darwin)
internal import CacheFoundation

/// The transport on libcurl, the ``DefaultTransport`` on Linux.
///
/// One thread carries all transfers of a transport. It speaks HTTP/1.1, and HTTP/2 if a TLS origin offers it. Content
/// and bodies stream in both directions with back-pressure. Targets and field values pass byte for byte; field lines
/// keep their order, their number and the case of their names. The transport follows no redirects, keeps no cookies,
/// decodes nothing, and adds no field that `Vary` could name.
///
/// A request with a safe method is sent once more, on a new connection, if an old connection was closed (RFC 9110
/// §9.2.2). All other requests are sent once.
///
/// The connections close after the release of the transport and its response bodies, or with ``shutdown()``.
/// Without a request for ``Configuration/keepAliveTimeout`` the thread ends, too.
public final class CurlTransport: HTTPTransport {
    /// The settings of a transport.
    public struct Configuration: Sendable {
        /// The connect timeout, including the search for the address and TLS; 10 seconds by default.
        public var connectTimeout: Duration = .seconds(10)
        /// The longest time without progress while the origin receives content or sends a response; 60 seconds by
        /// default.
        ///
        /// The wait for a connection does not count, nor does the time that the program takes to produce content or to
        /// read a body. A partial head is not progress; an interim response is.
        public var idleTimeout: Duration = .seconds(60)
        /// The longest time until the head of the response, sending the content included.
        ///
        /// By default `nil`: only ``idleTimeout`` applies.
        public var headTimeout: Duration?
        /// The maximum number of connections to one host; 6 by default. Further requests wait, or share a connection
        /// with HTTP/2.
        public var connectionsPerHost: Int = 6
        /// The time for which a connection without a request stays open; 60 seconds by default.
        public var keepAliveTimeout: Duration = .seconds(60)
        /// The maximum size in bytes of the head of a response, including interim responses and trailer fields; 256 KiB
        /// by default.
        ///
        /// libcurl has further limits: 100 KiB for a line, and from version 8.3 on 300 KiB for a head.
        public var maxHeadBytes: Int = 256 << 10
        /// Whether the transport uses HTTP/2 if a TLS origin offers it; `true` by default.
        public var allowsHTTP2: Bool = true
        /// The root certificates that are trusted in addition to those of the system; by default `nil` for none.
        ///
        /// The checks of host name, dates and chain do not change. They apply to these certificates, too.
        public var additionalTrustRoots: RootCertificates?
        /// The hosts whose certificates are accepted even if invalid, for a local development server. None by default.
        public var hostsWithAnyCertificate: Set<String> = []
        /// The proxies between this transport and the origins; none by default.
        public var proxies: ProxySettings = .none

        /// Creates the default configuration.
        public init() {}

        var trust: ServerTrust { ServerTrust(hosts: hostsWithAnyCertificate) }
    }

    private let configuration: Configuration
    private let loop: CurlLoop

    /// Creates a transport with its own connections. The first request starts the thread.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        loop = CurlLoop(configuration)
    }

    deinit {
        loop.release()
    }

    /// Ends all exchanges and closes the connections; later requests fail.
    ///
    /// Returns after all connections are closed. Has no effect the second time.
    public func shutdown() async {
        await loop.shutdown()
    }

    /// Returns the request unchanged: the transport adds only `Host` and the framing.
    public func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    /// Sends `request`; see ``HTTPTransport/send(_:content:onInterimResponse:)``.
    ///
    /// If the origin answers early with a status of 300 or more over HTTP/1.1, the transport stops sending the content.
    ///
    /// - Parameters:
    ///   - request: Goes out unchanged, except for `Host` and the framing.
    ///   - content: The content of the request, which the transport reads once, or `nil` for none.
    ///   - onInterimResponse: Receives the interim responses in order, on the thread of the transport, which it must
    ///     not block.
    public func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        let message = try CurlRequest(request, content, configuration)
        let reader = Reader(
            CurlTransfer(message, content, configuration, loop, onInterimResponse: onInterimResponse))
        let head = try await reader.transfer.head(content)
        return TransportResponse(
            head: head,
            body: TransportBody { () async throws(TransportError) in try await reader.transfer.nextChunk() })
    }

    /// Reads a response. Releasing the reader ends the exchange; the loop retains only the transfer.
    private final class Reader: Sendable {
        let transfer: CurlTransfer

        init(_ transfer: CurlTransfer) {
            self.transfer = transfer
        }

        deinit {
            transfer.cancel()
        }
    }
}
#endif

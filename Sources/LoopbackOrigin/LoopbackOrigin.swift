internal import LoopbackHTTP

/// An HTTP/1.1 origin server on the loopback interface. A closure decides every response.
///
/// The server speaks real HTTP over real sockets, keeps connections alive, and serves them concurrently. It can
/// misbehave in all ways of ``OriginReply/Delivery``, and records all requests.
///
///     let origin = try await LoopbackOrigin { request in
///         .ok("hello".utf8, cacheControl: "max-age=60", etag: "\"1\"")
///     }
///     // … fetch origin.url("/greeting") …
///     await origin.stop()
///
/// All members are safe to call from any thread. Releasing the origin stops the server.
public final class LoopbackOrigin: Sendable {
    /// The host and port, such as `127.0.0.1:49152`.
    public let authority: String

    private let server: LoopbackServer
    private let log: RequestLog

    /// Starts an origin on a port that the system chooses.
    ///
    /// - Parameters:
    ///   - host: The address to listen on.
    ///   - requestBodyLimit: The most bytes of a request body. The origin answers a longer body with 413.
    ///   - date: Returns the `Date` for replies without that field. `nil` adds no field.
    ///   - reply: Answers a request. Its task is cancelled when the client disconnects or the origin stops.
    /// - Throws: The system's error if it could not bind the address.
    public init(
        host: String = "127.0.0.1",
        requestBodyLimit: Int = 16 << 20,
        date: @escaping @Sendable () -> String? = { OriginDate.now() },
        reply: @escaping @Sendable (OriginRequest) async -> OriginReply
    ) async throws {
        let log = RequestLog()
        let exchange = Exchange(log: log, date: date, reply: reply)
        server = try await LoopbackServer(host: host, configuration: .init(contentLimit: requestBodyLimit)) { request in
            var content = OriginRequest(
                method: request.method, path: request.target, fields: request.fields, body: request.content)
            log.record(&content)
            return { [content] connection in await exchange.run(content, request, on: connection) }
        }
        authority = host.contains(":") ? "[\(host)]:\(server.port)" : "\(host):\(server.port)"
        self.log = log
    }

    /// Stops listening and closes every connection, even during a response.
    ///
    /// Returns after all connections are closed. A second call has no effect.
    public func stop() async {
        await server.stop()
    }
}

extension LoopbackOrigin {
    /// The start of every URL of this origin, without a trailing slash: `http://127.0.0.1:49152`.
    public var baseURL: String { "http://\(authority)" }

    /// Returns the absolute URL of `path`, which may have a query.
    public func url(_ path: String) -> String {
        path.hasPrefix("/") ? baseURL + path : "\(baseURL)/\(path)"
    }

    /// The requests since the start or the last ``resetRequests()``, in the order of their arrival.
    public var requests: [OriginRequest] { log.requests }

    /// Returns the requests whose path, including its query, is `path`.
    public func requests(to path: String) -> [OriginRequest] {
        log.requests.filter { $0.path == path }
    }

    /// The number of requests since the start or the last ``resetRequests()``.
    public var requestCount: Int { log.requestCount }

    /// Discards the recorded requests. Serial numbers and ``counters`` continue.
    public func resetRequests() {
        log.resetRequests()
    }

    /// The counters since the start of this origin.
    public var counters: OriginCounters {
        var counters = log.counters
        counters.connections = server.acceptedConnections
        return counters
    }
}

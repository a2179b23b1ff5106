internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// A small HTTP/1.1 server without TLS. A closure answers each request. Serves connections concurrently, and the
/// requests of one connection one after the other. All members are safe to call from any thread. Releasing the server
/// stops it.
package final class LoopbackServer: Sendable {
    package struct Configuration: Sendable {
        /// The most bytes of a request's content. The server receives longer content, but discards the excess.
        package var contentLimit: Int
        /// The most open connections. The server closes further connections.
        package var connectionLimit = Int.max
        /// The most time for a client to send a whole request, and to receive a piece of a response. Also closes a
        /// connection that has no request for this time. `nil` for no limit.
        package var timeout: Duration?
        /// Whether the server answers malformed requests with 400 before it closes the connection.
        package var answersMalformedRequests = false

        package init(contentLimit: Int) {
            self.contentLimit = contentLimit
        }
    }

    /// Sends the response to one request. Its task is cancelled when the client disconnects or the server stops.
    package typealias Answer = @Sendable (ServerConnection) async -> Void

    /// The port, either given or chosen by the system.
    package let port: Int

    private let listener: any Channel
    private let connections: OpenConnections

    /// Starts a server. With port 0 the system chooses a free port. `receive` receives each complete request, in the
    /// order of arrival on its connection, and returns its answer. It runs on the event loop of the connection. The
    /// answer runs after the previous response. Throws the system's error if it could not bind the address.
    package init(
        host: String, port: Int = 0, configuration: Configuration,
        receive: @escaping @Sendable (ServerRequest) -> Answer
    ) async throws {
        let connections = OpenConnections(limit: configuration.connectionLimit)
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            // A restart on a fixed port does not wait for the ended connections of the last run.
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        ByteToMessageHandler(HTTPRequestDecoder()),
                        ConnectionHandler(configuration, connections, receive),
                    ])
                }
            }
            .bind(host: host, port: port)
            .get()
        guard let port = listener.localAddress?.port else {
            preconditionFailure("a bound TCP socket has a port")
        }
        self.port = port
        self.connections = connections
    }

    deinit {
        listener.close(promise: nil)
        for connection in connections.refuseFurther() { connection.close(promise: nil) }
    }

    /// The number of connections accepted so far.
    package var acceptedConnections: Int { connections.accepted }

    /// Serves until the calling task is cancelled. Then stops and waits for all answers to return.
    package func run() async {
        await withTaskCancellationHandler {
            try? await listener.closeFuture.get()
        } onCancel: {
            listener.close(promise: nil)
        }
        await stop()
        await connections.waitUntilEmpty()
    }

    /// Closes every connection, even during a response. Returns after all connections are closed, without waiting for
    /// answers. A second call has no effect.
    package func stop() async {
        try? await listener.close().get()
        let open = connections.refuseFurther()
        for connection in open { connection.close(promise: nil) }
        for connection in open { try? await connection.closeFuture.get() }
    }
}

internal import NIOCore
internal import NIOPosix

/// Listens for clients and serves them.
final class ProxyServer: Sendable {
    /// The port of the listening socket.
    let port: Int

    private let listener: any Channel
    private let connections: OpenConnections

    /// - Throws: The system's error if it could not bind the address.
    init(at address: ListenAddress, gateway: Gateway) async throws {
        let connections = OpenConnections()
        self.connections = connections
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 131_072, high: 262_144))
            // The handler requests each read when it has room.
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        ConnectionHandler(gateway: gateway, connections: connections))
                }
            }
            .bind(host: address.host, port: address.port).get()
        port = listener.localAddress?.port ?? address.port
    }

    /// Accepts no more clients. Waits some seconds for the requests in progress, then cancels them.
    func stop() async {
        try? await listener.close()
        await connections.drain(patience: .seconds(5))
    }
}

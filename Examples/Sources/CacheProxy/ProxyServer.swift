internal import NIOCore
internal import NIOPosix

/// Listens for clients and serves them.
final class ProxyServer: Sendable {
    /// The port that it listens on.
    let port: Int

    private let listener: any Channel
    private let connections: OpenConnections

    /// - Throws: What the system said when the address could not be bound.
    init(at address: ListenAddress, gateway: Gateway) async throws {
        let connections = OpenConnections()
        self.connections = connections
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 131_072, high: 262_144))
            // The handler reads when it has room.
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

    /// Takes no more clients, and returns when requests in progress have ended, or have been cancelled after some seconds.
    func stop() async {
        try? await listener.close()
        await connections.drain(patience: .seconds(5))
    }
}

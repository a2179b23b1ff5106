import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// A server on loopback that answers the bytes of each connection with arbitrary bytes.
final class ScriptedServer: Sendable {
    /// The reaction to the next request head of a connection.
    enum Reaction: Sendable {
        /// Sends these bytes, and keeps the connection open.
        case send([UInt8])
        /// Sends these bytes, then closes the connection.
        case sendAndClose([UInt8])
        /// Sends these bytes, then closes the connection after a time.
        case sendAndCloseLater([UInt8], TimeAmount)
        /// Closes the connection with a reset.
        case reset
    }

    private struct Log {
        var connectionCount = 0
        var openCount = 0
        var heads: [String] = []
    }

    private let listener: any Channel
    private let log: Shared
    let authority: String

    /// The connections and the requests so far.
    private final class Shared: Sendable {
        let value = Mutex(Log())
    }

    /// - Parameter react: Returns the reaction to a request. Its arguments are the index of the connection, the index
    ///   of the request on the connection, and the received bytes.
    init(_ react: @escaping @Sendable (_ connection: Int, _ request: Int, _ head: String) -> Reaction) async throws {
        let log = Shared()
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1024)
            .childChannelInitializer { channel in
                let connection = log.value.withLock { log in
                    log.connectionCount += 1
                    log.openCount += 1
                    return log.connectionCount - 1
                }
                channel.closeFuture.whenComplete { _ in log.value.withLock { $0.openCount -= 1 } }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        Handler { request, head in
                            log.value.withLock { $0.heads.append(head) }
                            return react(connection, request, head)
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.log = log
        authority = "127.0.0.1:\(listener.localAddress?.port ?? 0)"
    }

    /// A server that sends the same bytes to each request, and closes the connection.
    convenience init(_ bytes: [UInt8]) async throws { try await self.init { _, _, _ in .sendAndClose(bytes) } }

    var connectionCount: Int { log.value.withLock { $0.connectionCount } }
    /// The number of open connections.
    var openCount: Int { log.value.withLock { $0.openCount } }
    /// The bytes of the requests, each from its request line to the empty line.
    var heads: [String] { log.value.withLock { $0.heads } }

    func stop() async { try? await listener.close().get() }

    /// Collects the bytes of a request head. All state belongs to the event loop of the connection.
    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let react: @Sendable (Int, String) -> Reaction
        private var count = 0
        private var received: [UInt8] = []

        init(_ react: @escaping @Sendable (Int, String) -> Reaction) { self.react = react }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received += unwrapInboundIn(data).readableBytesView
            let end = Array("\r\n\r\n".utf8)
            guard let place = received.indices.first(where: { received[$0...].starts(with: end) }) else { return }
            let head = String(decoding: received[..<place], as: UTF8.self)
            received = []
            count += 1
            let (channel, loop) = (context.channel, context.eventLoop)
            switch react(count - 1, head) {
            case .send(let bytes):
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            case .sendAndClose(let bytes):
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
                context.close(promise: nil)
            case .sendAndCloseLater(let bytes, let delay):
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
                loop.scheduleTask(in: delay) { channel.close(promise: nil) }
            case .reset:
                _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                context.close(promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

import NIOCore
import NIOPosix
import TestSupport

/// A TCP connection to an origin that shows the bytes on the wire.
///
/// Reads only as much as a test asks for; one task uses it at a time.
final class RawClient {
    enum Ending: Equatable {
        case closed
        case reset
    }

    struct ConnectionEnded: Error {
        var ending: Ending
        var received: String
    }

    /// Retained because an origin stops with its last reference.
    private let origin: LoopbackOrigin?
    private let channel: any Channel
    private var arriving: AsyncThrowingStream<ByteBuffer, any Error>.Iterator
    private var received: [UInt8] = []

    convenience init(_ origin: LoopbackOrigin) async throws {
        let port = origin.authority.split(separator: ":")[1]
        try await self.init(port: Int(port) ?? 0, origin: origin)
    }

    /// - Parameter reads: Whether the client takes the bytes of the server from the system.
    init(port: Int, reads: Bool = true, origin: LoopbackOrigin? = nil) async throws {
        self.origin = origin
        let (stream, source) = AsyncThrowingStream<ByteBuffer, any Error>.makeStream()
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.autoRead, value: reads)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Receiver(source: source))
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .get()
        arriving = stream.makeAsyncIterator()
    }

    deinit { channel.close(promise: nil) }

    func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }

    /// Sends a request without a body and with these fields.
    func request(_ path: String = "/", method: String = "GET", _ fields: String...) async throws {
        let lines = ["\(method) \(path) HTTP/1.1", "Host: origin"] + fields + ["", ""]
        try await send(lines.joined(separator: "\r\n"))
    }

    func close() async throws { try await channel.close() }

    /// The bytes to the end of the next head, without the empty line.
    func head() async throws -> String {
        while true {
            if let end = received.firstRange(of: Array("\r\n\r\n".utf8)) {
                // A line break is one character: two of them end the head.
                return String(take(end.upperBound).dropLast(2))
            }
            try await receive()
        }
    }

    /// The next `count` bytes.
    func bytes(_ count: Int) async throws -> String {
        while received.count < count { try await receive() }
        return take(count)
    }

    /// All bytes up to the end of the connection.
    func rest() async -> (text: String, ending: Ending) {
        while true {
            do {
                try await receive()
            } catch let end as ConnectionEnded {
                return (take(received.count), end.ending)
            } catch {
                return (take(received.count), .reset)
            }
        }
    }

    private func receive() async throws {
        do {
            guard let bytes = try await arriving.next(isolation: #isolation) else {
                throw ConnectionEnded(ending: .closed, received: String(decoding: received, as: UTF8.self))
            }
            received += bytes.readableBytesView
        } catch is IOError {
            throw ConnectionEnded(ending: .reset, received: String(decoding: received, as: UTF8.self))
        }
    }

    private func take(_ count: Int) -> String {
        defer { received.removeFirst(count) }
        return String(decoding: received.prefix(count), as: UTF8.self)
    }
}

private final class Receiver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let source: AsyncThrowingStream<ByteBuffer, any Error>.Continuation

    init(source: AsyncThrowingStream<ByteBuffer, any Error>.Continuation) { self.source = source }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { source.yield(unwrapInboundIn(data)) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { source.finish(throwing: error) }

    func channelInactive(context: ChannelHandlerContext) { source.finish() }
}

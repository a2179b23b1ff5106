internal import CacheLoader
internal import HTTPTypes
internal import NIOCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Reads the requests of one connection and answers them one at a time.
///
/// The event loop of the connection owns the state. Bytes of later requests wait in ``buffer``. Above a mark, the
/// handler stops reading and the bytes wait in the socket.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The most bytes of later requests in the buffer.
    private static let highWaterMark = 262_144
    /// The most unread content to discard, so that the connection can be reused.
    private static let discardLimit = 1_048_576

    private enum Phase {
        /// Between requests, or within the head of a request.
        case idle
        /// The cache answers a request.
        case serving(ClientExchange)
        /// The response is sent, but content still arrives. Discards up to `byteCount` bytes of it.
        case discarding(byteCount: Int)
        /// The connection sends nothing more and discards arriving bytes. Closing a socket with unread bytes would send
        /// a reset, which may reach the client before the response.
        case lingering
        case closed
    }

    private let gateway: Gateway
    private let connections: OpenConnections

    private var context: ChannelHandlerContext?
    private var phase = Phase.idle
    private var buffer = ByteBuffer()
    private var parser = RequestHeadParser()
    /// The content of the latest request.
    private var content = ContentDecoder(.none)
    private(set) var isDraining = false
    private var isConnected = true
    private var isReading = false
    private var isAdvancing = false
    private var advancesAgain = false
    /// The number of exchanges with running tasks: the current one and cancelled ones.
    private var runningCount = 0
    private var idleTimer: IdleTimer?

    init(gateway: Gateway, connections: OpenConnections) {
        self.gateway = gateway
        self.connections = connections
    }

    // MARK: The channel's side

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelActive(context: ChannelHandlerContext) {
        guard connections.admit(context.channel) else { return context.close(promise: nil) }
        idleTimer = IdleTimer(on: context.eventLoop) { [self] in
            // A client that waits for a response is not idle.
            if case .serving = phase, content.isAtEnd { return false }
            close()
            return true
        }
        read()
    }

    func channelInactive(context: ChannelHandlerContext) {
        idleTimer?.cancel()
        idleTimer = nil
        breakOff("the client has left")
        phase = .closed
        isConnected = false
        if runningCount == 0 { connections.remove(context.channel) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is OpenConnections.Draining else { return context.fireUserInboundEventTriggered(event) }
        isDraining = true
        if case .idle = phase { close() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if buffer.readableBytes == 0 {
            buffer = bytes
        } else {
            buffer.writeBuffer(&bytes)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        isReading = false
        idleTimer?.touch()
        advance()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { advance() }
    }

    // MARK: Requests

    /// Processes the received bytes as far as possible.
    ///
    /// A nested call, for example after a flush makes room, only requests another pass of the outer call.
    func advance() {
        guard !isAdvancing else {
            advancesAgain = true
            return
        }
        isAdvancing = true
        repeat {
            advancesAgain = false
            do throws(Refusal) {
                while try step() {}
            } catch {
                refuse(error)
            }
            context?.flush()
        } while advancesAgain
        isAdvancing = false
        read()
    }

    /// Performs one step. Returns `false` if it needs more bytes or events.
    private func step() throws(Refusal) -> Bool {
        switch phase {
        case .idle:
            guard canWrite, let head = try parser.next(&buffer) else { return false }
            try begin(head)
            return true
        case .serving(let exchange):
            guard let stream = exchange.content, stream.byteCount <= RequestContentStream.highWaterMark else {
                return false
            }
            switch try content.next(&buffer) {
            case .content(let bytes):
                stream.append(Data(bytes.readableBytesView))
                return true
            case .end:
                stream.finish()
                return false
            case .wait:
                return false
            }
        case .discarding(let limit):
            switch try content.next(&buffer) {
            case .content(let bytes) where bytes.readableBytes > limit: linger()
            case .content(let bytes): phase = .discarding(byteCount: limit - bytes.readableBytes)
            case .end: becomeIdle()
            case .wait: return false
            }
            return true
        case .lingering, .closed:
            buffer.clear()
            return false
        }
    }

    private func begin(_ head: RequestHead) throws(Refusal) {
        guard let context else { return }
        let request = try gateway.request(for: head)
        content = ContentDecoder(head.framing)
        let exchange = ClientExchange(head, on: context.channel, handler: self)
        phase = .serving(exchange)
        runningCount += 1
        var stored: CachedResponse?
        if head.framing == .none {
            stored = gateway.storedResponse(for: request)
            if let stored, exchange.answerAtOnce(stored) { return }
        }
        exchange.start(request, stored: stored, gateway: gateway)
    }

    /// Continues to read the content of a request after its reader has asked for bytes or made room.
    func continueContent(of exchange: ClientExchange) {
        guard case .serving(exchange) = phase else { return }
        if exchange.awaitsContinue, !exchange.hasHead {
            exchange.awaitsContinue = false
            context?.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
        }
        advance()
    }

    // MARK: Responses

    /// Called when an exchange ends: when its task ends, or when a stored response has been written without a task.
    ///
    /// - Parameter isComplete: Whether the whole response has been written.
    func end(_ exchange: ClientExchange, isComplete: Bool) {
        runningCount -= 1
        if runningCount == 0, !isConnected { connections.remove(exchange.channel) }
        guard case .serving(exchange) = phase else { return }
        // The client must be able to detect that the response is incomplete.
        guard isComplete else { return close(resets: exchange.framing == .untilClose) }
        idleTimer?.touch()
        if exchange.closes {
            content.isAtEnd && buffer.readableBytes == 0 ? close() : linger()
        } else if content.isAtEnd {
            becomeIdle()
            advance()
        } else {
            phase = .discarding(byteCount: Self.discardLimit)
            advance()
        }
    }

    /// Answers a request that the proxy does not forward. Ends the connection, because the start of the next request
    /// may be unknown.
    private func refuse(_ refusal: Refusal) {
        switch phase {
        case .idle: break
        case .serving(let exchange) where !exchange.hasHead: breakOff("the client broke off its content")
        default: return close()
        }
        guard let context else { return }
        let response = HTTPResponse(status: refusal.status, headerFields: [.contentLength: "0"])
        var bytes = context.channel.allocator.buffer(capacity: 128)
        ResponseFraming.length(0).write(response, closes: true, into: &bytes)
        context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
        linger()
    }

    /// Whether the connection waits for the response of this exchange.
    func isServing(_ exchange: ClientExchange) -> Bool {
        if case .serving(exchange) = phase { true } else { false }
    }

    /// Cancels the current exchange, whose response is no longer needed.
    private func breakOff(_ reason: String) {
        guard case .serving(let exchange) = phase else { return }
        exchange.content?.finish(TransportError(.connectionLost, message: reason))
        exchange.cancel()
    }

    private func becomeIdle() {
        phase = .idle
        if isDraining { close() }
    }

    private func linger() {
        guard let context else { return }
        phase = .lingering
        buffer.clear()
        context.close(mode: .output, promise: nil)
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .seconds(2)) { handler.value.close() }
    }

    /// - Parameter resets: Whether the client receives a reset instead of a normal end.
    private func close(resets: Bool = false) {
        guard let context else { return }
        breakOff("the connection is closed")
        phase = .closed
        resets ? context.channel.reset() : context.close(promise: nil)
    }

    // MARK: Reading

    private func read() {
        guard !isReading, wantsBytes, let context else { return }
        isReading = true
        context.read()
    }

    /// Whether the channel has room. The handler stops processing the requests of a client that does not read its
    /// responses.
    private var canWrite: Bool { context?.channel.isWritable ?? false }

    /// Whether to read. Reads even while it needs no bytes, because only a read detects that the client has closed the
    /// connection.
    private var wantsBytes: Bool {
        guard case .serving(let exchange) = phase else { return canWrite }
        if !content.isAtEnd, let stream = exchange.content {
            return stream.byteCount <= RequestContentStream.highWaterMark
        }
        return buffer.readableBytes <= Self.highWaterMark
    }
}

internal import CacheLoader
internal import HTTPTypes
internal import NIOCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Reads the requests of one connection and has them answered, one after the other.
///
/// All its state belongs to the connection's event loop. What a client sends ahead waits in ``buffer``, and beyond a mark in
/// its socket: while nothing can be done with more bytes, none are read.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Bytes of the next requests that may wait here.
    private static let highWaterMark = 262_144
    /// Unread content of a request that is worth reading, so that the connection can be used again.
    private static let discardLimit = 1_048_576

    private enum Phase {
        /// Between requests, or within the head of one.
        case idle
        /// A request is being answered.
        case serving(ClientExchange)
        /// Answered, but its content has not come to an end; so many bytes of it are thrown away.
        case discarding(byteCount: Int)
        /// Nothing more is sent. What still arrives is thrown away: a socket closed with bytes unread is reset, and a
        /// reset overtakes the response.
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
    /// Exchanges whose task has not ended: the one that is served, and those that were broken off.
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
            // A client that waits for an answer is not idle.
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

    /// Goes on with what has arrived, as far as that leads.
    ///
    /// What happens meanwhile, such as room for more bytes after a flush, does not begin another run within this one.
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

    /// One step; `false` when there is nothing to do before more has happened.
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

    /// The reader of a request's content waits for it, or has made room.
    func continueContent(of exchange: ClientExchange) {
        guard case .serving(exchange) = phase else { return }
        if exchange.awaitsContinue, !exchange.hasHead {
            exchange.awaitsContinue = false
            context?.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
        }
        advance()
    }

    // MARK: Responses

    /// Called when the task of an exchange ends, for whatever reason.
    ///
    /// - Parameter isComplete: Whether the response has been written as a whole.
    func end(_ exchange: ClientExchange, isComplete: Bool) {
        runningCount -= 1
        if runningCount == 0, !isConnected { connections.remove(exchange.channel) }
        guard case .serving(exchange) = phase else { return }
        // The client must see that the response is not whole.
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

    /// What is no request is answered by the proxy, and ends the connection: nobody knows where the next one begins.
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

    /// Nobody waits for the response any more.
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

    /// - Parameter resets: Whether the client is to see an error rather than an end.
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

    /// A client that asks and does not take the answers is not asked for more.
    private var canWrite: Bool { context?.channel.isWritable ?? false }

    /// A connection that is not read from does not notice that its client has left; hence it is whenever there is room.
    private var wantsBytes: Bool {
        guard case .serving(let exchange) = phase else { return canWrite }
        if !content.isAtEnd, let stream = exchange.content {
            return stream.byteCount <= RequestContentStream.highWaterMark
        }
        return buffer.readableBytes <= Self.highWaterMark
    }
}

internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// Collects the requests of one connection and answers them one after the other. The event loop of the connection owns
/// all state. A pipelined request waits for the previous response. While a request waits, the handler does not read, so
/// it keeps at most the requests of one read.
final class ConnectionHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let configuration: LoopbackServer.Configuration
    private let connections: OpenConnections
    private let receive: @Sendable (ServerRequest) -> LoopbackServer.Answer

    private var arriving: ServerRequest?
    /// Whether the client waits for a 100 before it sends the content.
    private var owesContinue = false
    private var waiting = CircularBuffer<LoopbackServer.Answer>()
    private var running: Task<Void, Never>?
    private var holdsRead = false
    /// Closes the connection when no complete request arrives in time. Set while no answer runs.
    private var deadline: Scheduled<Void>?

    init(
        _ configuration: LoopbackServer.Configuration, _ connections: OpenConnections,
        _ receive: @escaping @Sendable (ServerRequest) -> LoopbackServer.Answer
    ) {
        self.configuration = configuration
        self.connections = connections
        self.receive = receive
    }

    // MARK: Connection

    func channelActive(context: ChannelHandlerContext) {
        if connections.admit(context.channel) {
            startDeadline(on: context.channel)
        } else {
            context.close(promise: nil)
        }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        waiting.removeAll()
        deadline?.cancel()
        running?.cancel()
        if running == nil { connections.remove(context.channel) }
        context.fireChannelInactive()
    }

    /// Closes the connection after input that is not HTTP.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError, configuration.answersMalformedRequests, running == nil else {
            return context.close(promise: nil)
        }
        refuse(context)
    }

    private func refuse(_ context: ChannelHandlerContext) {
        let response = ResponseHead.bytes(.badRequest, [.contentLength: "0", .connection: "close"])
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: response)), promise: nil)
        context.close(promise: nil)
    }

    private func startDeadline(on channel: any Channel) {
        guard let timeout = configuration.timeout else { return }
        deadline = channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) { channel.close(promise: nil) }
    }

    // MARK: Requests

    func read(context: ChannelHandlerContext) {
        if waiting.isEmpty {
            context.read()
        } else {
            holdsRead = true
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard let request = ServerRequest(head) else { return refuse(context) }
            arriving = request
            owesContinue = request.fields[.expect]?.lowercased() == "100-continue"
            if running == nil { sendContinue(on: context.channel) }
        case .body(let bytes):
            owesContinue = false
            arriving?.append(bytes, limit: configuration.contentLimit)
        case .end:
            owesContinue = false
            guard let request = arriving.take() else { return }
            waiting.append(receive(request))
            serveNext(on: context.channel)
        }
    }

    private func sendContinue(on channel: any Channel) {
        guard owesContinue else { return }
        owesContinue = false
        channel.writeAndFlush(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n"), promise: nil)
    }

    private func serveNext(on channel: any Channel) {
        guard running == nil, let answer = waiting.popFirst() else { return }
        deadline?.cancel()
        let handler = NIOLoopBound(self, eventLoop: channel.eventLoop)
        let connection = ServerConnection(channel: channel, timeout: configuration.timeout)
        running = Task {
            await answer(connection)
            channel.eventLoop.execute { handler.value.answerEnded(on: channel) }
        }
    }

    private func answerEnded(on channel: any Channel) {
        running = nil
        guard channel.isActive else { return connections.remove(channel) }
        serveNext(on: channel)
        if running == nil {
            startDeadline(on: channel)
            sendContinue(on: channel)
        }
        if holdsRead, waiting.isEmpty {
            holdsRead = false
            channel.read()
        }
    }
}

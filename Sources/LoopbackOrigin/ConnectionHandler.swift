internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// Collects the requests of one connection and answers them one after the other.
///
/// All state belongs to the event loop of the connection. Pipelined requests wait for the previous response.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let bodyLimit: Int
    private let connections: OpenConnections
    private let exchange: Exchange

    private var arriving: Exchange.Request?
    private var waiting: [Exchange.Request] = []
    private var running: Task<Void, Never>?

    init(bodyLimit: Int, connections: OpenConnections, exchange: Exchange) {
        self.bodyLimit = bodyLimit
        self.connections = connections
        self.exchange = exchange
    }

    func channelActive(context: ChannelHandlerContext) {
        if !connections.admit(context.channel) { context.close(promise: nil) }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        connections.remove(context.channel)
        waiting = []
        running?.cancel()
        context.fireChannelInactive()
    }

    /// Closes the connection after input that is not HTTP.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            let request = Exchange.Request(head)
            arriving = request
            if request.content.fields[.expect]?.lowercased() == "100-continue" {
                context.writeAndFlush(NIOAny(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")), promise: nil)
            }
        case .body(let bytes):
            arriving?.append(bytes, limit: bodyLimit)
        case .end:
            guard var request = arriving.take() else { return }
            exchange.log.record(&request.content)
            waiting.append(request)
            serveNext(on: context.channel)
        }
    }

    private func serveNext(on channel: any Channel) {
        guard running == nil, !waiting.isEmpty else { return }
        let request = waiting.removeFirst()
        let handler = NIOLoopBound(self, eventLoop: channel.eventLoop)
        running = Task { [exchange] in
            await exchange.run(request, on: channel)
            channel.eventLoop.execute {
                handler.value.running = nil
                handler.value.serveNext(on: channel)
            }
        }
    }
}

extension Exchange.Request {
    init(_ head: HTTPRequestHead) {
        var fields = HTTPFields()
        for (name, value) in head.headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        self.init(
            content: OriginRequest(
                method: HTTPRequest.Method(head.method.rawValue) ?? .get, path: head.uri, fields: fields),
            keepsAlive: head.isKeepAlive)
    }

    mutating func append(_ bytes: ByteBuffer, limit: Int) {
        let room = limit - content.body.count
        content.body += bytes.readableBytesView.prefix(room)
        if bytes.readableBytes > room { isTooLarge = true }
    }
}

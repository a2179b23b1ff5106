internal import CacheLoader
internal import HTTPTypes
internal import NIOCore

/// One request of a client and its response, as the connection sees them.
///
/// Belongs to the connection's event loop; the task that asks the cache reaches it there through ``ResponseSender``.
final class ClientExchange {
    let head: RequestHead
    /// The content of the request; `nil` for none.
    private(set) var content: RequestContentStream?
    /// Whether the client waits for 100 before it sends the content.
    var awaitsContinue: Bool
    /// Whether the head of the response has been written.
    private(set) var hasHead = false
    /// Whether the connection ends with the response; known once that has a head.
    private(set) var closes = false
    private(set) var framing = ResponseFraming.none

    let channel: any Channel
    private let handler: ConnectionHandler
    private var task: Task<Void, Never>?

    init(_ head: RequestHead, on channel: any Channel, handler: ConnectionHandler) {
        self.head = head
        self.channel = channel
        self.handler = handler
        awaitsContinue = head.expectsContinue
    }

    /// Asks the cache, and sends what it answers.
    func start(_ request: HTTPRequest, gateway: Gateway) {
        let exchange = NIOLoopBound(self, eventLoop: channel.eventLoop)
        let eventLoop = channel.eventLoop
        if head.framing != .none {
            var length: Int64?
            if case .length(let count) = head.framing { length = count }
            content = RequestContentStream(length: length) { _ in
                eventLoop.execute { exchange.value.handler.continueContent(of: exchange.value) }
            }
        }
        task = Task { [content, channel] in
            await ResponseSender(exchange: exchange, eventLoop: eventLoop, allocator: channel.allocator)
                .answer(request, content: content, from: gateway)
        }
    }

    func cancel() {
        task?.cancel()
    }

    // MARK: The task's side, on the event loop

    /// Writes the head of the response, and decides how its end is found.
    ///
    /// - Parameter flushes: Whether it goes out at once, or with what follows it.
    func begin(_ response: HTTPResponse, flushes: Bool) -> ResponseFraming {
        framing = ResponseFraming(status: response.status, fields: response.headerFields, answering: head)
        // A client that still waits for 100 may send its content or not: nobody knows where its next request begins.
        closes = head.isLast || handler.isDraining || awaitsContinue || framing == .untilClose
        hasHead = true
        var bytes = channel.allocator.buffer(capacity: 1024)
        framing.write(response, closes: closes, into: &bytes)
        flushes ? channel.writeAndFlush(bytes, promise: nil) : channel.write(bytes, promise: nil)
        return framing
    }

    /// Writes bytes; the result comes when the system has taken them.
    func write(_ bytes: ByteBuffer) -> EventLoopFuture<Void> {
        channel.writeAndFlush(bytes)
    }

    /// The response is complete, or will never be.
    func end(isComplete: Bool) {
        // What has not gone out with any content goes now.
        channel.flush()
        task = nil
        handler.end(self, isComplete: isComplete)
    }
}

extension ClientExchange: Equatable {
    static func == (left: ClientExchange, right: ClientExchange) -> Bool { left === right }
}

internal import CacheLoader
internal import HTTPTypes
internal import NIOCore

/// One request of a client and its response.
///
/// Belongs to the event loop of the connection. The task that calls the cache accesses the exchange there through
/// ``ResponseSender``.
final class ClientExchange {
    /// The largest content to read and send without a task.
    private static let smallByteCount: Int64 = 65_536

    let head: RequestHead
    /// The content of the request, if any.
    private(set) var content: RequestContentStream?
    /// Whether the client waits for 100 before it sends the content.
    var awaitsContinue: Bool
    /// Whether the head of the response has been written.
    private(set) var hasHead = false
    /// Whether the connection ends with the response; valid once ``hasHead`` is true.
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

    /// Answers on the event loop, without a task, if the store has the whole content and the content is small.
    ///
    /// - Returns: Whether the response was written. Bytes that the system has not accepted stay in the channel until a
    ///   flush.
    func answerAtOnce(_ response: CachedResponse) -> Bool {
        guard let byteCount = response.body.byteCount, byteCount <= Self.smallByteCount else { return false }
        let head = HTTPResponse(of: response)
        decide(head, byteCount: byteCount)
        guard framing == .none || framing == .length(byteCount) else { return false }
        guard let content = try? response.body.storedData(upTo: Self.smallByteCount) else { return false }
        var bytes = channel.allocator.buffer(capacity: content.count + 1024)
        framing.write(head, closes: closes, into: &bytes)
        hasHead = true
        if !content.isEmpty { framing.write(content, into: &bytes) }
        if closes {
            // Close the connection only after the system has accepted all bytes: an earlier close would drop the rest.
            let exchange = NIOLoopBound(self, eventLoop: channel.eventLoop)
            channel.writeAndFlush(bytes).whenComplete { _ in exchange.value.end(isComplete: true) }
        } else {
            channel.write(bytes, promise: nil)
            end(isComplete: true)
        }
        return true
    }

    /// Starts a task that sends the response of the cache.
    ///
    /// - Parameter stored: The response of the store, if any.
    func start(_ request: HTTPRequest, stored: CachedResponse?, gateway: Gateway) {
        let exchange = NIOLoopBound(self, eventLoop: channel.eventLoop)
        let eventLoop = channel.eventLoop
        if head.framing != .none {
            var length: Int64?
            if case .length(let count) = head.framing { length = count }
            content = RequestContentStream(length: length) { _ in
                eventLoop.execute { exchange.value.handler.continueContent(of: exchange.value) }
            }
        }
        task = Task { [content, channel, isHTTP10 = head.isHTTP10] in
            // RFC 9110 §15.2: "a server MUST NOT send a 1xx response to an HTTP/1.0 client".
            await ResponseSender(exchange: exchange, eventLoop: eventLoop, allocator: channel.allocator)
                .answer(
                    request, content: content, stored: stored, from: gateway, forwardsInterimResponses: !isHTTP10)
        }
    }

    func cancel() {
        task?.cancel()
    }

    // MARK: The task's side, on the event loop

    /// Writes the head of an interim response, unless the final response has begun (RFC 9110 §15.2).
    ///
    /// Drops 100, because the proxy removes `Expect: 100-continue` and sends 100 itself. Drops any other interim
    /// response while the client does not read, because the origin must not fill the memory of the proxy.
    func forward(_ response: HTTPResponse) {
        guard !hasHead, response.status != .continue, channel.isWritable, handler.isServing(self) else { return }
        var bytes = channel.allocator.buffer(capacity: 512)
        ResponseFraming.none.write(
            HTTPResponse(status: response.status, headerFields: response.headerFields.endToEnd), closes: false,
            into: &bytes)
        channel.writeAndFlush(bytes, promise: nil)
    }

    /// Writes the head of the response, and chooses the framing of the content.
    ///
    /// - Parameter flushes: Whether to send the head immediately instead of with the following bytes.
    func begin(_ response: HTTPResponse, byteCount: Int64?, flushes: Bool) -> ResponseFraming {
        decide(response, byteCount: byteCount)
        hasHead = true
        var bytes = channel.allocator.buffer(capacity: 1024)
        framing.write(response, closes: closes, into: &bytes)
        flushes ? channel.writeAndFlush(bytes, promise: nil) : channel.write(bytes, promise: nil)
        return framing
    }

    private func decide(_ response: HTTPResponse, byteCount: Int64?) {
        framing = ResponseFraming(response, byteCount: byteCount, answering: head)
        // A client that still waits for 100 may or may not send its content, so the start of its next request is
        // unknown.
        closes = head.isLast || handler.isDraining || awaitsContinue || framing == .untilClose
    }

    /// Writes bytes. The future succeeds once the system has accepted them.
    func write(_ bytes: ByteBuffer) -> EventLoopFuture<Void> {
        channel.writeAndFlush(bytes)
    }

    /// Ends the exchange. The response is complete, or will never be.
    func end(isComplete: Bool) {
        task = nil
        handler.end(self, isComplete: isComplete)
    }
}

extension ClientExchange: Equatable {
    static func == (left: ClientExchange, right: ClientExchange) -> Bool { left === right }
}

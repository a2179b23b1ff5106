internal import CacheLoader
internal import HTTPTypes
internal import NIOCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Requests one response from the cache, and sends it at the pace of the client.
struct ResponseSender: Sendable {
    let exchange: NIOLoopBound<ClientExchange>
    let eventLoop: any EventLoop
    let allocator: ByteBufferAllocator

    /// Returns when the response is complete, or when the client or the origin has closed its connection.
    ///
    /// - Parameter forwardsInterimResponses: Whether to forward the interim responses of the origin to the client.
    func answer(
        _ request: HTTPRequest, content: RequestContentStream?, stored: CachedResponse?, from gateway: Gateway,
        forwardsInterimResponses: Bool
    ) async {
        var isComplete = false
        do {
            if let stored {
                try await send(HTTPResponse(of: stored), stored.body, isAtHand: true)
            } else {
                let response = try await response(
                    to: request, content: content, from: gateway,
                    onInterimResponse: forwardsInterimResponses ? forward : nil)
                try await send(response.head, response.body, isAtHand: response.isAtHand)
            }
            isComplete = true
        } catch {
            // An incomplete response signals the failure to a client that is still connected.
        }
        eventLoop.execute { [exchange, isComplete] in exchange.value.end(isComplete: isComplete) }
    }

    private func response(
        to request: HTTPRequest, content: RequestContentStream?, from gateway: Gateway,
        onInterimResponse: (@Sendable (HTTPResponse) -> Void)?
    ) async throws(LoadError) -> (head: HTTPResponse, body: ResponseBody?, isAtHand: Bool) {
        do {
            let response = try await gateway.response(
                for: request, content: content, onInterimResponse: onInterimResponse)
            let head = HTTPResponse(status: response.status, headerFields: response.headerFields.endToEnd)
            return (head, response.body, isAtHand: ![.network, .tier].contains(response.source))
        } catch .cancelled {
            throw .cancelled
        } catch {
            // An invalid URL is the client's error. Other errors, such as an unreadable store, are internal.
            let status: HTTPResponse.Status =
                if case .invalidURL = error { .badRequest } else { .internalServerError }
            return (HTTPResponse(status: status, headerFields: [.contentLength: "0"]), nil, isAtHand: true)
        }
    }

    /// Sends an interim response. The cache calls this before it returns, so the event loop runs it before the final
    /// head.
    @Sendable private func forward(_ response: HTTPResponse) {
        eventLoop.execute { [exchange] in exchange.value.forward(response) }
    }

    private func send(_ head: HTTPResponse, _ body: ResponseBody?, isAtHand: Bool) async throws {
        // Flush the head of a response from the origin, because its content may arrive much later.
        let framing = try await eventLoop.submit { [exchange] in
            exchange.value.begin(head, byteCount: body?.byteCount, flushes: !isAtHand)
        }.get()
        var remaining: Int64 = if case .length(let length) = framing { length } else { .max }
        // Reads the next piece while the system sends the previous one.
        var latest = eventLoop.makeSucceededVoidFuture()
        var chunks = body?.makeAsyncIterator()
        var chunk = try await chunks?.next()
        while let bytes = chunk {
            remaining -= Int64(bytes.count)
            guard remaining >= 0 else { throw TransportError(.malformedResponse, message: "longer than its length") }
            // Sends the last bytes only after the end of the body has been read, because the response is stored by
            // then. A client with the whole response then finds it in the cache.
            if remaining == 0 { chunk = try await chunks?.next() }
            if framing != .none {
                var buffer = allocator.buffer(capacity: bytes.count + 32)
                framing.write(bytes, into: &buffer)
                let written = write(buffer)
                try await latest.get()
                latest = written
            }
            if remaining > 0 { chunk = try await chunks?.next() }
        }
        if case .length = framing, remaining > 0 {
            throw TransportError(.truncated, message: "shorter than its length")
        }
        // Send the rest: a head without content, or the end of the framing.
        var buffer = allocator.buffer(capacity: 8)
        framing.writeEnd(into: &buffer)
        try await write(buffer).get()
    }

    private func write(_ bytes: ByteBuffer) -> EventLoopFuture<Void> {
        eventLoop.flatSubmit { [exchange] in exchange.value.write(bytes) }
    }
}

extension HTTPResponse {
    /// The head of a response of the cache.
    init(of response: CachedResponse) {
        self.init(status: response.status, headerFields: response.headerFields)
    }
}

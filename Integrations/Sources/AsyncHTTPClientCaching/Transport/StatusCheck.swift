public import AsyncHTTPClient
internal import CacheLoader
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP1
internal import NIOHTTP2

extension HTTPClient.Configuration {
    /// Fails an exchange if the status of its response is not a three-digit number from 100 (RFC 9110 §15).
    ///
    /// Such a status crashes the process with AsyncHTTPClient 1.37. So call this method for the client of an
    /// ``AsyncHTTPClientTransport`` unless you trust all origins. Keeps the debug initializers of the configuration,
    /// and runs them after its own.
    public mutating func rejectInvalidStatuses() {
        http1_1ConnectionDebugInitializer = Self.initializer(before: http1_1ConnectionDebugInitializer) { pipeline in
            let decoder = try pipeline.context(handlerType: ByteToMessageHandler<HTTPResponseDecoder>.self).handler
            try pipeline.addHandler(StatusCheck<HTTPClientResponsePart>(), position: .after(decoder))
        }
        http2StreamChannelDebugInitializer = Self.initializer(before: http2StreamChannelDebugInitializer) { pipeline in
            // Before the codec, which traps on a negative number.
            try pipeline.addHandler(StatusCheck<HTTP2Frame.FramePayload>(), position: .first)
        }
    }

    private static func initializer(
        before next: (@Sendable (any Channel) -> EventLoopFuture<Void>)?,
        _ addCheck: @escaping @Sendable (ChannelPipeline.SynchronousOperations) throws -> Void
    ) -> @Sendable (any Channel) -> EventLoopFuture<Void> {
        { channel in
            let isAdded = channel.eventLoop.makeCompletedFuture { try addCheck(channel.pipeline.syncOperations) }
            guard let next else { return isAdded }
            return isAdded.flatMap { next(channel) }
        }
    }
}

/// A part of a response that may contain a status.
private protocol ResponsePart {
    /// Whether the part has a valid status or none.
    var hasValidStatus: Bool { get }
}

extension HTTPClientResponsePart: ResponsePart {
    fileprivate var hasValidStatus: Bool {
        guard case .head(let head) = self else { return true }
        return (100...999).contains(head.status.code)
    }
}

extension HTTP2Frame.FramePayload: ResponsePart {
    fileprivate var hasValidStatus: Bool {
        // Trailer fields have no status. NIOHTTP2 rejects a head without a status.
        guard case .headers(let frame) = self, let status = frame.headers.first(name: ":status") else { return true }
        // RFC 9113 §8.1: an interim response must not end its stream.
        if status.hasPrefix("1"), frame.endStream { return false }
        return status.utf8.count == 3 && status.utf8.allSatisfy { (0x30...0x39).contains($0) } && status.first != "0"
    }
}

/// Closes the channel of a response with an invalid status before AsyncHTTPClient sees the response.
private final class StatusCheck<Part: ResponsePart & Sendable>: ChannelInboundHandler {
    typealias InboundIn = Part

    private var hasFailed = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasFailed else { return }
        guard unwrapInboundIn(data).hasValidStatus else {
            hasFailed = true
            context.fireErrorCaught(
                TransportError(.malformedResponse, message: "the status is not a number of three digits from 100"))
            context.close(promise: nil)
            return
        }
        context.fireChannelRead(data)
    }
}

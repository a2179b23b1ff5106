internal import HTTPTypes
internal import NIOCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Answers requests: calls the reply closure, plans the response, sends the response.
struct Exchange: Sendable {
    /// A request with the information that the connection needs.
    struct Request: Sendable {
        var content: OriginRequest
        var keepsAlive: Bool
        var isTooLarge = false
    }

    let log: RequestLog
    let date: @Sendable () -> String?
    let reply: @Sendable (OriginRequest) async -> OriginReply

    /// Answers `request` on `channel`. Closes the connection if the reply or the request asks for it.
    ///
    /// Returns early if the connection is lost.
    func run(_ request: Request, on channel: any Channel) async {
        let reply = request.isTooLarge ? .status(.contentTooLarge) : await reply(request.content)
        if reply.status == .notModified { log.recordNotModified() }
        let plan = ResponsePlan(
            reply, to: request.content.method, keepsAlive: request.keepsAlive, date: reply.addsDate ? date() : nil)
        do {
            try await send(plan, on: channel)
            switch plan.ending {
            case .keepAlive:
                break
            case .close:
                try await channel.close()
            case .stall:
                try await channel.closeFuture.get()
            case .reset:
                // Closing a socket with a linger time of 0 sends RST in place of FIN.
                try await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
                try await channel.close()
            }
        } catch {
            // The connection is lost, so no client can receive an error.
            channel.close(promise: nil)
        }
    }

    private func send(_ plan: ResponsePlan, on channel: any Channel) async throws {
        var buffer = channel.allocator.buffer(bytes: plan.head)
        var bodyBytes = 0
        for (index, piece) in plan.pieces.enumerated() {
            if let pace = plan.pace {
                try await flush(&buffer, bodyBytes: &bodyBytes, to: channel)
                await pace(index)
            }
            plan.write(piece, into: &buffer)
            bodyBytes += piece.count
        }
        buffer.writeString(plan.trailer)
        try await flush(&buffer, bodyBytes: &bodyBytes, to: channel)
    }

    /// Returns only after the operating system has accepted the bytes, so that a reset can follow them.
    private func flush(_ buffer: inout ByteBuffer, bodyBytes: inout Int, to channel: any Channel) async throws {
        guard buffer.readableBytes > 0 else { return }
        try await channel.writeAndFlush(buffer)
        log.recordBody(bytes: bodyBytes)
        buffer.clear()
        bodyBytes = 0
    }
}

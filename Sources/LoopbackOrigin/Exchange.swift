internal import LoopbackHTTP
internal import NIOCore

/// Answers requests: calls the reply closure, plans the response, and sends it.
struct Exchange: Sendable {
    let log: RequestLog
    let date: @Sendable () -> String?
    let reply: @Sendable (OriginRequest) async -> OriginReply

    /// Answers `request`, which the server received as `received`. Then closes the connection if the reply or the
    /// request demands it. Returns early if the connection is lost.
    func run(_ request: OriginRequest, _ received: ServerRequest, on connection: ServerConnection) async {
        let reply = received.isTooLarge ? .status(.contentTooLarge) : await reply(request)
        if reply.status == .notModified { log.recordNotModified() }
        let plan = ResponsePlan(
            reply, to: request.method, keepsAlive: received.keepsAlive, date: reply.addsDate ? date() : nil)
        do {
            try await send(plan, on: connection)
            switch plan.ending {
            case .keepAlive: break
            case .close: try await connection.close()
            case .stall: try await connection.waitUntilClosed()
            case .reset: try await connection.reset()
            }
        } catch {
            // No client can receive an error on a lost connection.
            try? await connection.close()
        }
    }

    private func send(_ plan: ResponsePlan, on connection: ServerConnection) async throws {
        var buffer = ByteBuffer(bytes: plan.head)
        var bodyBytes = 0
        for (index, piece) in plan.pieces.enumerated() {
            if let pace = plan.pace {
                try await flush(&buffer, bodyBytes: &bodyBytes, to: connection)
                await pace(index)
            }
            plan.write(piece, into: &buffer)
            bodyBytes += piece.count
        }
        buffer.writeString(plan.trailer)
        try await flush(&buffer, bodyBytes: &bodyBytes, to: connection)
    }

    /// Returns only after the operating system has accepted the bytes, so that a reset can follow them.
    private func flush(_ buffer: inout ByteBuffer, bodyBytes: inout Int, to connection: ServerConnection) async throws {
        guard buffer.readableBytes > 0 else { return }
        try await connection.send(buffer)
        log.recordBody(bytes: bodyBytes)
        buffer.clear()
        bodyBytes = 0
    }
}

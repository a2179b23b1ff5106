package import NIOCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The connection of a request, used to send its response.
package struct ServerConnection: Sendable {
    let channel: any Channel
    let timeout: Duration?

    /// Returns only after the operating system has accepted the bytes. Throws for a lost connection. Closes the
    /// connection of a client that does not read in time.
    package func send(_ bytes: ByteBuffer) async throws {
        let deadline = timeout.map { timeout in
            channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) { channel.close(promise: nil) }
        }
        defer { deadline?.cancel() }
        try await channel.writeAndFlush(bytes)
    }

    package func send(_ bytes: [UInt8]) async throws {
        try await send(channel.allocator.buffer(bytes: bytes))
    }

    /// Closes the connection after the sent bytes.
    package func close() async throws {
        try await channel.close()
    }

    /// Closes the connection with a TCP reset.
    package func reset() async throws {
        // Closing a socket with a linger time of 0 sends RST instead of FIN.
        try await (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        try await channel.close()
    }

    /// Returns when the client has disconnected or the server has stopped.
    package func waitUntilClosed() async throws {
        try await channel.closeFuture.get()
    }
}

/// Reads bodies that a load does not need, so that the transport can reuse their connections.
extension CachedResponse {
    /// The maximum number of bytes to read. Beyond it, closing the connection costs less than receiving the rest.
    private static let maxDrainedByteCount = 65_536

    /// The time limit for reading a body in the background.
    private static let maxDrainingTime = Duration.seconds(5)

    /// Reads the body up to its end or a limit of bytes. The store keeps a body read to its end, if it may be stored.
    func drain() async {
        var rest = Self.maxDrainedByteCount
        var chunks = body.makeAsyncIterator()
        while rest > 0, let chunk = try? await chunks.next() { rest -= chunk.count }
    }

    /// Drains the body while the load continues. The time limit ends the task, even after the release of the loader.
    package func drainInBackground(sleep: @escaping @Sendable (Duration) async throws -> Void) {
        Task { await withTimeLimit(Self.maxDrainingTime, sleep) { await drain() } }
    }
}

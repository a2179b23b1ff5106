/// Reads bodies that a load does not need, so that their connections are used again.
extension CachedResponse {
    /// The most bytes of a body to read. To close the connection costs less than to receive more.
    private static let maxDrainedByteCount = 65_536

    /// The longest time to read a body in the background.
    private static let maxDrainingTime = Duration.seconds(5)

    /// Reads the body up to its end or a limit of bytes. At the end the response is stored, if it may be.
    func drain() async {
        var rest = Self.maxDrainedByteCount
        var chunks = body.makeAsyncIterator()
        while rest > 0, let chunk = try? await chunks.next() { rest -= chunk.count }
    }

    /// Drains the body while the load goes on. A time limit ends the task, also after the load and its loader are gone.
    func drainInBackground(sleep: @escaping @Sendable (Duration) async throws -> Void) {
        let draining = Task { await drain() }
        Task {
            let timer = Task {
                guard (try? await sleep(Self.maxDrainingTime)) != nil else { return }
                draining.cancel()
            }
            await draining.value
            timer.cancel()
        }
    }
}

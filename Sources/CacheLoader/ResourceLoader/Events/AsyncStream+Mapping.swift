extension AsyncStream where Element: Sendable {
    /// Returns a stream of `first`, if it is set, and then of the transformed elements of this stream. Skips `nil`.
    /// Releasing the returned stream, or cancelling its reader, releases this one.
    func mapped<Other: Sendable>(
        after first: Other? = nil, _ transform: @escaping @Sendable (Element) async -> Other?
    ) -> AsyncStream<Other> {
        let (stream, continuation) = AsyncStream<Other>.makeStream()
        if let first { continuation.yield(first) }
        let task = Task {
            for await element in self {
                if let other = await transform(element) { continuation.yield(other) }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

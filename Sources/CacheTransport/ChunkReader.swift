internal import CacheFoundation

/// Reads the chunks of a sequence. An actor, because an iterator need not be `Sendable`.
actor ChunkReader<Chunks: AsyncSequence & Sendable> where Chunks.Element == Data {
    private var iterator: Chunks.AsyncIterator
    private let failure: @Sendable (any Error) -> TransportError

    /// `failure` translates an error of the sequence that is neither a ``TransportError`` nor a cancellation.
    init(_ chunks: Chunks, failure: @escaping @Sendable (any Error) -> TransportError) {
        iterator = chunks.makeAsyncIterator()
        self.failure = failure
    }

    /// Returns the next chunk, never empty. Calls must not overlap.
    func next() async throws(TransportError) -> Data? {
        do {
            // An actor cannot lend its property to an asynchronous call.
            var iterator = iterator
            defer { self.iterator = iterator }
            while let chunk = try await iterator.next(isolation: self) {
                if !chunk.isEmpty { return chunk }
            }
        } catch let error as TransportError {
            throw error
        } catch is CancellationError {
            throw TransportError(.cancelled)
        } catch {
            throw failure(error)
        }
        guard !Task.isCancelled else { throw TransportError(.cancelled) }
        return nil
    }
}

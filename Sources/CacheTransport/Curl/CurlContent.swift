#if Curl && !canImport(Darwin)
internal import CacheFoundation

/// The content of a request on its way from the program to libcurl: one chunk at a time. The owner guards it.
struct CurlContent {
    enum Taking {
        /// So many bytes were copied; 0 at the end of the content.
        case bytes(Int)
        /// The program has not produced the next chunk yet.
        case awaited
        case failed
    }

    typealias Waiter = CheckedContinuation<Bool, Never>

    /// Whether the content is in memory, so that it can be sent again.
    let isRepeatable: Bool
    /// Whether libcurl waits for the program.
    private(set) var isAwaited = false
    /// Produces the chunks of a stream.
    var producer: Task<Void, Never>?

    private var chunk: Data
    private var takenByteCount = 0
    private var isFinished: Bool
    /// The producer, which waits until the chunk is taken.
    private var waiter: Waiter?

    init(_ content: RequestContent) {
        isRepeatable = content.isRepeatable
        isFinished = content.isRepeatable
        chunk = content.data ?? Data()
    }

    /// Adds the next chunk of a stream; `waiter` learns when it is taken. Returns whether libcurl waits for it.
    mutating func offer(_ chunk: Data, _ waiter: Waiter) -> Bool {
        (self.chunk, takenByteCount, self.waiter) = (chunk, 0, waiter)
        defer { isAwaited = false }
        return isAwaited
    }

    /// Ends the stream. Returns whether libcurl waits for it.
    mutating func finish() -> Bool {
        isFinished = true
        defer { isAwaited = false }
        return isAwaited
    }

    /// Copies the next bytes. Returns the producer too, if the chunk is taken.
    mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> (Taking, Waiter?) {
        let rest = chunk.dropFirst(takenByteCount)
        guard !rest.isEmpty else {
            if isFinished { return (.bytes(0), nil) }
            isAwaited = true
            return (.awaited, nil)
        }
        let count = min(rest.count, buffer.count)
        rest.prefix(count).copyBytes(to: buffer)
        takenByteCount += count
        return (.bytes(count), takenByteCount == chunk.count ? waiter.take() : nil)
    }

    /// Returns to the first byte. Returns `false` if the content is a stream.
    mutating func rewind() -> Bool {
        guard isRepeatable else { return false }
        takenByteCount = 0
        return true
    }

    /// Stops the stream. The owner calls the result outside of its lock.
    mutating func end() -> @Sendable () -> Void {
        let (waiter, producer) = (waiter.take(), producer.take())
        return {
            waiter?.resume(returning: false)
            producer?.cancel()
        }
    }
}
#endif

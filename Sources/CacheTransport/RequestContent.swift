public import CacheFoundation
internal import Synchronization

/// The content of a request; the transport pulls it chunk by chunk while sending.
///
/// One reader, the transport, reads the content once. The loader can send content made of data again if it must ask an
/// origin twice. The loader cannot send a stream again.
///
/// ```swift
/// let upload = RequestContent(length: size) { () async throws(TransportError) in try await nextChunk() }
/// let response = try await cache.response(for: request, content: upload)
/// ```
public struct RequestContent: Sendable {
    /// The number of bytes, if it is known before the last byte.
    public let length: Int64?

    /// The whole content, if it is in memory, or `nil` for a stream. A transport may send such content a second time.
    public let data: Data?

    private let chunks: ContentChunks

    /// Creates content from data in memory.
    public init(_ data: Data) {
        length = Int64(data.count)
        self.data = data
        chunks = ContentChunks(data)
    }

    /// Creates content from a function that produces it during sending.
    ///
    /// - Parameters:
    ///   - length: The number of bytes, if known. Without a length HTTP/1.1 sends chunks.
    ///   - next: Waits for the next chunk and returns `nil` after the last. Calls never overlap. An error ends the
    ///     exchange.
    public init(length: Int64?, next: @escaping @Sendable () async throws(TransportError) -> Data?) {
        precondition(length.map { $0 >= 0 } ?? true, "a length is not negative")
        self.length = length
        data = nil
        chunks = ContentChunks(length: length, next)
    }

    /// Creates content from a sequence of chunks, which is read during sending.
    ///
    /// An error of the sequence ends the exchange: a ``TransportError`` unchanged, any other error as
    /// ``TransportError/Code/other``. If the sending task is cancelled, the end of the sequence does not make the
    /// content complete, because a sequence such as `AsyncStream` then ends early.
    ///
    /// - Parameters:
    ///   - length: The number of bytes, if known. Without a length HTTP/1.1 sends chunks.
    ///   - chunks: The chunks. Empty ones are omitted.
    public init<Chunks: AsyncSequence & Sendable>(length: Int64?, _ chunks: Chunks) where Chunks.Element == Data {
        let reader = ChunkReader(chunks) {
            TransportError(.other, message: "the content of the request failed: \($0)")
        }
        self.init(length: length) { () async throws(TransportError) in try await reader.next() }
    }

    /// Returns the next chunk, never empty, or `nil` after the last.
    ///
    /// - Throws: The error of the source; ``TransportError/Code/unsupportedRequest`` if the source does not return
    ///   exactly ``length`` bytes.
    public func next() async throws(TransportError) -> Data? {
        try await chunks.next()
    }

    /// Whether the loader can send the content more than once.
    package var isRepeatable: Bool { data != nil }

    /// Returns the content from its first byte, for another attempt. Throws ``TransportError/Code/unsupportedRequest``
    /// for a stream that was already sent.
    package func forSending() throws(TransportError) -> RequestContent {
        if let data { return RequestContent(data) }
        guard chunks.take() else {
            throw TransportError(.unsupportedRequest, message: "content that is a stream can be sent only once")
        }
        return self
    }
}

/// The chunks of a content, and the position of its reader.
private final class ContentChunks: Sendable {
    private struct State {
        var isTaken = false
        var rest: Data?
        var sentByteCount: Int64 = 0
    }

    private let length: Int64?
    private let source: (@Sendable () async throws(TransportError) -> Data?)?

    /// Guards the position of the reader.
    private let state: Mutex<State>

    init(_ data: Data) {
        length = nil
        source = nil
        state = Mutex(State(rest: data.isEmpty ? nil : data))
    }

    init(length: Int64?, _ source: @escaping @Sendable () async throws(TransportError) -> Data?) {
        self.length = length
        self.source = source
        state = Mutex(State())
    }

    /// Marks a stream as taken. Returns `false` from the second call on.
    func take() -> Bool {
        state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
    }

    func next() async throws(TransportError) -> Data? {
        guard let source else { return state.withLock { $0.rest.take() } }
        var chunk = try await source()
        while let empty = chunk, empty.isEmpty { chunk = try await source() }
        let count = Int64(chunk?.count ?? 0)
        let sent = state.withLock { state in
            state.sentByteCount += count
            return state.sentByteCount
        }
        // RFC 9112 §6.3: a wrong length breaks the connection for later requests.
        if let length, sent > length || (chunk == nil && sent < length) {
            throw TransportError(
                .unsupportedRequest, message: "the content has not the \(length) bytes that were announced")
        }
        return chunk
    }
}

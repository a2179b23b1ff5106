internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The content of a request, pulled chunk by chunk while it is sent.
///
/// One reader reads it, once: that is the transport. Content made of data can be sent again, and is when an origin has to
/// be asked twice; a stream cannot.
///
/// ```swift
/// let upload = RequestContent(length: size) { () async throws(TransportError) in try await nextChunk() }
/// let response = try await cache.response(for: request, content: upload)
/// ```
public struct RequestContent: Sendable {
    /// How many bytes there are; `nil` if that is not known before the last.
    public let length: Int64?

    /// All of it, if it is in memory.
    package let data: Data?

    private let chunks: ContentChunks

    /// Content that is in memory.
    public init(_ data: Data) {
        length = Int64(data.count)
        self.data = data
        chunks = ContentChunks(data)
    }

    /// Content that is made while it is sent.
    ///
    /// - Parameters:
    ///   - length: How many bytes there will be; `nil` if that is not known, in which case HTTP/1.1 sends chunks.
    ///   - next: Waits for the next chunk and returns `nil` after the last. Never called twice at once. What it throws ends
    ///     the exchange.
    public init(length: Int64?, next: @escaping @Sendable () async throws(TransportError) -> Data?) {
        precondition(length.map { $0 >= 0 } ?? true, "a length is not negative")
        self.length = length
        data = nil
        chunks = ContentChunks(length: length, next)
    }

    /// The next chunk, never empty; `nil` after the last.
    ///
    /// - Throws: What the source of the bytes threw; ``TransportError/Code/unsupportedRequest`` when it had not as many as
    ///   ``length`` promised.
    public func next() async throws(TransportError) -> Data? {
        try await chunks.next()
    }

    /// Whether it can be sent more than once.
    package var isRepeatable: Bool { data != nil }

    /// The content from its first byte, for one more sending.
    ///
    /// - Throws: ``TransportError/Code/unsupportedRequest`` for a stream that has been sent before.
    package func forSending() throws(TransportError) -> RequestContent {
        if let data { return RequestContent(data) }
        guard chunks.take() else {
            throw TransportError(.unsupportedRequest, message: "content that is a stream can be sent only once")
        }
        return self
    }
}

/// How far a content has been read.
private final class ContentChunks: Sendable {
    private struct State {
        var isTaken = false
        var rest: Data?
        var sentByteCount: Int64 = 0
    }

    private let length: Int64?
    private let source: (@Sendable () async throws(TransportError) -> Data?)?

    /// Guards how far the reader has come.
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

    /// `false` from the second time on.
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
        // RFC 9112 §6.3: a length that is not kept to breaks the connection for the requests that follow.
        if let length, sent > length || (chunk == nil && sent < length) {
            throw TransportError(
                .unsupportedRequest, message: "the content has not the \(length) bytes that were announced")
        }
        return chunk
    }
}

// The module `CacheTransport` has the protocol of transports, the transport on URLSession, the content of requests,
// proxies and certificates. The module may use the network, and read files of certificates. The module uses no store,
// follows no redirect, and decides nothing about caching.

public import CacheFoundation
// A transport takes requests and returns responses of HTTPTypes, so its users need no second import.
@_exported public import HTTPTypes
internal import Synchronization

/// Carries one request to an origin and its response back.
///
/// A transport only moves messages: it follows no redirects, keeps no cookies, uses no cache and adds no credentials.
/// The loader is responsible for these tasks. So the loader caches each redirect step under its own URL, and follows
/// RFC 9111 with every transport.
public protocol HTTPTransport: Sendable {
    /// Returns the request as the transport will send it, with the fields that it adds, such as `Accept-Encoding`.
    ///
    /// The loader matches `Vary` against the returned request. So the returned request must contain all fields that the
    /// origin will receive (RFC 9111 §4.1). Preparing twice must change nothing. A transport that adds nothing returns
    /// the request unchanged. A transport that wraps another one forwards the call.
    func prepare(_ request: HTTPRequest) -> HTTPRequest

    /// Sends `request` and returns once the head of the final response has arrived.
    ///
    /// Cancelling the calling task cancels the exchange. The caller decides whether to send a request again.
    ///
    /// Calls `onInterimResponse` for each response with a status from 100 to 199 (RFC 9110 §15.2), in order and before
    /// this method returns. 101 is the exception: it is a final response, and is returned. A transport whose network
    /// layer hides interim responses never calls it. A transport that wraps another one forwards it.
    ///
    /// - Parameters:
    ///   - request: The prepared head with an absolute URL: scheme, authority and path are set.
    ///   - content: The content of the request; the transport reads it once. `nil` for none.
    ///   - onInterimResponse: Receives the head of each interim response, on any thread. Must not block.
    /// - Throws: ``TransportError`` if no complete final head arrived.
    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse

    /// Whether a body in a content coding that the transport does not know arrives as the origin sent it; `true` by
    /// default.
    ///
    /// If `false`, a cache offers no compression dictionaries (RFC 9842). A transport that wraps another one returns
    /// the value of the wrapped one.
    var passesUnknownCodings: Bool { get }
}

extension HTTPTransport {
    /// `true`.
    public var passesUnknownCodings: Bool { true }

    /// Sends `request` without its interim responses; see ``send(_:content:onInterimResponse:)``.
    public func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        try await send(request, content: content) { _ in }
    }
}

/// The head of a response, and its arriving body.
public struct TransportResponse: Sendable {
    /// The received head, without `Content-Encoding` and `Content-Length` if the transport decoded the body.
    public var head: HTTPResponse

    /// The arriving body.
    public var body: TransportBody

    /// Whether the transport removed a content coding, so that the bytes of ``body`` are not those of the origin.
    ///
    /// Such a body cannot serve ranges, because ranges count encoded bytes (RFC 9110 §14.1.2).
    public var isBodyDecoded: Bool

    /// Whether a shared tier between the store and the origin answered alone. Cache and loader then report
    /// `ResponseSource.tier`, and the store counts the request separately from misses.
    public var isFromTier: Bool

    /// Creates a response.
    public init(head: HTTPResponse, body: TransportBody, isBodyDecoded: Bool = false, isFromTier: Bool = false) {
        self.head = head
        self.body = body
        self.isBodyDecoded = isBodyDecoded
        self.isFromTier = isFromTier
    }
}

/// The chunks of a response body; a reader pulls them at its own pace.
///
/// A body has one reader, which reads it once. Releasing an incomplete body cancels the exchange.
public struct TransportBody: Sendable {
    private let pull: @Sendable () async throws(TransportError) -> Data?

    /// Creates a body from a function that waits for the next chunk and returns `nil` after the last.
    ///
    /// The function must throw ``TransportError/Code/truncated`` if the body is incomplete. `nil` means that it is
    /// complete.
    public init(next: @escaping @Sendable () async throws(TransportError) -> Data?) {
        pull = next
    }

    /// Creates a body from bytes in memory, which arrive as one chunk. Without bytes the body is empty.
    public init(_ data: Data) {
        let chunk = OnlyChunk(data)
        self.init { () async throws(TransportError) in chunk.take() }
    }

    /// Creates a body from a sequence of chunks. Omits empty chunks. Releasing the body releases the iterator of the
    /// sequence.
    ///
    /// An error of the sequence ends the body: a ``TransportError`` unchanged, any other error as
    /// ``TransportError/Code/truncated``. After a cancellation of the reading task, the end of the sequence does not
    /// make the body complete: an `AsyncStream`, for one, then ends early.
    public init<Chunks: AsyncSequence & Sendable>(_ chunks: Chunks) where Chunks.Element == Data {
        let reader = ChunkReader(chunks) { TransportError(.truncated, message: "\($0)") }
        self.init { () async throws(TransportError) in try await reader.next() }
    }

    /// Returns the next chunk, never empty, or `nil` once the body is complete.
    public func next() async throws(TransportError) -> Data? {
        try await pull()
    }
}

/// The only chunk of a body, until it is read.
private final class OnlyChunk: Sendable {
    /// Guards the chunk.
    private let chunk: Mutex<Data?>

    init(_ data: Data) {
        chunk = Mutex(data.isEmpty ? nil : data)
    }

    func take() -> Data? { chunk.withLock { $0.take() } }
}

/// The reason why an exchange with an origin failed.
public struct TransportError: Error, Hashable, Sendable {
    /// The kind of a failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        /// The host has no address.
        public static let cannotFindHost = Code(description: "cannotFindHost")
        /// The connection failed: the host refused it, or is unreachable.
        public static let cannotConnect = Code(description: "cannotConnect")
        /// The connection was lost before the end of the response.
        public static let connectionLost = Code(description: "connectionLost")
        /// The body ended before its declared length.
        public static let truncated = Code(description: "truncated")
        /// The timeout of the transport passed without progress.
        public static let timedOut = Code(description: "timedOut")
        /// The connection could not be secured.
        public static let insecure = Code(description: "insecure")
        /// The response is not valid HTTP.
        public static let malformedResponse = Code(description: "malformedResponse")
        /// The transport cannot send the request, for example because of an unsupported scheme.
        public static let unsupportedRequest = Code(description: "unsupportedRequest")
        /// The exchange was cancelled.
        public static let cancelled = Code(description: "cancelled")
        /// Another failure; see the message.
        public static let other = Code(description: "other")
    }

    /// The kind of the failure.
    public let code: Code
    /// The message of the network layer.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, message: String = "") {
        self.code = code
        self.message = message
    }
}

extension TransportError: CustomStringConvertible {
    /// The code and the message of the network layer.
    public var description: String {
        message.isEmpty ? code.description : "\(code): \(message)"
    }
}

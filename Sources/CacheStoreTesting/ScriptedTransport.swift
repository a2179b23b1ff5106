public import CacheFoundation
public import CacheLoader
internal import HTTPArchive
internal import Synchronization

/// A transport without a network. A script answers the requests, and the transport records them.
///
/// ```swift
/// let transport = ScriptedTransport([
///     "https://example.com/feed.json": [.reply(200, [.eTag: "\"1\""], "one"), .reply(304)],
///     "https://example.com/logo.png": [.failure(.cannotConnect)],
/// ])
/// ```
///
/// Safe to use from any task.
public final class ScriptedTransport: HTTPTransport {
    /// A request that the transport received.
    public struct SentRequest: Hashable, Sendable {
        /// The head of the request.
        public var request: HTTPRequest
        /// The content of the request, or `nil`.
        public var body: Data?
    }

    private typealias InterimReceiver = @Sendable (HTTPResponse) -> Void

    private let handler:
        @Sendable (HTTPRequest, Data?, InterimReceiver) async throws(TransportError) -> TransportResponse

    /// Guards the recorded requests.
    private let log = Mutex<[SentRequest]>([])

    /// Creates a transport that gives these replies in order, for any URL. The last one also answers all later
    /// requests. Without replies, each request fails with `TransportError.Code.unsupportedRequest`.
    public convenience init(_ replies: ScriptedReply...) {
        self.init(replies)
    }

    /// Creates a transport that gives the replies of a list.
    package convenience init(_ replies: [ScriptedReply]) {
        let script = RemainingReplies(["": replies])
        self.init(answering: { request, _, onInterimResponse throws(TransportError) in
            try await script.next(to: request, for: "", onInterimResponse)
        })
    }

    /// Creates a transport with a list of replies for each URL. The last reply of a list also answers all later
    /// requests for the URL.
    ///
    /// A URL is absolute and in the form of the request, such as `https://example.com/` with its slash. A request for
    /// another URL fails with `TransportError.Code.unsupportedRequest`, which a loader does not retry. The
    /// message names the URL.
    public convenience init(_ replies: [String: [ScriptedReply]]) {
        let script = RemainingReplies(replies)
        self.init(answering: { request, _, onInterimResponse throws(TransportError) in
            try await script.next(to: request, for: request.absoluteURL, onInterimResponse)
        })
    }

    /// Creates a transport that answers with `handler`, a function of the request and its content.
    public convenience init(
        _ handler: @escaping @Sendable (HTTPRequest, Data?) async throws(TransportError) -> TransportResponse
    ) {
        self.init(answering: { request, body, _ throws(TransportError) in try await handler(request, body) })
    }

    private init(
        answering handler:
            @escaping @Sendable (
                HTTPRequest, Data?, InterimReceiver
            ) async throws(TransportError) -> TransportResponse
    ) {
        self.handler = handler
    }

    /// The recorded requests with their content, in order.
    public var sent: [SentRequest] { log.withLock { $0 } }

    /// The heads of the recorded requests, in order.
    public var requests: [HTTPRequest] { sent.map(\.request) }

    /// Returns the heads of the recorded requests for an absolute URL, in order.
    public func requests(to url: String) -> [HTTPRequest] { requests.filter { $0.absoluteURL == url } }

    /// The number of recorded requests.
    public var requestCount: Int { log.withLock { $0.count } }

    /// Returns the request unchanged.
    public func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    /// Reads the content to its end, records the request, then replies: first with the interim responses of the reply.
    public func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        let body = try await content?.collect()
        log.withLock { $0.append(SentRequest(request: request, body: body)) }
        return try await handler(request, body, onInterimResponse)
    }
}

/// The replies that are left.
private final class RemainingReplies: Sendable {
    /// Guards the replies.
    private let replies: Mutex<[String: [ScriptedReply]]>

    init(_ replies: [String: [ScriptedReply]]) {
        self.replies = Mutex(replies)
    }

    func next(
        to request: HTTPRequest, for key: String, _ onInterimResponse: (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        let reply = replies.withLock { replies -> ScriptedReply? in
            guard let list = replies[key], let first = list.first else { return nil }
            if list.count > 1 { replies[key]?.removeFirst() }
            return first
        }
        guard let reply else {
            throw TransportError(
                .unsupportedRequest,
                message: "the script has no reply to \(request.method.rawValue) \(request.absoluteURL)")
        }
        return try await reply.response(to: request.method, onInterimResponse: onInterimResponse)
    }
}

extension RequestContent {
    package func collect() async throws(TransportError) -> Data {
        var bytes = Data()
        while let chunk = try await next() { bytes += chunk }
        return bytes
    }
}

public import CacheLoader
public import Foundation
public import HTTPTypes
internal import Synchronization

/// A transport without a network: a closure answers each request, and the transport records it.
///
///     let transport = ScriptedTransport { _, _ in
///         .reply(200, [.cacheControl: "max-age=60"], "hello, ", "world")
///     }
public final class ScriptedTransport: HTTPTransport {
    /// A request that the transport received.
    public struct Sent: Hashable, Sendable {
        /// The head of the request.
        public var request: HTTPRequest
        /// The content of the request.
        public var body: Data?
    }

    private let handler: @Sendable (HTTPRequest, Data?) async throws(TransportError) -> TransportResponse

    /// Guards the recorded requests.
    private let log = Mutex<[Sent]>([])

    /// Creates a transport that answers with `handler`.
    public init(
        _ handler: @escaping @Sendable (HTTPRequest, Data?) async throws(TransportError) -> TransportResponse
    ) {
        self.handler = handler
    }

    /// The recorded requests, in order.
    public var sent: [Sent] { log.withLock { $0 } }

    /// The heads of the recorded requests, in order.
    public var requests: [HTTPRequest] { sent.map(\.request) }

    /// The number of recorded requests.
    public var requestCount: Int { log.withLock { $0.count } }

    /// Returns the request unchanged.
    public func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    /// Reads the content to its end, records the request, then calls the handler.
    public func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        let body = try await content?.collect()
        log.withLock { $0.append(Sent(request: request, body: body)) }
        return try await handler(request, body)
    }
}

extension RequestContent {
    /// Returns the whole content.
    public func collect() async throws(TransportError) -> Data {
        var bytes = Data()
        while let chunk = try await next() { bytes += chunk }
        return bytes
    }
}

extension TransportResponse {
    /// Returns a response whose body arrives as `chunks`.
    ///
    /// - Parameter failure: The error of the body after the last chunk; `nil` for a complete body.
    public static func reply(
        _ status: HTTPResponse.Status = .ok,
        _ fields: HTTPFields = [:],
        _ chunks: String...,
        failure: TransportError? = nil
    ) -> TransportResponse {
        TransportResponse(
            head: HTTPResponse(status: status, headerFields: fields),
            body: TransportBody(chunks: chunks.map { Data($0.utf8) }, failure: failure))
    }
}

extension TransportBody {
    /// Creates a body that arrives as `chunks`, then throws `failure` or, without one, ends. Omits empty chunks.
    public init(chunks: [Data], failure: TransportError? = nil) {
        let script = Script(chunks.filter { !$0.isEmpty })
        self.init { () async throws(TransportError) -> Data? in
            if let chunk = script.next() { return chunk }
            if let failure { throw failure }
            return nil
        }
    }
}

/// The chunks that have not arrived yet.
private final class Script: Sendable {
    /// Guards the chunks.
    private let chunks: Mutex<ArraySlice<Data>>

    init(_ chunks: [Data]) {
        self.chunks = Mutex(chunks[...])
    }

    func next() -> Data? {
        chunks.withLock { $0.popFirst() }
    }
}

public import CacheLoader
public import Foundation
public import HTTPTypes
internal import Synchronization

/// A transport without a network: a closure answers, and what was asked is recorded.
///
///     let transport = ScriptedTransport { _, _ in
///         .reply(200, [.cacheControl: "max-age=60"], "hello, ", "world")
///     }
public final class ScriptedTransport: HTTPTransport {
    /// One message that the transport was given.
    public struct Sent: Hashable, Sendable {
        /// Its head.
        public var request: HTTPRequest
        /// Its content.
        public var body: Data?
    }

    private let handler: @Sendable (HTTPRequest, Data?) async throws(TransportError) -> TransportResponse

    /// Guards the list of what was sent.
    private let log = Mutex<[Sent]>([])

    /// Creates a transport that has `handler` answer.
    public init(
        _ handler: @escaping @Sendable (HTTPRequest, Data?) async throws(TransportError) -> TransportResponse
    ) {
        self.handler = handler
    }

    /// What was sent, in order.
    public var sent: [Sent] { log.withLock { $0 } }

    /// The heads of what was sent, in order.
    public var requests: [HTTPRequest] { sent.map(\.request) }

    /// How many requests were sent.
    public var requestCount: Int { log.withLock { $0.count } }

    /// Adds nothing.
    public func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    /// Reads the content to its end, records the request, then asks the handler.
    public func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        let body = try await content?.collect()
        log.withLock { $0.append(Sent(request: request, body: body)) }
        return try await handler(request, body)
    }
}

extension RequestContent {
    /// All of it.
    public func collect() async throws(TransportError) -> Data {
        var bytes = Data()
        while let chunk = try await next() { bytes += chunk }
        return bytes
    }
}

extension TransportResponse {
    /// A response whose body arrives as `chunks`.
    ///
    /// - Parameter failure: What the body throws after the last chunk, instead of ending.
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
    /// A body that arrives as `chunks`, then ends, or throws `failure` if there is one. Empty chunks are left out.
    public init(chunks: [Data], failure: TransportError? = nil) {
        let script = Script(chunks.filter { !$0.isEmpty })
        self.init { () async throws(TransportError) -> Data? in
            if let chunk = script.next() { return chunk }
            if let failure { throw failure }
            return nil
        }
    }
}

/// The chunks still to come.
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

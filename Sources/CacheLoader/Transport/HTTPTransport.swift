public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Carries one request to an origin and its response back.
///
/// A transport only moves messages. It follows no redirects, keeps no cookies, answers nothing from a cache and adds no
/// credentials: these are the loader's, so that each hop is cached under its own URL and the rules of RFC 9111 hold
/// whatever the transport.
public protocol HTTPTransport: Sendable {
    /// The request as it will go out, with the fields that the transport adds itself, such as `Accept-Encoding`.
    ///
    /// `Vary` is matched against this, so that it must say all that the origin will see (RFC 9111 §4.1). Preparing twice
    /// changes nothing. A transport that adds nothing returns the request as it is; one that wraps another asks that one.
    func prepare(_ request: HTTPRequest) -> HTTPRequest

    /// Sends `request` and returns once the head of the final response has arrived.
    ///
    /// Cancelling the calling task cancels the exchange. Whether to send a request again is the caller's decision.
    ///
    /// - Parameters:
    ///   - request: The head as prepared, with an absolute URL: scheme, authority and path are all set.
    ///   - content: The content of the request, read once; `nil` for none.
    /// - Throws: ``TransportError`` when no complete head arrived.
    func send(_ request: HTTPRequest, content: RequestContent?) async throws(TransportError) -> TransportResponse
}

/// The head of a response, and its body while it arrives.
public struct TransportResponse: Sendable {
    /// The head as received, but without `Content-Encoding` and `Content-Length` when the transport decoded the body.
    public var head: HTTPResponse

    /// The body while it arrives.
    public var body: TransportBody

    /// Whether the bytes of ``body`` are not those that the origin sent, because the transport removed a content coding.
    ///
    /// Such a body cannot serve ranges, which count encoded bytes (RFC 9110 §14.1.2).
    public var isBodyDecoded: Bool

    /// Creates a response.
    public init(head: HTTPResponse, body: TransportBody, isBodyDecoded: Bool = false) {
        self.head = head
        self.body = body
        self.isBodyDecoded = isBodyDecoded
    }
}

/// The chunks of a response body, each pulled when its reader is ready for it.
///
/// One reader may consume a body, once. A body that is dropped before its end cancels the exchange.
public struct TransportBody: Sendable {
    private let pull: @Sendable () async throws(TransportError) -> Data?

    /// Creates a body from a function that waits for the next chunk and returns `nil` after the last.
    ///
    /// A body that ended before it was complete throws ``TransportError/Code/truncated``; `nil` promises completeness.
    public init(next: @escaping @Sendable () async throws(TransportError) -> Data?) {
        pull = next
    }

    /// The next chunk, never empty; `nil` once the body is complete.
    public func next() async throws(TransportError) -> Data? {
        try await pull()
    }
}

/// Why an exchange with an origin failed.
public struct TransportError: Error, Hashable, Sendable {
    /// What kind of failure it was.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        /// No connection could be made: refused, unreachable, or the host has no address.
        public static let cannotConnect = Code(description: "cannotConnect")
        /// The connection was lost before the response had ended.
        public static let connectionLost = Code(description: "connectionLost")
        /// The body ended short of the length that its head declared.
        public static let truncated = Code(description: "truncated")
        /// Nothing arrived for as long as the transport waits.
        public static let timedOut = Code(description: "timedOut")
        /// The connection could not be secured.
        public static let insecure = Code(description: "insecure")
        /// What arrived is not HTTP.
        public static let malformedResponse = Code(description: "malformedResponse")
        /// The request names something that the transport cannot reach, such as an unsupported scheme.
        public static let unsupportedRequest = Code(description: "unsupportedRequest")
        /// The exchange was cancelled.
        public static let cancelled = Code(description: "cancelled")
        /// Something else; the message has it.
        public static let other = Code(description: "other")
    }

    /// What kind of failure it was.
    public let code: Code
    /// What the network layer said about it.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, message: String = "") {
        self.code = code
        self.message = message
    }
}

extension TransportError: CustomStringConvertible {
    /// The code, and what the network layer said.
    public var description: String {
        message.isEmpty ? code.description : "\(code): \(message)"
    }
}

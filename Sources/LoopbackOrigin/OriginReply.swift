// A reply has the status and the fields of HTTPTypes, so its users need no second import.
@_exported public import HTTPTypes

/// The response of an origin, and its delivery.
public struct OriginReply: Sendable {
    /// The status, with its reason phrase.
    public var status: HTTPResponse.Status

    /// The header fields, sent unchanged.
    ///
    /// The origin adds `Content-Length`, `Transfer-Encoding`, `Connection` and `Date` if they are absent and needed.
    public var fields: HTTPFields

    /// The content. Omitted in answer to HEAD, and with a status that permits no content.
    public var body: [UInt8]

    /// The framing and the faults of the sent response.
    public var delivery: Delivery

    /// Whether the origin adds a `Date` missing from ``fields``.
    public var addsDate = true

    /// Creates a reply.
    public init(
        status: HTTPResponse.Status = .ok, fields: HTTPFields = [:], body: [UInt8] = [], delivery: Delivery = .complete
    ) {
        self.status = status
        self.fields = fields
        self.body = body
        self.delivery = delivery
    }

    /// The way to send a response: with a certain framing or a certain fault.
    ///
    /// Affects only a sent body. The answer to HEAD has no body.
    public enum Delivery: Sendable {
        /// The whole body with a correct `Content-Length`.
        case complete

        /// The whole body in chunks of `bytes`, with chunked framing.
        case chunked(bytes: Int)

        /// The whole body without a length. The end of the connection ends the body.
        case closeDelimited

        /// Like ``complete``, in pieces of `bytes`. Before each piece the origin calls `before` with its index from 0.
        ///
        /// Sends the head before the first call.
        case paced(bytes: Int, before: @Sendable (Int) async -> Void)

        /// The whole body with a wrong `Content-Length`, then the end of the connection.
        ///
        /// A declared length above the real one truncates the response. A lower one makes surplus bytes follow the
        /// response.
        case declaring(length: Int)

        /// The head and the first `afterBytes` of the body, then nothing until the client disconnects or the origin
        /// stops.
        case stalling(afterBytes: Int)

        /// The head and the first `afterBytes` of the body, then a TCP reset.
        ///
        /// A client may receive fewer bytes, because a reset overtakes bytes that its network layer has not delivered.
        case resetting(afterBytes: Int)

        /// The first `afterBytes` of the body in one chunk, then the end of the connection without the last chunk.
        case abortedChunked(afterBytes: Int)

        /// A TCP reset instead of a response.
        case resetBeforeHead

        /// These bytes instead of a response, then the end of the connection.
        case garbage([UInt8])

        /// These bytes instead of a response, then a TCP reset.
        case breakingOff([UInt8])
    }

    /// Returns the reply with another delivery.
    public func delivered(_ delivery: Delivery) -> OriginReply {
        var reply = self
        reply.delivery = delivery
        return reply
    }

    /// Returns the reply without an added `Date`.
    public func undated() -> OriginReply {
        var reply = self
        reply.addsDate = false
        return reply
    }
}

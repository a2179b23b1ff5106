public import HTTPTypes

/// The response of an origin, and its delivery.
public struct OriginReply: Sendable {
    /// The status, with its reason phrase.
    public var status: HTTPResponse.Status

    /// The header fields, sent unchanged.
    ///
    /// The origin adds `Content-Length`, `Transfer-Encoding`, `Connection` and `Date` if they are absent and needed.
    public var fields: HTTPFields

    /// The content. Not sent in answer to HEAD, nor with a status that has none.
    public var body: [UInt8]

    /// How the origin sends the response.
    public var delivery: Delivery

    /// Whether the origin adds `Date` if ``fields`` has none.
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

    /// How the origin sends a response: with a certain framing, or with a certain fault.
    ///
    /// A delivery affects only a body that is sent; the answer to HEAD has none.
    public enum Delivery: Sendable {
        /// The whole body with a correct `Content-Length`.
        case complete

        /// The whole body in chunks of `bytes`, with chunked framing.
        case chunked(bytes: Int)

        /// The whole body without a length; the end of the connection ends it.
        case closeDelimited

        /// As ``complete``, in pieces of `bytes`. Before each piece the origin calls `before` with its index from 0.
        ///
        /// The head goes out before the first call.
        case paced(bytes: Int, before: @Sendable (Int) async -> Void)

        /// The whole body with a wrong `Content-Length`, then the end of the connection.
        ///
        /// A declared length above the real one truncates the response. With one below, surplus bytes follow the
        /// response.
        case declaring(length: Int)

        /// The head and the first `afterBytes` of the body, then nothing until the client disconnects or the origin
        /// stops.
        case stalling(afterBytes: Int)

        /// The head and the first `afterBytes` of the body, then a TCP reset.
        ///
        /// A client may receive fewer bytes: a reset overtakes bytes that its network layer has not delivered yet.
        case resetting(afterBytes: Int)

        /// The first `afterBytes` of the body in one chunk, then the end of the connection without the last chunk.
        case abortedChunked(afterBytes: Int)

        /// A TCP reset in place of a response.
        case resetBeforeHead

        /// These bytes in place of a response, then the end of the connection.
        case garbage([UInt8])

        /// These bytes in place of a response, then a TCP reset.
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

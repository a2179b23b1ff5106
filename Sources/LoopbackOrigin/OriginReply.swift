public import HTTPTypes

/// What an origin answers, and how well it behaves while it does.
public struct OriginReply: Sendable {
    /// The status, with its reason phrase.
    public var status: HTTPResponse.Status

    /// The header fields, sent as they are.
    ///
    /// `Content-Length`, `Transfer-Encoding`, `Connection` and `Date` are added where they are absent and needed.
    public var fields: HTTPFields

    /// The content. Not sent in answer to HEAD, nor with a status that has none.
    public var body: [UInt8]

    /// How the response goes onto the connection.
    public var delivery: Delivery

    /// Whether `Date` is added when ``fields`` has none.
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

    /// How a response goes onto the connection: framed one way or another, or broken one way or another.
    ///
    /// What a delivery does to the body it does not do where none is sent, as in the answer to HEAD.
    public enum Delivery: Sendable {
        /// The whole body, under a correct `Content-Length`.
        case complete

        /// The whole body in chunks of `bytes`, with chunked framing.
        case chunked(bytes: Int)

        /// The whole body without a length; the end of the connection ends it.
        case closeDelimited

        /// As ``complete``, in pieces of `bytes`; each is sent when `before`, called with its index from 0, returns.
        ///
        /// The head goes out ahead of the first call.
        case paced(bytes: Int, before: @Sendable (Int) async -> Void)

        /// The whole body under a `Content-Length` that lies, then the end of the connection.
        ///
        /// A declared length above the real one truncates the response; one below has surplus bytes follow it.
        case declaring(length: Int)

        /// The head and the first `afterBytes` of the body, then nothing until the client leaves or the origin stops.
        case stalling(afterBytes: Int)

        /// The head and the first `afterBytes` of the body, then a TCP reset.
        ///
        /// A client may see fewer of them: a reset overtakes what its network layer has not handed over yet.
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

    /// The reply, delivered as `delivery` says.
    public func delivered(_ delivery: Delivery) -> OriginReply {
        var reply = self
        reply.delivery = delivery
        return reply
    }

    /// The reply without a `Date` of the origin's.
    public func undated() -> OriginReply {
        var reply = self
        reply.addsDate = false
        return reply
    }
}

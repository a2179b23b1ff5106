/// A request as sent, the head of its reply, and the times of both.
public struct Exchange: Sendable {
    /// The request with all fields that the transport added.
    public var request: HTTPRequest
    /// The final response to the request.
    public var reply: HTTPResponse
    /// The time when the request was sent.
    public var requestTime: HTTPDate
    /// The time when the head of the reply arrived.
    public var responseTime: HTTPDate
    /// Whether the transport removed a content coding from the body. Ranges of such a body are unknown.
    public var isBodyDecoded: Bool

    /// Creates an exchange.
    public init(
        request: HTTPRequest, reply: HTTPResponse, requestTime: HTTPDate, responseTime: HTTPDate,
        isBodyDecoded: Bool = false
    ) {
        self.request = request
        self.reply = reply
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.isBodyDecoded = isBodyDecoded
    }
}

package import HTTPTypes

/// A request as it was sent, the head of its reply, and when both happened.
package struct Exchange: Sendable {
    /// The request, with all that the transport added to it.
    package var request: HTTPRequest
    /// The final response to it.
    package var reply: HTTPResponse
    /// When the request was sent.
    package var requestTime: HTTPDate
    /// When the head of the reply arrived.
    package var responseTime: HTTPDate
    /// Whether the transport removed a content coding from the body.
    package var isBodyDecoded: Bool

    /// Creates an exchange.
    package init(
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

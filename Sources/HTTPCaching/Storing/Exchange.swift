package import HTTPTypes

/// A request as sent, the head of its reply, and the times of both.
package struct Exchange: Sendable {
    /// The request, with all fields that the transport added.
    package var request: HTTPRequest
    /// The final response to the request.
    package var reply: HTTPResponse
    /// The time when the request was sent.
    package var requestTime: HTTPDate
    /// The time when the head of the reply arrived.
    package var responseTime: HTTPDate
    /// Whether the transport removed a content coding from the body.
    package var isBodyDecoded: Bool

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

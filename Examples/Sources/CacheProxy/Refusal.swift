internal import HTTPTypes

/// The reason to answer a request in the proxy itself: the proxy cannot forward it.
struct Refusal: Error {
    let status: HTTPResponse.Status

    init(_ status: HTTPResponse.Status) {
        self.status = status
    }

    /// RFC 9112: answers malformed requests with 400 and does not repair them.
    static var malformed: Refusal { Refusal(.badRequest) }
}

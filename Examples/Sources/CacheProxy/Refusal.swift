internal import HTTPTypes

/// An error response from the proxy to a request that it cannot forward.
struct Refusal: Error {
    let status: HTTPResponse.Status

    init(_ status: HTTPResponse.Status) {
        self.status = status
    }

    /// RFC 9112: answers malformed requests with 400 instead of repairing them.
    static var malformed: Refusal { Refusal(.badRequest) }
}

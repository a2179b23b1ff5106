internal import HTTPTypes

/// Why the proxy answers a request itself: what arrived is no request that it can forward.
struct Refusal: Error {
    let status: HTTPResponse.Status

    init(_ status: HTTPResponse.Status) {
        self.status = status
    }

    /// RFC 9112: what does not follow the grammar is answered with 400, never repaired.
    static var malformed: Refusal { Refusal(.badRequest) }
}

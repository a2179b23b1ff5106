package import CacheLoader
package import HTTPTypes

/// Fails each request, because every load must be a hit.
package struct NoTransport: HTTPTransport {
    package init() {}

    package func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    package func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        throw TransportError(.cannotConnect, message: "a request was sent")
    }
}

internal import CacheLoader
internal import HTTPTypes

/// Sends every request to the origin behind a reverse proxy. Keeps the URL's `Host`, so that links that the origin
/// derives from it lead to the proxy.
struct OriginTransport: HTTPTransport {
    let origin: OriginAddress
    let transport: any HTTPTransport

    var passesUnknownCodings: Bool { transport.passesUnknownCodings }

    func prepare(_ request: HTTPRequest) -> HTTPRequest { transport.prepare(request) }

    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        var request = request
        if !request.headerFields.contains(where: { $0.name.canonicalName == "host" }),
            let name = HTTPField.Name("Host"), let authority = request.authority
        {
            request.headerFields.append(HTTPField(name: name, value: authority))
        }
        (request.scheme, request.authority) = (origin.scheme, origin.authority)
        return try await transport.send(request, content: content, onInterimResponse: onInterimResponse)
    }
}

import CacheLoader
import Foundation
import HTTPTypes

/// A transport with observed exchanges: each request, the head of its response, and the chunks of the body.
struct WatchedTransport: HTTPTransport {
    /// Receives a request before it is sent. If it throws, the request is not sent and fails with the error.
    typealias Watch = @Sendable (HTTPRequest) throws(TransportError) -> HeadWatch
    /// Receives the head of the response.
    typealias HeadWatch = @Sendable (HTTPResponse) -> BodyWatch
    /// Receives a chunk of the body, or `nil` at the end.
    typealias BodyWatch = @Sendable (Data?) -> Void

    private let base: any HTTPTransport
    private let watch: Watch

    init(_ base: any HTTPTransport, _ watch: @escaping Watch) {
        self.base = base
        self.watch = watch
    }

    var passesUnknownCodings: Bool { base.passesUnknownCodings }

    func prepare(_ request: HTTPRequest) -> HTTPRequest { base.prepare(request) }

    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        let watchHead = try watch(request)
        var response = try await base.send(request, content: content, onInterimResponse: onInterimResponse)
        let (watchBody, body) = (watchHead(response.head), response.body)
        response.body = TransportBody { () async throws(TransportError) in
            let chunk = try await body.next()
            watchBody(chunk)
            return chunk
        }
        return response
    }
}

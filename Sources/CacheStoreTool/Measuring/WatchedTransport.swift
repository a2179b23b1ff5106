import CacheLoader
import Foundation
import HTTPTypes

/// A transport whose exchanges are watched: each request, then the head of its response, then the chunks of the body.
struct WatchedTransport: HTTPTransport {
    /// Sees a request before it is sent. An error takes the place of the exchange.
    typealias Watch = @Sendable (HTTPRequest) throws(TransportError) -> HeadWatch
    /// Sees the head of the response.
    typealias HeadWatch = @Sendable (HTTPResponse) -> BodyWatch
    /// Sees a chunk of the body; `nil` at the end.
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
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        let watchHead = try watch(request)
        return watched(try await base.send(request, content: content), by: watchHead)
    }

    func send(
        _ request: HTTPRequest, content: RequestContent?,
        onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        let watchHead = try watch(request)
        let response = try await base.send(request, content: content, onInterimResponse: onInterimResponse)
        return watched(response, by: watchHead)
    }

    private func watched(_ response: TransportResponse, by watchHead: HeadWatch) -> TransportResponse {
        var response = response
        let (watchBody, body) = (watchHead(response.head), response.body)
        response.body = TransportBody { () async throws(TransportError) in
            let chunk = try await body.next()
            watchBody(chunk)
            return chunk
        }
        return response
    }
}

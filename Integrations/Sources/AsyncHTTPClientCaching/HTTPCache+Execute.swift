public import AsyncHTTPClient
public import CacheLoader
internal import Foundation
internal import HTTPTypes
internal import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

extension HTTPCache {
    /// Executes a request through the cache, with the types of `HTTPClient.execute(_:deadline:)`.
    ///
    /// Code that uses AsyncHTTPClient only has to change the receiver of the call.
    ///
    /// ```swift
    /// let cache = HTTPCache(store: store, transport: AsyncHTTPClientTransport(client: .shared))
    /// let response = try await cache.execute(HTTPClientRequest(url: "https://example.com/feed.json"))
    /// let feed = try await response.body.collect(upTo: 1 << 20)
    /// ```
    ///
    /// - Throws: ``LoadError`` if the origin cannot be reached and the cache cannot serve a stale response.
    public func execute(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        guard let url = URLComponents(string: request.url), let host = url.percentEncodedHost,
            let method = HTTPRequest.Method(request.method.rawValue)
        else { throw LoadError.invalidURL(request.url, reason: "it is not the URL of a request") }
        let query = url.percentEncodedQuery.map { "?" + $0 } ?? ""
        var head = HTTPRequest(
            method: method, scheme: url.scheme, authority: url.port.map { "\(host):\($0)" } ?? host,
            path: url.percentEncodedPath + query)
        for (name, value) in request.headers {
            guard let name = HTTPField.Name(name) else { continue }
            head.headerFields.append(HTTPField(name: name, lenientValue: value.utf8))
        }
        let content = try await request.body?.collect(upTo: 1 << 24)
        let response = try await response(for: head, content: content.map { RequestContent(Data(buffer: $0)) })
        if response.source == .generated, let failure = response.failure { throw failure }
        return HTTPClientResponse(
            status: HTTPResponseStatus(
                statusCode: response.status.code, reasonPhrase: response.status.reasonPhrase),
            headers: HTTPHeaders(response.headerFields.map { ($0.name.rawName, $0.value) }),
            body: .stream(response.body.map { ByteBuffer(data: $0) }))
    }
}

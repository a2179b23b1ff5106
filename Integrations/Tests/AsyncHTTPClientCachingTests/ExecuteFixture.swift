import AsyncHTTPClient
import AsyncHTTPClientCaching
import CacheLoader
import CacheStore
import CacheStoreTesting
import HTTPTypes
import LoopbackOrigin
import NIOCore
import NIOHTTP1

/// A cache in front of an origin on loopback.
struct ExecuteFixture {
    let origin: LoopbackOrigin
    let store: ResponseStore
    let cache: HTTPCache

    init(
        configure: (inout HTTPCache.Configuration) -> Void = { _ in },
        reply: @escaping @Sendable (OriginRequest) async -> OriginReply
    ) async throws {
        origin = try await LoopbackOrigin(reply: reply)
        store = try .temporary()
        var configuration = HTTPCache.Configuration()
        configure(&configuration)
        cache = HTTPCache(store: store, transport: AsyncHTTPClientTransport(), configuration: configuration)
    }

    func request(
        _ path: String, _ method: HTTPMethod = .GET, _ headers: HTTPHeaders = [:],
        body: HTTPClientRequest.Body? = nil
    ) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: origin.url(path))
        request.method = method
        request.headers = headers
        request.body = body
        return request
    }

    func text(_ request: HTTPClientRequest) async throws -> String {
        let response = try await cache.execute(request, timeout: .seconds(60))
        return String(buffer: try await response.body.collect(upTo: 1 << 20))
    }
}

import AsyncHTTPClientCaching
import CacheLoader
import CacheStore
import CacheStoreTesting
import HTTPTypes
import Hummingbird
import HummingbirdCaching
import HummingbirdTesting
import LoopbackOrigin
import NIOCore
import Testing

@Suite("Upstream: requests to other servers", .timeLimit(.minutes(5)))
struct UpstreamTests {
    private func cache() throws -> HTTPCache {
        var configuration = HTTPCache.Configuration()
        configuration.policy = .shared
        return HTTPCache(
            store: try .temporary(), transport: AsyncHTTPClientTransport(), configuration: configuration)
    }

    private func application(
        of origin: LoopbackOrigin, _ path: String = "/base/"
    ) throws -> Application<RouterResponder<BasicRequestContext>> {
        let upstream = try Upstream(origin.url(path), cache: try cache())
        return HummingbirdCachingTests.application { router in
            router.add(middleware: UpstreamMiddleware(upstream))
            router.get("own") { _, _ in "own" }
            router.get("gone") { _, _ -> String in throw HTTPError(.notFound, message: "gone") }
        }
    }

    @Test("forwards a path without a route through the cache, but not a route or its 404")
    func forwarding() async throws {
        let origin = try await LoopbackOrigin { request in .ok(request.path.utf8, cacheControl: "max-age=60") }
        try await application(of: origin).test(.ahc()) { client in
            for _ in 0..<2 {
                let response = try await client.execute(uri: "/a/b?c=%20d", method: .get)
                #expect(String(buffer: response.body) == "/base/a/b?c=%20d")
            }
            #expect(origin.requestCount == 1)
            #expect(try await client.text("/own") == "own")
            let gone = try await client.execute(uri: "/gone", method: .get)
            #expect(gone.status == .notFound)
            #expect(String(buffer: gone.body).contains("gone"))
        }
        #expect(origin.requestCount == 1)
    }

    @Test("RFC 9110 §7.6: drops fields of a connection, passes all other fields, and sets Host to the upstream")
    func fields() async throws {
        let name = try #require(HTTPField.Name("X-Hop"))
        let origin = try await LoopbackOrigin { _ in
            var reply = OriginReply.ok("a".utf8)
            reply.fields = [
                name: "1", .connection: "X-Hop, Content-Length", .contentLanguage: "en", .trailer: "Digest",
            ]
            return reply
        }
        try await application(of: origin).test(.ahc()) { client in
            let fields: HTTPFields = [name: "1", .connection: "x-hop", .te: "trailers", .accept: "text/plain"]
            let response = try await client.execute(uri: "/a", method: .get, headers: fields)
            #expect(response.headers[name] == nil)
            #expect(response.headers[.trailer] == nil)
            #expect(response.headers[.contentLanguage] == "en")
            #expect(response.headers[.contentLength] == "1")
        }
        let request = try #require(origin.requests.first)
        #expect(request.fields[name] == nil)
        #expect(request.fields[.te] == nil)
        #expect(request.fields[.accept] == "text/plain")
        #expect(request.fields[.via] == "1.1 hummingbird")
        let host = try #require(HTTPField.Name("Host"))
        #expect(request.fields[host] == origin.authority)
    }

    @Test("content streams to the upstream, with its length")
    func content() async throws {
        let origin = try await LoopbackOrigin { request in .ok(request.body) }
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 17) }
        try await application(of: origin).test(.ahc()) { client in
            let response = try await client.execute(uri: "/a", method: .post, body: ByteBuffer(bytes: bytes))
            #expect(Array(buffer: response.body) == bytes)
        }
        #expect(origin.requests.first?.fields[.contentLength] == "300000")
        #expect(origin.requests.first?.method == .post)
    }

    @Test("a truncated response truncates the client's response")
    func truncated() async throws {
        let origin = try await LoopbackOrigin { _ in
            OriginReply.ok("abc".utf8, cacheControl: "max-age=60").delivered(.declaring(length: 9))
        }
        try await application(of: origin).test(.ahc()) { client in
            _ = await #expect(throws: (any Error).self) { try await client.execute(uri: "/a", method: .get) }
        }
    }

    @Test("RFC 9110 §15.6.3: an unreachable upstream gives a stale response or a 502")
    func unreachable() async throws {
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=0") }
        try await application(of: origin).test(.ahc()) { client in
            try await client.execute(uri: "/a", method: .get)
            await origin.stop()
            #expect(try await client.text("/a") == "a")
            #expect(try await client.execute(uri: "/b", method: .get).status == .badGateway)
        }
    }

    @Test("a route forwards a request, or returns a response of a cache")
    func insideRoute() async throws {
        let origin = try await LoopbackOrigin { request in .ok(request.path.utf8, cacheControl: "max-age=60") }
        let cache = try cache()
        let upstream = try Upstream(origin.url(""), cache: cache)
        let app = HummingbirdCachingTests.application { router in
            router.get("users/**") { request, _ in try await upstream.response(to: request) }
            router.get("feed") { _, _ in
                Response(
                    try await cache.response(
                        for: HTTPRequest(
                            method: .get, scheme: "http", authority: origin.authority, path: "/users/1")))
            }
        }
        try await app.test(.ahc()) { client in
            for path in ["/users/1", "/feed", "/users/1"] {
                let text = try await client.text(path)
                #expect(text == "/users/1")
            }
        }
        #expect(origin.requestCount == 1)
    }

    @Test("accepts only http and https URLs", arguments: ["", "example.com", "ftp://a.example/", "http:///"])
    func invalid(_ url: String) throws {
        let cache = try cache()
        #expect(throws: LoadError.self) { try Upstream(url, cache: cache) }
    }
}

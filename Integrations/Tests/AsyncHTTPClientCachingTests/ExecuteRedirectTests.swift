import AsyncHTTPClient
import AsyncHTTPClientCaching
import CacheLoader
import Foundation
import HTTPTypes
import LoopbackOrigin
import NIOCore
import NIOHTTP1
import Testing

@Suite("HTTPCache.execute: redirects", .timeLimit(.minutes(5)))
struct ExecuteRedirectTests {
    private static func redirect(_ status: HTTPResponse.Status, to location: String) -> OriginReply {
        .status(status, fields: [.location: location, .cacheControl: "max-age=60"])
    }

    @Test("follows a redirect, records it in the history, and caches it under its own URL")
    func followed() async throws {
        let fixture = try await ExecuteFixture { request in
            request.path == "/old"
                ? Self.redirect(.movedPermanently, to: "/new") : .ok("new".utf8, cacheControl: "max-age=60")
        }
        for _ in 0..<2 {
            let response = try await fixture.cache.execute(fixture.request("/old"), timeout: .seconds(60))
            #expect(String(buffer: try await response.body.collect(upTo: 10)) == "new")
            #expect(response.history.map(\.request.url) == ["/old", "/new"].map { fixture.origin.url($0) })
            #expect(response.history.map(\.responseHead.status) == [.movedPermanently, .ok])
            #expect(response.url?.path() == "/new")
            await fixture.cache.waitForBodies()
        }
        #expect(fixture.origin.requestCount == 2)
        let response = try await fixture.cache.execute(
            fixture.request("/old"), timeout: .seconds(60), maxRedirects: 0)
        #expect(response.status == .movedPermanently)
    }

    @Test("too many redirects and a redirect cycle throw the errors of HTTPClient")
    func limits() async throws {
        let fixture = try await ExecuteFixture { request in
            switch request.path {
            case "/circle": Self.redirect(.found, to: "/back")
            case "/back": Self.redirect(.found, to: "/circle")
            default: Self.redirect(.found, to: "/\((Int(request.path.dropFirst()) ?? 0) + 1)")
            }
        }
        await #expect(throws: HTTPClientError.redirectLimitReached) {
            _ = try await fixture.text(fixture.request("/0"))
        }
        #expect(fixture.origin.requestCount == 6)
        await #expect(throws: HTTPClientError.redirectCycleDetected) {
            _ = try await fixture.text(fixture.request("/circle"))
        }
    }

    @Test(
        "the target of a redirect keeps its percent-encoding and inherits the fragment",
        arguments: [
            ("/caf%C3%A9.txt", "/caf%C3%A9.txt"), ("/a b", "/a%20b"),
            ("../%7Efoo?q=rock%20roll", "/%7Efoo?q=rock%20roll"),
        ])
    func targets(location: String, path: String) async throws {
        let fixture = try await ExecuteFixture { request in
            request.path == "/old" ? Self.redirect(.found, to: location) : .ok("new".utf8)
        }
        var request = fixture.request("/old")
        request.url += "#part"
        let response = try await fixture.cache.execute(request, timeout: .seconds(60))
        #expect(response.history.last?.request.url == fixture.origin.url(path) + "#part")
        #expect(fixture.origin.requests.map(\.path) == ["/old", path])
    }

    struct Case: Sendable {
        let status: Int
        let method: HTTPMethod
        let expected: HTTPRequest.Method
    }

    @Test(
        "RFC 9110 §15.4: method and content after a redirect",
        arguments: [
            Case(status: 301, method: .POST, expected: .get), Case(status: 302, method: .POST, expected: .get),
            Case(status: 302, method: .PUT, expected: .put), Case(status: 303, method: .PUT, expected: .get),
            Case(status: 307, method: .POST, expected: .post), Case(status: 308, method: .POST, expected: .post),
        ])
    func methods(_ c: Case) async throws {
        let fixture = try await ExecuteFixture { request in
            request.path == "/old" ? Self.redirect(.init(code: c.status), to: "/new") : .ok(request.body)
        }
        let body = HTTPClientRequest.Body.bytes(ByteBuffer(string: "content"))
        let text = try await fixture.text(fixture.request("/old", c.method, ["Content-Type": "text/plain"], body: body))
        let last = try #require(fixture.origin.requests.last)
        #expect(last.path == "/new")
        #expect(last.method == c.expected)
        #expect(text == (c.expected == .get ? "" : "content"))
        #expect(last.fields[.contentType] == (c.expected == .get ? nil : "text/plain"))
    }

    @Test("returns the redirect instead of sending a stream again")
    func stream() async throws {
        let fixture = try await ExecuteFixture { _ in Self.redirect(.temporaryRedirect, to: "/new") }
        let stream = AsyncStream<ByteBuffer> { continuation in
            continuation.yield(ByteBuffer(string: "one"))
            continuation.finish()
        }
        let request = fixture.request("/old", .POST, body: .stream(stream, length: .unknown))
        let response = try await fixture.cache.execute(request, timeout: .seconds(60))
        #expect(response.status == .temporaryRedirect)
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("does not send credentials to another origin")
    func credentials() async throws {
        let other = try await LoopbackOrigin { _ in .ok("other".utf8) }
        let fixture = try await ExecuteFixture { [url = other.url("/new")] request in
            Self.redirect(.found, to: request.path == "/same" ? "/other" : url)
        }
        let headers: HTTPHeaders = ["Authorization": "Basic YTpi", "Cookie": "a=b", "X-A": "1"]
        #expect(try await fixture.text(fixture.request("/same", .GET, headers)) == "other")
        #expect(fixture.origin.requests.allSatisfy { $0.fields[.authorization] != nil && $0.fields[.cookie] != nil })
        #expect(fixture.origin.requestCount == 2)
        let last = try #require(other.requests.first)
        #expect(last.fields[.authorization] == nil)
        #expect(last.fields[.cookie] == nil)
        #expect(try last.fields[#require(HTTPField.Name("X-A"))] == "1")
    }
}

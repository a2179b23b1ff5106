import CacheLoader
import CacheStoreTesting
import CacheTracing
import HTTPTypes
import InMemoryTracing
import LoopbackOrigin
import Testing
import Tracing

@Suite("TracingTransport: spans of exchanges, by OpenTelemetry's conventions", .timeLimit(.minutes(5)))
struct TracingTransportTests {
    private func span(_ fixture: TracingFixture) throws -> FinishedInMemorySpan {
        try #require(fixture.tracer.finishedSpans.first { $0.kind == .client })
    }

    @Test("attributes of an exchange, and the injected context")
    func attributes() async throws {
        let fixture = try await TracingFixture { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        _ = try await fixture.cache.response(for: fixture.request("/a", .delete)).data()
        let span = try span(fixture)
        #expect(span.operationName == "DELETE")
        #expect(span.text("http.request.method") == "DELETE")
        #expect(span.text("url.full") == fixture.origin.url("/a"))
        #expect(span.text("server.address") == "127.0.0.1")
        #expect(span.number("server.port") == fixture.origin.authority.split(separator: ":").last.flatMap { Int64($0) })
        #expect(span.number("http.response.status_code") == 200)
        #expect(span.text("error.type") == nil)
        let name = try #require(HTTPField.Name(InMemoryTracer.spanIDKey))
        #expect(fixture.origin.requests.first?.fields[name] == span.spanID)
    }

    @Test("a method unknown to the conventions becomes _OTHER")
    func unknownMethod() async throws {
        let fixture = try await TracingFixture { _ in .ok() }
        let method = try #require(HTTPRequest.Method("PROPFIND"))
        _ = try await fixture.cache.response(for: fixture.request("/a", method)).data()
        let span = try span(fixture)
        #expect(span.operationName == "HTTP")
        #expect(span.text("http.request.method") == "_OTHER")
        #expect(span.text("http.request.method_original") == "PROPFIND")
    }

    struct Failure: Sendable {
        let reply: OriginReply
        let status: Int64?
        let type: String
    }

    @Test(
        "a failure is an error with its type",
        arguments: [
            Failure(reply: .status(.notFound), status: 404, type: "404"),
            Failure(reply: .status(.serviceUnavailable), status: 503, type: "503"),
            Failure(reply: .ok("a".utf8).delivered(.declaring(length: 5)), status: 200, type: "truncated"),
            Failure(reply: .ok("a".utf8).delivered(.resetBeforeHead), status: nil, type: "connectionLost"),
            Failure(
                reply: .ok("a".utf8).delivered(.garbage(Array("x\r\n\r\n".utf8))), status: nil,
                type: "malformedResponse"),
        ])
    func failures(_ failure: Failure) async throws {
        let fixture = try await TracingFixture { _ in failure.reply }
        _ = try? await fixture.cache.response(for: fixture.request("/a")).data()
        let span = try span(fixture)
        #expect(span.status?.code == .error)
        #expect(span.text("error.type") == failure.type)
        #expect(span.number("http.response.status_code") == failure.status)
    }

    @Test("the release of an unread body ends the span")
    func releasedBody() async throws {
        let fixture = try await TracingFixture { _ in
            OriginReply.ok("ab".utf8, cacheControl: "no-store").delivered(.stalling(afterBytes: 1))
        }
        do { _ = try await fixture.cache.response(for: fixture.request("/a")) }
        while !fixture.tracer.activeSpans.isEmpty { await Task.yield() }
        #expect(try span(fixture).status == nil)
    }

    struct Address: Sendable {
        let scheme: String
        let authority: String
        let host: String
        let port: Int64
    }

    @Test(
        "address and port of the server",
        arguments: [
            Address(scheme: "https", authority: "example.com", host: "example.com", port: 443),
            Address(scheme: "http", authority: "example.com", host: "example.com", port: 80),
            Address(scheme: "https", authority: "[2001:db8::1]", host: "2001:db8::1", port: 443),
            Address(scheme: "https", authority: "[2001:db8::1]:8443", host: "2001:db8::1", port: 8443),
            Address(scheme: "https", authority: "user:password@example.com:1", host: "example.com", port: 1),
        ])
    func server(_ address: Address) async throws {
        let tracer = InMemoryTracer()
        let transport = TracingTransport(ScriptedTransport(.reply(200)), tracer: tracer)
        let request = HTTPRequest(method: .get, scheme: address.scheme, authority: address.authority, path: "/")
        while try await transport.send(request, content: nil).body.next() != nil {}
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.text("server.address") == address.host)
        #expect(span.number("server.port") == address.port)
        #expect(span.text("url.full")?.contains("password") == false)
    }
}

import AsyncHTTPClient
import AsyncHTTPClientCaching
import HTTPTypes
import LoopbackOrigin
import NIOCore
import NIOHTTP1
import Testing

@Suite("HTTPCache.execute: content of requests", .timeLimit(.minutes(5)))
struct ExecuteContentTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let length: String?
        let body: @Sendable () -> HTTPClientRequest.Body

        init(_ name: String, length: String?, _ body: @escaping @Sendable () -> HTTPClientRequest.Body) {
            testDescription = name
            self.length = length
            self.body = body
        }
    }

    private static let buffers = ["one", "two", "three"].map { ByteBuffer(string: $0) }

    private static func stream() -> AsyncStream<ByteBuffer> {
        AsyncStream { continuation in
            for buffer in buffers { continuation.yield(buffer) }
            continuation.finish()
        }
    }

    @Test(
        "content arrives with the framing of HTTPClient",
        arguments: [
            Case("a buffer", length: "11") { .bytes(ByteBuffer(string: "onetwothree")) },
            Case("a collection", length: "11") { .bytes(Array("onetwothree".utf8)) },
            Case("a stream of known length", length: "11") { .stream(stream(), length: .known(Int64(11))) },
            Case("a stream of unknown length", length: nil) { .stream(stream(), length: .unknown) },
        ])
    func framing(_ c: Case) async throws {
        let fixture = try await ExecuteFixture { request in .ok(request.body) }
        let text = try await fixture.text(fixture.request("/a", .POST, ["Content-Type": "text/plain"], body: c.body()))
        #expect(text == "onetwothree")
        let request = try #require(fixture.origin.requests.first)
        #expect(request.fields[.contentLength] == c.length)
        #expect(request.fields[.transferEncoding] == (c.length == nil ? "chunked" : nil))
        #expect(request.fields[.contentType] == "text/plain")
    }

    @Test("content streams: the producer waits until the transport takes a chunk")
    func backPressure() async throws {
        let fixture = try await ExecuteFixture { request in .ok("\(request.body.count)".utf8) }
        let chunks = (0..<64).map { _ in ByteBuffer(repeating: 7, count: 65_536) }
        let (stream, continuation) = AsyncStream<ByteBuffer>.makeStream()
        for chunk in chunks { continuation.yield(chunk) }
        continuation.finish()
        let request = fixture.request("/a", .PUT, body: .stream(stream, length: .unknown))
        #expect(try await fixture.text(request) == "\(64 * 65_536)")
    }

    @Test("an error of the stream fails the request")
    func failingStream() async throws {
        struct Failure: Error {}
        let fixture = try await ExecuteFixture { _ in .ok() }
        let stream = AsyncThrowingStream<ByteBuffer, any Error> { continuation in
            continuation.yield(ByteBuffer(string: "one"))
            continuation.finish(throwing: Failure())
        }
        await #expect(throws: (any Error).self) {
            _ = try await fixture.text(fixture.request("/a", .POST, body: .stream(stream, length: .unknown)))
        }
        #expect(fixture.origin.requestCount == 0)
    }

    @Test("RFC 9111 §4.4: the success of an unsafe method invalidates the stored response")
    func invalidation() async throws {
        let fixture = try await ExecuteFixture { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        _ = try await fixture.text(fixture.request("/a"))
        _ = try await fixture.text(fixture.request("/a", .POST, body: .bytes(ByteBuffer(string: "b"))))
        _ = try await fixture.text(fixture.request("/a"))
        #expect(fixture.origin.requestCount == 3)
    }
}

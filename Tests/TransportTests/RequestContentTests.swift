import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@Suite("RequestContent") struct RequestContentTests {
    private struct Failure: Error {}

    private func stream(_ chunks: [String], length: Int64?) -> RequestContent {
        let body = TransportBody(chunks: chunks.map { Data($0.utf8) })
        return RequestContent(length: length) { () async throws(TransportError) in try await body.next() }
    }

    @Test("Data can be read once per sending")
    func data() async throws {
        let content = RequestContent(Data("abc".utf8))
        #expect(content.length == 3)
        #expect(content.isRepeatable)
        for _ in 0..<2 {
            let sending = try content.forSending()
            #expect(try await sending.next() == Data("abc".utf8))
            #expect(try await sending.next() == nil)
        }
        #expect(try await RequestContent(Data()).next() == nil)
    }

    @Test("A stream is sent once", arguments: [nil, 6] as [Int64?])
    func once(length: Int64?) async throws {
        let content = stream(["abc", "def"], length: length)
        #expect(content.length == length)
        #expect(!content.isRepeatable)
        #expect(try await content.forSending().collect() == Data("abcdef".utf8))
        let error = #expect(throws: TransportError.self) { try content.forSending() }
        #expect(error?.code == .unsupportedRequest)
    }

    @Test("A stream has as many bytes as it announced", arguments: [5, 7] as [Int64])
    func length(announced: Int64) async {
        let content = stream(["abc", "def"], length: announced)
        let error = await #expect(throws: TransportError.self) { try await content.collect() }
        #expect(error?.code == .unsupportedRequest)
    }

    @Test("Empty chunks are omitted")
    func emptyChunks() async throws {
        let gate = TransportBody(Data("a".utf8))
        let script = Script()
        let content = RequestContent(length: nil) { () async throws(TransportError) -> Data? in
            await script.isFirst() ? Data() : try await gate.next()
        }
        #expect(try await content.next() == Data("a".utf8))
        #expect(try await content.next() == nil)
    }

    @Test("A sequence is a stream")
    func sequence() async throws {
        let chunks = AsyncStream<Data> { continuation in
            for text in ["", "abc", "", "def"] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
        let content = RequestContent(length: 6, chunks)
        #expect(content.length == 6)
        #expect(!content.isRepeatable)
        #expect(try await content.next() == Data("abc".utf8))
        #expect(try await content.next() == Data("def".utf8))
        #expect(try await content.next() == nil)
    }

    @Test(
        "An error of a sequence ends the exchange",
        arguments: [
            (Failure(), .other), (CancellationError(), .cancelled), (TransportError(.timedOut), .timedOut),
        ] as [(any Error, TransportError.Code)])
    func failure(_ failure: any Error, _ code: TransportError.Code) async {
        let content = RequestContent(length: nil, AsyncThrowingStream<Data, any Error> { $0.finish(throwing: failure) })
        let error = await #expect(throws: TransportError.self) { try await content.next() }
        #expect(error?.code == code)
    }

    @Test("The cache forwards the content, and does not send a stream twice")
    func throughTheCache() async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, [:], "done") }
        let cache = try LoaderFixture(transport: transport).cache
        let request = HTTPRequest(method: .post, scheme: "https", authority: "example.com", path: "/a")
        let content = stream(["abc", "def"], length: nil)
        _ = try await cache.response(for: request, content: content).bytes
        #expect(transport.sent.map(\.body) == [Data("abcdef".utf8)])
        let second = try await cache.response(for: request, content: content)
        #expect(second.status == .badGateway)
        #expect(transport.requestCount == 1)
    }
}

private actor Script {
    private var isAsked = false

    func isFirst() -> Bool {
        defer { isAsked = true }
        return !isAsked
    }
}

import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import LoopbackOrigin
import Testing

#if !INTEGRATIONS
import TestSupport
#endif

@Suite("Transport: content") struct TransportContentTests {
    private static let chunks = (1...3).map { Data(repeating: $0, count: 1_000_000) }

    private func stream(length: Int64?, failure: TransportError? = nil) -> RequestContent {
        let chunks = TransportBody(chunks: Self.chunks, failure: failure)
        return RequestContent(length: length) { () async throws(TransportError) in try await chunks.next() }
    }

    @Test("Data is sent", arguments: TransportAdapter.allCases, [HTTPRequest.Method.post, .put])
    func data(adapter: TransportAdapter, method: HTTPRequest.Method) async throws {
        let answer = try await adapter.exchange(
            .ok("x".utf8), method: method, content: RequestContent(Data("abc".utf8)))
        #expect(answer.origin.requests.map(\.method) == [method])
        #expect(answer.origin.requests.map(\.body) == [Array("abc".utf8)])
    }

    @Test("A stream is sent whole", arguments: TransportAdapter.allCases, [nil, 3_000_000] as [Int64?])
    func stream(adapter: TransportAdapter, length: Int64?) async throws {
        let answer = try await adapter.exchange(.ok("x".utf8), method: .post, content: stream(length: length))
        let request = try #require(answer.origin.requests.first)
        #expect(Data(request.body) == Self.chunks.reduce(into: Data()) { $0 += $1 })
        let isChunked = request.fields[.transferEncoding] == "chunked"
        #expect(request.fields[.contentLength] == (isChunked ? nil : "3000000"))
        if length != nil { #expect(!isChunked) }
    }

    @Test("A failing stream fails the exchange with its own error", arguments: TransportAdapter.allCases)
    func failingStream(adapter: TransportAdapter) async throws {
        let failure = TransportError(.other, message: "the disk is gone")
        let origin = try await LoopbackOrigin { _ in .ok() }
        let content = stream(length: nil, failure: failure)
        let error = await outcome { try await adapter.make().send(.to(origin, method: .post), content: content) }
        #expect(error == failure)
        #expect(origin.requestCount == 0)
        await origin.stop()
    }

    @Test("A stream that does not match its announced length fails the exchange", arguments: TransportAdapter.allCases)
    func wrongLength(adapter: TransportAdapter) async throws {
        let origin = try await LoopbackOrigin { _ in .ok() }
        let content = stream(length: 2_999_999)
        let error = await outcome { try await adapter.make().send(.to(origin, method: .post), content: content) }
        #expect(error?.code == .unsupportedRequest)
        await origin.stop()
    }
}

import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import LoopbackOrigin
import Testing

// In the package Integrations, Requirement is a part of this target.
#if !INTEGRATIONS
import TestSupport
#endif

@Suite("Transport: bodies") struct TransportBodyTests {
    private static let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 997) }

    @Test(
        "A whole body arrives byte for byte, with any framing", arguments: TransportAdapter.allCases,
        [
            OriginReply.Delivery.complete, .chunked(bytes: 1000), .chunked(bytes: 100_000), .closeDelimited,
            .paced(bytes: 300_000) { _ in },
        ])
    func framing(adapter: TransportAdapter, delivery: OriginReply.Delivery) async throws {
        let reply = OriginReply.ok(Self.body).delivered(delivery)
        // Repeated: a transport that pauses and resumes must not send its request again.
        for _ in 0..<5 {
            let answer = try await adapter.exchange(reply)
            #expect(answer.head.status == .ok)
            #expect(try answer.body.get() == Data(Self.body))
            #expect(answer.origin.requestCount == 1)
        }
    }

    @Test(
        "A body that breaks off throws, without an end", .requirement("S18"), arguments: TransportAdapter.allCases,
        [OriginReply.Delivery.declaring(length: 2_000_000), .abortedChunked(afterBytes: 1000)])
    func truncation(adapter: TransportAdapter, delivery: OriginReply.Delivery) async throws {
        let answer = try await adapter.exchange(OriginReply.ok(Self.body).delivered(delivery))
        let error = #expect(throws: TransportError.self) { try answer.body.get() }
        #expect(error?.code == .truncated)
    }

    @Test("An invalid chunk size throws, without an end", arguments: TransportAdapter.allCases)
    func brokenChunks(adapter: TransportAdapter) async throws {
        let reply = OriginReply.raw(
            "HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "4", "0123", "nonsense", "", "")
        // The error may come before the head is delivered.
        let error = await outcome { try await adapter.response(to: reply) }
        #expect([.truncated, .malformedResponse, .connectionLost].contains(error?.code))
    }

    @Test("Bytes past the declared length are ignored", arguments: TransportAdapter.allCases, [false, true])
    func surplus(adapter: TransportAdapter, staysOpen: Bool) async throws {
        let reply =
            staysOpen
            ? OriginReply.raw("HTTP/1.1 200 OK", "Content-Length: 4", "", "0123HTTP/1.1 200 OK", "X: y", "", "")
            : .ok("0123456789".utf8).delivered(.declaring(length: 4))
        let answer = try await adapter.exchange(reply)
        #expect(try answer.body.get() == Data("0123".utf8))
    }

    @Test(
        "No body where HTTP allows none, whatever the length says", arguments: TransportAdapter.allCases,
        [(HTTPRequest.Method.head, HTTPResponse.Status.ok), (.get, .noContent), (.get, .notModified)])
    func noBody(adapter: TransportAdapter, of exchange: (HTTPRequest.Method, HTTPResponse.Status)) async throws {
        let fields: HTTPFields = exchange.1 == .noContent ? [:] : [.contentLength: "1000000"]
        let answer = try await adapter.exchange(.status(exchange.1, fields: fields), method: exchange.0)
        #expect(answer.head.status == exchange.1)
        #expect(answer.head.headerFields[.contentLength] == fields[.contentLength])
        #expect(try answer.body.get().isEmpty)
    }

    @Test("A redirect is delivered like any other response", arguments: TransportAdapter.allCases)
    func redirect(adapter: TransportAdapter) async throws {
        let reply = OriginReply.status(.found, fields: [.location: "/elsewhere"], body: "moved".utf8)
        let answer = try await adapter.exchange(reply)
        #expect(answer.head.status == .found)
        #expect(answer.head.headerFields[.location] == "/elsewhere")
        #expect(try answer.body.get() == Data("moved".utf8))
        #expect(answer.origin.requestCount == 1)
    }

    @Test(
        "An unknown content coding is left to the caller", arguments: TransportAdapter.allCases,
        ["zip", "identity", "r"])
    func unknownCoding(adapter: TransportAdapter, coding: String) async throws {
        let answer = try await adapter.exchange(.status(.ok, fields: [.contentEncoding: coding], body: "as it is".utf8))
        if case .success(let bytes) = answer.body {
            #expect(bytes == Data("as it is".utf8))
            #expect(answer.head.headerFields[.contentEncoding] == coding)
        }
    }
}

extension TransportAdapter {
    /// The response to a request for `reply`, with an unread body.
    func response(to reply: OriginReply, idleTimeout: Int = 60) async throws -> TransportResponse {
        let origin = try await LoopbackOrigin { _ in reply }
        let transport = make(idleTimeout: idleTimeout)
        let response = try await transport.send(.to(origin), content: nil)
        // The origin lives as long as the body.
        let body = response.body
        return TransportResponse(
            head: response.head,
            body: TransportBody { () async throws(TransportError) in
                defer { withExtendedLifetime(origin) {} }
                return try await body.next()
            },
            isBodyDecoded: response.isBodyDecoded)
    }
}

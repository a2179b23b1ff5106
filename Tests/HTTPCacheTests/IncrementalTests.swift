import TestSupport

@Suite("Incremental", .timeLimit(.minutes(5))) struct IncrementalTests {
    @Test(
        "Delivers chunks of a response as they arrive, stored or not, and Incremental with them", .requirement("N01"),
        arguments: ["max-age=60", "no-store", "no-cache"], [false, true])
    func pieces(directives: String, hasRange: Bool) async throws {
        let next = Gate()
        let incremental = HTTPField.Name("Incremental")!
        let origin = try await LoopbackOrigin { _ in
            var reply = OriginReply.ok("onetwo".utf8, cacheControl: directives, etag: "\"1\"")
            reply.fields[incremental] = "?1"
            return reply.delivered(.paced(bytes: 3) { if $0 > 0 { await next.wait() } })
        }
        let cache = try LoaderFixture(transport: DefaultTransport.patient()).cache
        var request = HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/events")
        if hasRange { request.headerFields[.range] = "bytes=0-" }
        let response = try await cache.response(for: request)
        #expect(response.headerFields[incremental] == "?1")
        var pieces = response.body.makeAsyncIterator()
        // The origin sends the second chunk after the delivery of the first.
        #expect(try await pieces.next() == Data("one".utf8))
        next.open()
        #expect(try await pieces.next() == Data("two".utf8))
        #expect(try await pieces.next() == nil)
        await origin.stop()
    }

    @Test("Sends chunks of a request as they are produced, and Incremental with them", .requirement("N01"))
    func request() async throws {
        let isSent = Gate()
        let incremental = HTTPField.Name("Incremental")!
        let cache = try LoaderFixture(transport: PieceTransport(field: incremental, isSent: isSent)).cache
        let request = HTTPRequest.to("/", method: .post, [incremental: "?1"])
        let first = TransportBody(Data("one".utf8))
        let content = RequestContent(length: nil) { () async throws(TransportError) -> Data? in
            if let piece = try await first.next() { return piece }
            // The second chunk is produced only after the first was sent.
            await isSent.wait()
            return Data("two".utf8)
        }
        #expect(try await cache.response(for: request, content: content).status == .ok)
    }
}

/// Reads two chunks of a content, and opens a gate between them.
private struct PieceTransport: HTTPTransport {
    /// The field that the request must have.
    let field: HTTPField.Name
    let isSent: Gate

    func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        #expect(request.headerFields[field] == "?1")
        #expect(try await content?.next() == Data("one".utf8))
        isSent.open()
        #expect(try await content?.next() == Data("two".utf8))
        return .reply()
    }
}

import TestSupport

@Suite("HTTPCache: HEAD", .timeLimit(.minutes(5))) struct HeadRequestTests {
    private let origin = RepresentationOrigin(
        "0123456789",
        [.cacheControl: "max-age=60", .eTag: "\"1\"", .lastModified: "Sun, 06 Nov 1994 08:00:00 GMT", .server: "one"])

    @Test("A stored GET answers HEAD with the same fields and no body", .requirement("R05"))
    func answered() async throws {
        let (transport, fixture) = try await origin.filled()
        let get = try await fixture.cache.response(for: .to("/a"))
        let head = try await fixture.cache.response(for: .to("/a", method: .head))
        #expect(head.headerFields == get.headerFields)
        #expect(head.headerFields[.contentLength] == "10")
        #expect(head.body.byteCount == 0)
        #expect(try await head.data().isEmpty)
        #expect(transport.requestCount == 1)
    }

    @Test("A HEAD freshens the stored response, and keeps the fields that the HEAD lacks", .requirement("H01", "H02"))
    func confirming() async throws {
        let (transport, fixture) = try await origin.filled()
        fixture.clock.advance(by: 100)
        origin.set {
            $0.override = { request in
                request.method == .head
                    ? .reply(
                        200,
                        [
                            .cacheControl: "max-age=500", .eTag: "\"1\"", .contentLength: "10",
                            .lastModified: "Sun, 06 Nov 1994 08:00:00 GMT", .contentLanguage: "en",
                        ]) : nil
            }
        }
        let head = try await fixture.cache.response(for: .to("/a", method: .head, [.cacheControl: "no-cache"]))
        #expect(head.status == .ok)
        #expect(try await head.bytes.isEmpty)
        let hit = try await fixture.cache.response(for: .to("/a"))
        #expect(hit.source == .disk)
        #expect(hit.headerFields[.server] == "one")
        #expect(hit.headerFields[.contentLanguage] == "en")
        #expect(try await hit.text == "0123456789")
        fixture.clock.advance(by: 499)
        #expect(try await fixture.cache.response(for: .to("/a")).source == .disk)
        #expect(transport.requestCount == 2)
    }

    @Test(
        "A HEAD that contradicts the stored response makes it stale", .requirement("H01"),
        arguments: ["etag", "length", "modified"])
    func contradicting(field: String) async throws {
        let (transport, fixture) = try await origin.filled()
        fixture.clock.advance(by: 100)
        origin.set {
            $0.override = { request in
                guard request.method == .head else { return nil }
                return .reply(
                    200,
                    [
                        .cacheControl: "max-age=60", .eTag: field == "etag" ? "\"2\"" : "\"1\"",
                        .contentLength: field == "length" ? "11" : "10",
                        .lastModified: "Sun, 06 Nov 1994 08:00:0\(field == "modified" ? 1 : 0) GMT",
                    ])
            }
        }
        let head = try await fixture.cache.response(for: .to("/a", method: .head))
        #expect(head.source == .network)
        #expect(try await fixture.cache.response(for: .to("/a")).source == .notModified)
        #expect(transport.requestCount == 3)
    }

    @Test("A HEAD without Accept-Encoding keeps the stored coded body of a GET", .requirement("H01"))
    func otherCoding() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            var fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"a\"", .contentLength: "400"]
            if request.method == .head { return .reply(200, fields) }
            if request.headerFields[.ifNoneMatch] != nil { return .reply(304, [.eTag: "\"a\""]) }
            fields[.eTag] = "W/\"a\""
            fields[.contentLength] = "4"
            fields[.contentEncoding] = "unknown"
            return .reply(200, fields, "body")
        }
        _ = try await fixture.cache.response(for: .to("/a", [.acceptEncoding: "unknown"])).data()
        _ = try await fixture.cache.response(for: .to("/a", method: .head, [.cacheControl: "no-cache"])).data()
        let response = try await fixture.cache.response(for: .to("/a", [.acceptEncoding: "unknown"]))
        #expect(response.source == .notModified)
        #expect(try await response.text == "body")
        #expect(response.headerFields[.contentEncoding] == "unknown")
    }

    @Test("A failed HEAD keeps the stored response", .requirement("H03"), arguments: [404, 410, 500, 302])
    func failing(code: Int) async throws {
        let (_, fixture) = try await origin.filled()
        origin.set { $0.override = { $0.method == .head ? .reply(.init(code: code), [.location: "/b"]) : nil } }
        let head = try await fixture.cache.response(for: .to("/a", method: .head, [.cacheControl: "no-cache"]))
        #expect(head.status.code == code)
        #expect(try await fixture.cache.response(for: .to("/a")).source == .disk)
    }

    @Test("A 304 to the validation for a HEAD freshens the stored GET", .requirement("C06", "U05"))
    func validated() async throws {
        let (transport, fixture) = try await origin.filled()
        fixture.clock.advance(by: 100)
        let head = try await fixture.cache.response(for: .to("/a", method: .head))
        #expect(head.source == .notModified)
        #expect(head.status == .ok)
        #expect(head.headerFields[.contentLength] == "10")
        #expect(try await head.bytes.isEmpty)
        #expect(try await fixture.cache.response(for: .to("/a")).text == "0123456789")
        #expect(transport.requestCount == 2)
    }

    @Test("A HEAD without a stored response stores nothing, returns the origin's Content-Length", .requirement("S01"))
    func nothingStored() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: origin.transport)
        for _ in 0..<2 {
            let head = try await fixture.cache.response(for: .to("/a", method: .head))
            #expect(head.headerFields[.contentLength] == "10")
            #expect(try await head.bytes.isEmpty)
            #expect(head.cacheStatus == "CacheStore;fwd=uri-miss;fwd-status=200")
        }
        #expect(transport.requestCount == 2)
    }
}

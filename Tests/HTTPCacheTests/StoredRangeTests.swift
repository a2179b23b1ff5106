import TestSupport

@Suite("HTTPCache: ranges from the store", .timeLimit(.minutes(5))) struct StoredRangeTests {
    private let key: CacheKey
    private let origin = RepresentationOrigin("0123456789")

    init() throws { key = try CacheKey(url: "https://example.com/a") }

    @Test(
        "A range of a stored whole is a 206 with its own length", .requirement("G04", "G11", "G03"),
        arguments: [
            ("bytes=0-3", "0123", "bytes 0-3/10"), ("bytes=7-", "789", "bytes 7-9/10"),
            ("bytes=-2", "89", "bytes 8-9/10"), ("bytes=8-99", "89", "bytes 8-9/10"),
            ("bytes=-99", "0123456789", "bytes 0-9/10"), ("bytes=5-99999999999999999999", "56789", "bytes 5-9/10"),
        ])
    func single(range: String, text: String, contentRange: String) async throws {
        let (transport, fixture) = try await origin.filled()
        let part = try await fixture.cache.response(for: .to("/a", [.range: range]))
        #expect(part.status == .partialContent)
        #expect(part.headerFields[.contentRange] == contentRange)
        #expect(part.headerFields[.contentLength] == String(text.utf8.count))
        #expect(part.headerFields[.age] == "0")
        #expect(part.body.byteCount == Int64(text.utf8.count))
        #expect(try await part.text == text)
        #expect(try await fixture.cache.response(for: .to("/a", [.range: range])).data() == Data(text.utf8))
        #expect(transport.requestCount == 1)
    }

    @Test(
        "An invalid range, or the range of another method than GET, is ignored", .requirement("G11", "G13"),
        arguments: ["bytes=5-2", "lines=1-2", "x"])
    func ignored(range: String) async throws {
        let (transport, fixture) = try await origin.filled()
        let whole = try await fixture.cache.response(for: .to("/a", [.range: range]))
        #expect(whole.status == .ok)
        #expect(try await whole.text == "0123456789")
        let head = try await fixture.cache.response(for: .to("/a", method: .head, [.range: "bytes=0-1"]))
        #expect(head.status == .ok)
        #expect(head.headerFields[.contentLength] == "10")
        #expect(try await head.bytes.isEmpty)
        #expect(transport.requestCount == 1)
    }

    @Test("A range beyond the end is a 416 with the length", .requirement("G12"))
    func unsatisfiable() async throws {
        let (transport, fixture) = try await origin.filled()
        let answer = try await fixture.cache.response(for: .to("/a", [.range: "bytes=10-"]))
        #expect(answer.status == .rangeNotSatisfiable)
        #expect(answer.headerFields[.contentRange] == "bytes */10")
        #expect(try await answer.bytes.isEmpty)
        #expect(try await fixture.cache.response(for: .to("/a")).text == "0123456789")
        #expect(transport.requestCount == 1)
    }

    @Test("A 416 of the origin keeps a stored whole", .requirement("G12"))
    func originUnsatisfiable() async throws {
        let (_, fixture) = try await origin.filled()
        fixture.clock.advance(by: 61)
        origin.set { $0.override = { _ in .reply(416, [.contentRange: "bytes */10", .cacheControl: "max-age=60"]) } }
        let answer = try await fixture.cache.response(for: .to("/a", [.range: "bytes=10-"]))
        #expect(answer.status == .rangeNotSatisfiable)
        #expect(answer.source == .network)
        #expect(try fixture.store.responses(for: key).map(\.metadata.status) == [200])
    }

    @Test("Evaluates conditions before ranges", .requirement("G13"))
    func conditionFirst() async throws {
        let (transport, fixture) = try await origin.filled()
        let request = HTTPRequest.to("/a", [.range: "bytes=0-1", .ifNoneMatch: "\"1\""])
        #expect(try await fixture.cache.response(for: request).status == .notModified)
        let other = HTTPRequest.to("/a", [.range: "bytes=0-1", .ifNoneMatch: "\"2\""])
        #expect(try await fixture.cache.response(for: other).text == "01")
        #expect(transport.requestCount == 1)
    }

    @Test(
        "If-Range compares strongly; after a mismatch the answer is the whole", .requirement("G14"),
        arguments: [("\"1\"", "01"), ("\"2\"", "0123456789"), ("W/\"1\"", "0123456789")])
    func ifRange(value: String, text: String) async throws {
        let (transport, fixture) = try await origin.filled()
        let answer = try await fixture.cache.response(for: .to("/a", [.range: "bytes=0-1", .ifRange: value]))
        #expect(answer.status == (text.utf8.count == 2 ? .partialContent : .ok))
        #expect(try await answer.text == text)
        #expect(transport.requestCount == 1)
    }

    @Test("A date in If-Range is compared byte for byte, and only if it is strong", .requirement("G14"))
    func ifRangeDate() async throws {
        let modified = "Sun, 06 Nov 1994 08:00:00 GMT"
        for (date, isStrong) in [("Sun, 06 Nov 1994 08:49:37 GMT", true), (modified, false)] {
            let origin = RepresentationOrigin(
                "0123456789", [.cacheControl: "max-age=99999", .lastModified: modified, .date: date])
            let fixture = try LoaderFixture(transport: origin.transport)
            _ = try await fixture.cache.response(for: .to("/a")).bytes
            let same = try await fixture.cache.response(for: .to("/a", [.range: "bytes=0-1", .ifRange: modified]))
            #expect(same.status == (isStrong ? .partialContent : .ok))
            let later = HTTPFields([.init(name: .range, value: "bytes=0-1"), .init(name: .ifRange, value: date)])
            if date != modified { #expect(try await fixture.cache.response(for: .to("/a", later)).status == .ok) }
        }
    }

    @Test("Several ranges are a multipart, unless they overlap", .requirement("G17"))
    func several() async throws {
        let (transport, fixture) = try await origin.filled()
        let parts = try await fixture.cache.response(for: .to("/a", [.range: "bytes=0-1, 5-6"]))
        #expect(parts.status == .partialContent)
        #expect(parts.headerFields[.contentType]?.hasPrefix("multipart/byteranges; boundary=") == true)
        let text = try await parts.text
        #expect(text.contains("Content-Range: bytes 0-1/10\r\n\r\n01\r\n--"))
        #expect(text.contains("Content-Range: bytes 5-6/10\r\n\r\n56\r\n--"))
        #expect(parts.headerFields[.contentLength] == String(text.utf8.count))
        let whole = try await fixture.cache.response(for: .to("/a", [.range: "bytes=0-5, 1-6, 2-7"]))
        #expect(whole.status == .ok)
        #expect(try await whole.text == "0123456789")
        #expect(transport.requestCount == 1)
    }

    @Test("A body that the transport has decoded serves no ranges", .requirement("G16"))
    func decoded() async throws {
        let transport = ScriptedTransport { _, _ in
            var reply = TransportResponse.reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\""], "0123456789")
            reply.isBodyDecoded = true
            return reply
        }
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        let answer = try await fixture.cache.response(for: .to("/a", [.range: "bytes=0-1"]))
        #expect(answer.status == .ok)
        #expect(try await answer.text == "0123456789")
    }
}

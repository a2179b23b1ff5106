import TestSupport

@Suite("HTTPCache: conditions of the caller", .timeLimit(.minutes(5))) struct CallerConditionTests {
    private let modified = "Sun, 06 Nov 1994 08:00:00 GMT"

    private func filled(
        _ fields: HTTPFields, then: @escaping @Sendable (HTTPRequest) -> TransportResponse
    ) async throws -> (LoaderFixture, ScriptedTransport) {
        let number = Counter()
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            number.next() == 1 ? .reply(200, fields, "stored") : then(request)
        }
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        return (fixture, transport)
    }

    @Test(
        "The stored response evaluates the condition: If-None-Match weakly, in lists, and *", .requirement("C07"),
        arguments: [
            ("\"1\"", 304), ("W/\"1\"", 304), ("\"0\", \"1\"", 304), ("*", 304), ("\"0\"", 200), ("1", 200),
        ])
    func ifNoneMatch(value: String, status: Int) async throws {
        let (fixture, transport) = try await filled(
            [.cacheControl: "max-age=60", .eTag: "\"1\"", .contentType: "text/plain", .contentLength: "6"]
        ) { _ in .reply(500) }
        fixture.clock.advance(by: 5)
        let answer = try await fixture.cache.response(for: .to("/a", [.ifNoneMatch: value]))
        #expect(answer.status.code == status)
        #expect(answer.headerFields[.eTag] == "\"1\"")
        #expect(answer.headerFields[.age] == "5")
        #expect(try await answer.text == (status == 304 ? "" : "stored"))
        #expect(answer.headerFields.contains(.contentLength) == (status == 200))
        #expect(answer.cacheStatus == "CacheStore;hit;ttl=55")
        let head = try await fixture.cache.response(for: .to("/a", method: .head, [.ifNoneMatch: value]))
        #expect(head.status.code == status)
        #expect(transport.requestCount == 1)
    }

    @Test("Last-Modified evaluates If-Modified-Since, which is ignored with If-None-Match", .requirement("C07", "C08"))
    func ifModifiedSince() async throws {
        let (fixture, transport) = try await filled(
            [.cacheControl: "max-age=60", .eTag: "\"1\"", .lastModified: modified]
        ) { _ in .reply(500) }
        let cases: [(HTTPFields, Int)] = [
            ([.ifModifiedSince: modified], 304), ([.ifModifiedSince: "Sun, 06 Nov 1994 08:00:01 GMT"], 304),
            ([.ifModifiedSince: "Sun, 06 Nov 1994 07:59:59 GMT"], 200), ([.ifModifiedSince: "yesterday"], 200),
            ([.ifModifiedSince: modified, .ifNoneMatch: "\"0\""], 200),
            ([.ifModifiedSince: "Sun, 06 Nov 1994 07:59:59 GMT", .ifNoneMatch: "\"1\""], 304),
        ]
        for (fields, status) in cases {
            #expect(try await fixture.cache.response(for: .to("/a", fields)).status.code == status, "\(fields)")
        }
        #expect(transport.requestCount == 1)
    }

    @Test(
        "Without Last-Modified, the date of the response counts, or of its receipt", .requirement("C09"),
        arguments: [true, false])
    func withoutLastModified(hasDate: Bool) async throws {
        var fields: HTTPFields = [.cacheControl: "max-age=60"]
        // The time of the fixture's clock.
        if hasDate { fields[.date] = "Sun, 06 Nov 1994 08:49:37 GMT" }
        let (fixture, _) = try await filled(fields) { _ in .reply(500) }
        for (date, status) in [("08:49:37", 304), ("08:49:36", 200)] {
            let request = HTTPRequest.to("/a", [.ifModifiedSince: "Sun, 06 Nov 1994 \(date) GMT"])
            #expect(try await fixture.cache.response(for: request).status.code == status)
        }
    }

    @Test(
        "If-Match and If-Unmodified-Since are forwarded unchanged", .requirement("C10"),
        arguments: [[.ifMatch: "\"1\""], [.ifUnmodifiedSince: "Sun, 06 Nov 1994 08:00:00 GMT"]] as [HTTPFields])
    func originOnly(_ fields: HTTPFields) async throws {
        let (fixture, transport) = try await filled([.cacheControl: "max-age=60", .eTag: "\"1\""]) { _ in .reply(412) }
        let answer = try await fixture.cache.response(for: .to("/a", fields))
        #expect(answer.status == .preconditionFailed)
        #expect(answer.cacheStatus == "CacheStore;fwd=bypass;fwd-status=412")
        #expect(transport.requests.last?.headerFields == fields)
        #expect(try await fixture.cache.response(for: .to("/a")).text == "stored")
    }

    @Test("One request validates a stale response and a caller's tag; a 304 becomes its 200", .requirement("C06"))
    func bothTags() async throws {
        let (fixture, transport) = try await filled([.cacheControl: "max-age=10", .eTag: "\"stored\""]) { _ in
            .reply(304, [.eTag: "\"stored\"", .cacheControl: "max-age=10"])
        }
        fixture.clock.advance(by: 20)
        let answer = try await fixture.cache.response(for: .to("/a", [.ifNoneMatch: "\"mine\""]))
        #expect(transport.requests.last?.headerFields[.ifNoneMatch] == "\"mine\", \"stored\"")
        #expect(answer.status == .ok)
        #expect(answer.source == .notModified)
        #expect(try await answer.text == "stored")
        #expect(try await fixture.cache.response(for: .to("/a")).source == .disk)
    }

    @Test("A 304 for the caller's own tag reaches the caller, and freshens nothing", .requirement("K3", "C06"))
    func ownTag() async throws {
        let (fixture, transport) = try await filled([.cacheControl: "max-age=10", .eTag: "\"stored\""]) { _ in
            .reply(304, [.eTag: "\"mine\"", .cacheControl: "max-age=10"])
        }
        fixture.clock.advance(by: 20)
        let answer = try await fixture.cache.response(for: .to("/a", [.ifNoneMatch: "\"mine\""]))
        #expect(answer.status == .notModified)
        #expect(answer.headerFields[.eTag] == "\"mine\"")
        #expect(transport.requestCount == 2)
        let stored = try fixture.store.peek(CacheKey(url: "https://example.com/a"))
        #expect(stored?.metadata.etag == "\"stored\"")
    }

    @Test("A 304 that does not say which of two tags it confirms answers neither", .requirement("C06", "C13"))
    func nobodysTag() async throws {
        let (fixture, transport) = try await filled([.cacheControl: "max-age=10", .eTag: "\"stored\""]) { request in
            request.headerFields[.ifNoneMatch]?.contains("stored") == true ? .reply(304) : .reply(200, [:], "new")
        }
        fixture.clock.advance(by: 20)
        let answer = try await fixture.cache.response(for: .to("/a", [.ifNoneMatch: "\"mine\""]))
        #expect(answer.status == .ok)
        #expect(try await answer.text == "new")
        #expect(transport.requests.last?.headerFields[.ifNoneMatch] == "\"mine\"")
    }

    @Test("A bare 304 for the stored tag does not confirm the caller's date of an older copy", .requirement("C06"))
    func olderDate() async throws {
        let (fixture, transport) = try await filled(
            [.cacheControl: "max-age=10", .eTag: "\"1\"", .lastModified: modified]
        ) { _ in .reply(304) }
        fixture.clock.advance(by: 20)
        let request = HTTPRequest.to("/a", [.ifModifiedSince: "Sat, 05 Nov 1994 08:00:00 GMT"])
        let answer = try await fixture.cache.response(for: request)
        #expect(answer.status == .ok)
        #expect(try await answer.text == "stored")
        #expect(transport.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
        #expect(transport.requests.last?.headerFields[.ifModifiedSince] == modified)
    }

    @Test("A full response to a validation or a caller's condition replaces the stored one", .requirement("C11"))
    func replaced() async throws {
        for fields in [[:], [.ifNoneMatch: "\"mine\""]] as [HTTPFields] {
            let (fixture, _) = try await filled([.cacheControl: "max-age=10", .eTag: "\"1\""]) { _ in
                .reply(200, [.cacheControl: "max-age=10", .eTag: "\"2\""], "new")
            }
            fixture.clock.advance(by: 20)
            let answer = try await fixture.cache.response(for: .to("/a", fields))
            #expect(answer.status == .ok)
            #expect(answer.source == .network)
            #expect(try await answer.text == "new")
            #expect(try await fixture.cache.response(for: .to("/a")).text == "new")
        }
    }

    @Test("An entry removed during its validation still answers, and is not stored again", .requirement("C13"))
    func removedMeanwhile() async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            guard request.headerFields[.ifNoneMatch] != nil else {
                return .reply(200, [.cacheControl: "max-age=10", .eTag: "\"1\""], "stored")
            }
            await gate.wait()
            return .reply(304, [.eTag: "\"1\"", .cacheControl: "max-age=10"])
        }
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        fixture.clock.advance(by: 20)
        async let answer = fixture.cache.response(for: .to("/a")).text
        await gate.reached(1)
        try await fixture.store.remove(CacheKey(url: "https://example.com/a"))
        gate.open()
        #expect(try await answer == "stored")
        #expect(try fixture.store.statistics().entries == 0)
        #expect(transport.requestCount == 2)
    }
}

import TestSupport

@Suite("HTTPCache: QUERY", .timeLimit(.minutes(5))) struct QueryTests {
    private static let sql: HTTPFields = [.contentType: "application/sql"]

    /// An origin that answers with the content of the request.
    private static func echo(_ fields: HTTPFields = [.cacheControl: "max-age=60"]) -> ScriptedTransport {
        ScriptedTransport { request, content in
            .reply(200, fields, "\(request.method): \(String(decoding: content ?? Data(), as: UTF8.self))")
        }
    }

    private func answer(
        _ fixture: LoaderFixture, _ content: RequestContent?, _ fields: HTTPFields = sql, _ path: String = "/a"
    ) async throws -> (source: ResponseSource, text: String) {
        let response = try await fixture.cache.response(for: .to(path, method: .query, fields), content: content)
        return (response.source, try await response.text)
    }

    private func content(_ text: String) -> RequestContent { RequestContent(Data(text.utf8)) }

    @Test("The store answers an equal QUERY, but not a different one", .requirement("Q11"))
    func stored() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: Self.echo())
        for (text, source) in [("one", ResponseSource.network), ("one", .disk), ("two", .network), ("two", .disk)] {
            let answer = try await answer(fixture, content(text))
            #expect(answer == (source, "QUERY: \(text)"))
        }
        #expect(try await answer(fixture, content("one"), [.contentType: "text/plain"]).source == .network)
        #expect(try await answer(fixture, content("one"), Self.sql, "/b").source == .network)
        #expect(transport.sent.map(\.request.method) == [.query, .query, .query, .query])
        #expect(transport.sent.map(\.body) == ["one", "two", "one", "one"].map { Data($0.utf8) })
    }

    @Test("A stored response to a QUERY answers no GET of its URL, and vice versa", .requirement("Q11"))
    func otherMethod() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: Self.echo())
        _ = try await answer(fixture, content("one"))
        #expect(try await fixture.cache.response(for: .to("/a")).text == "GET: ")
        #expect(try await answer(fixture, nil).text == "QUERY: ")
        #expect(try await answer(fixture, nil).source == .disk)
        #expect(try await fixture.cache.response(for: .to("/a", method: .head)).source == .disk)
        #expect(transport.requestCount == 3)
    }

    @Test("The index contains the URL of a stored QUERY", .requirement("Q11"))
    func row() async throws {
        let fixture = try LoaderFixture(transport: Self.echo())
        _ = try await answer(fixture, content("one"))
        let rows = try fixture.store.query("SELECT url, host FROM cache_entries")
        #expect(rows.map { $0["url"]?.text } == ["https://example.com/a"])
        #expect(rows.map { $0["host"]?.text } == ["example.com"])
    }

    @Test(
        "A QUERY without Content-Type, with long content or with a stream bypasses the store", .requirement("Q12"),
        arguments: ["type", "length", "stream"])
    func bypass(kind: String) async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: Self.echo())
        // A stored GET of the URL neither answers nor is removed.
        _ = try await fixture.cache.response(for: .to("/a")).text
        let fields = kind == "type" ? [:] : Self.sql
        let bytes = Data(repeating: 0x61, count: kind == "length" ? 65_537 : 10)
        for _ in 0..<2 {
            let content: RequestContent
            if kind == "stream" {
                let rest = Mutex<Data?>(bytes)
                content = RequestContent(length: 10) { () async throws(TransportError) in rest.withLock { $0.take() } }
            } else {
                content = RequestContent(bytes)
            }
            let answer = try await answer(fixture, content, fields)
            #expect(answer.source == .network)
            #expect(answer.text.hasPrefix("QUERY: aaaa"))
        }
        #expect(try await fixture.cache.response(for: .to("/a")).source == .disk)
        #expect(try fixture.store.statistics().entries == 1)
        #expect(transport.requestCount == 3)
    }

    @Test("JSON that differs in whitespace or order of members has a separate stored response", .requirement("Q13"))
    func exactContent() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: Self.echo())
        let json: HTTPFields = [.contentType: "application/json"]
        let texts = [#"{"a":1,"b":2}"#, #"{"a": 1, "b": 2}"#, #"{"b":2,"a":1}"#]
        for source in [ResponseSource.network, .disk] {
            for text in texts { #expect(try await answer(fixture, content(text), json) == (source, "QUERY: \(text)")) }
        }
        #expect(transport.sent.map(\.body) == texts.map { Data($0.utf8) })
    }

    @Test("A stored GET survives a QUERY to its URL; a POST invalidates answers to queries, too", .requirement("Q14"))
    func invalidation() async throws {
        let fixture = try LoaderFixture(transport: Self.echo())
        _ = try await fixture.cache.response(for: .to("/a")).text
        for text in ["one", "two"] { _ = try await answer(fixture, content(text)) }
        _ = try await answer(fixture, content("one"), Self.sql, "/ab")
        #expect(try await fixture.cache.response(for: .to("/a")).source == .disk)
        _ = try await fixture.cache.response(for: .to("/a", method: .post), content: content("change")).text
        #expect(try await answer(fixture, content("one")).source == .network)
        #expect(try await answer(fixture, content("two")).source == .network)
        #expect(try await fixture.cache.response(for: .to("/a")).source == .network)
        #expect(try await answer(fixture, content("one"), Self.sql, "/ab").source == .disk)
    }

    @Test("A QUERY that began before a removal of its URL is not stored", .requirement("Q14"))
    func removedMeanwhile() async throws {
        let fed = FedBody("one, ")
        let (_, fixture) = try LoaderFixture.scripted { _, _ in fed.response(.ok, [.cacheControl: "max-age=60"]) }
        let response = try await fixture.cache.response(for: .to("/a", method: .query, Self.sql))
        try await fixture.store.remove(try CacheKey(url: "https://example.com/a"))
        fed.feed("two")
        fed.end()
        #expect(try await response.text == "one, two")
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("A QUERY with its content validates a stale answer, and a 304 freshens it", .requirement("Q15"))
    func validation() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, content in
            request.headerFields[.ifNoneMatch] == "\"1\""
                ? .reply(304, [.eTag: "\"1\"", .cacheControl: "max-age=60"])
                : .reply(200, [.eTag: "\"1\"", .cacheControl: "max-age=60"], "rows")
        }
        _ = try await answer(fixture, content("one"))
        fixture.clock.advance(by: 61)
        #expect(try await answer(fixture, content("one")) == (.notModified, "rows"))
        #expect(try await answer(fixture, content("one")) == (.disk, "rows"))
        #expect(transport.sent.map(\.body) == ["one", "one"].map { Data($0.utf8) })
        #expect(transport.requests.map(\.method) == [.query, .query])
        // Evaluates the condition of the caller, as for a GET.
        var fields = Self.sql
        fields[.ifNoneMatch] = "\"1\""
        let response = try await fixture.cache.response(for: .to("/a", method: .query, fields), content: content("one"))
        #expect(response.status == .notModified)
        #expect(transport.requestCount == 2)
    }

    @Test("The background validation of a stale answer sends the content again", .requirement("Q15"))
    func background() async throws {
        let transport = Self.echo([.cacheControl: "max-age=60, stale-while-revalidate=60", .eTag: "\"1\""])
        let fixture = try LoaderFixture(transport: transport)
        _ = try await answer(fixture, content("one"))
        fixture.clock.advance(by: 61)
        #expect(try await answer(fixture, content("one")) == (.disk, "QUERY: one"))
        await eventually { !fixture.cache.isRevalidating }
        #expect(transport.sent.map(\.body) == ["one", "one"].map { Data($0.utf8) })
        #expect(transport.requests.map(\.method) == [.query, .query])
    }

    @Test("A failing origin leads to the stale answer", .requirement("Q15"))
    func staleOnError() async throws {
        let isDown = Counter()
        let (_, fixture) = try LoaderFixture.scripted { _, _ throws(TransportError) in
            if isDown.next() > 1 { throw TransportError(.cannotConnect) }
            return .reply(200, [.cacheControl: "max-age=60"], "rows")
        }
        _ = try await answer(fixture, content("one"))
        fixture.clock.advance(by: 61)
        #expect(try await answer(fixture, content("one")) == (.disk, "rows"))
        #expect(try await fixture.cache.response(for: .to("/a", method: .query, Self.sql)).status == .badGateway)
    }

    @Test("A GET of the Location in a QUERY's response is a separate request, and stored as a GET", .requirement("Q17"))
    func location() async throws {
        let fixture = try LoaderFixture(transport: Self.echo([.cacheControl: "max-age=60", .location: "/results/1"]))
        _ = try await answer(fixture, content("one"))
        #expect(try await fixture.cache.response(for: .to("/results/1")).text == "GET: ")
        #expect(try await fixture.cache.response(for: .to("/results/1")).source == .disk)
    }

    @Test("Concurrent equal queries are one request to the origin", .requirement("Q18"))
    func coalesced() async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.scripted { _, content in
            await gate.wait()
            return .reply(200, [.cacheControl: "max-age=60"], String(decoding: content ?? Data(), as: UTF8.self))
        }
        async let answers = withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<20 { group.addTask { try await answer(fixture, content("\(number % 2)")).text } }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        await eventually { transport.requestCount >= 2 }
        gate.open()
        #expect(try await answers == ["0": 10, "1": 10])
        #expect(transport.requestCount == 2)
    }

    @Test("The explanation of a QUERY names its stored response", .requirement("Q11"))
    func explained() async throws {
        let fixture = try LoaderFixture(transport: Self.echo())
        _ = try await answer(fixture, content("one"))
        let request = HTTPRequest.to("/a", method: .query, Self.sql)
        let known = try fixture.cache.explanation(of: request, content: content("one"))
        #expect(known.outcome == .hit)
        #expect(known.method == .query)
        #expect(known.description.contains("QUERY https://example.com/a"))
        #expect(try fixture.cache.explanation(of: request, content: content("two")).outcome == .forward)
        #expect(try fixture.cache.storedResponse(for: request, content: content("one"))?.source == .disk)
        #expect(try fixture.cache.storedResponse(for: request) == nil)
    }
}

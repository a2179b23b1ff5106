import TestSupport

@Suite("Explanations of cache decisions") struct ExplainingTests {
    /// A cache that has requested `/a` once, and its transport.
    private static func cache(_ fields: HTTPFields) async throws -> (LoaderFixture, ScriptedTransport) {
        let transport = ScriptedTransport(.status(.ok, fields: fields, body: "body".utf8))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        return (fixture, transport)
    }

    @Test("An explanation asks no origin, and does not count as an access")
    func changesNothing() async throws {
        let (fixture, transport) = try await Self.cache([.cacheControl: "max-age=60", .eTag: "\"1\""])
        try await fixture.store.flush()
        func state() throws -> [[SQLValue]] {
            try ["cache_entries", "cache_requests", "cache_stats"].flatMap {
                try fixture.store.query("SELECT * FROM \($0)").rows
            }
        }
        let before = try state()
        #expect(try fixture.cache.explanation(of: .to("/a")).outcome == .hit)
        #expect(try fixture.cache.explanation(of: .to("/other")).outcome == .forward)
        #expect(try fixture.cache.explanation(of: .to("/a", method: .delete)).outcome == .forward)
        let none = CachePolicy.Override(lifetimeOverride: .doNotStore)
        #expect(try fixture.cache.explanation(of: .to("/a"), policy: none).outcome == .forward)
        fixture.clock.advance(by: 60)
        #expect(try fixture.cache.explanation(of: .to("/a")).outcome == .validate)
        #expect(try fixture.cache.explanation(of: .to("/a"), policy: .cacheOnly).outcome == .staleHit)
        #expect(try fixture.cache.explanation(of: .to("/b"), policy: .cacheOnly).outcome == .unsatisfiable)
        fixture.clock.advance(by: -60)
        try await fixture.store.flush()
        #expect(try state() == before)
        #expect(transport.requestCount == 1)
    }

    @Test("An explanation reports a lost body, and keeps its entry")
    func bodyGone() async throws {
        let (fixture, _) = try await Self.cache([.cacheControl: "max-age=60"])
        for blob in try fixture.blobs { try FileManager.default.removeItem(at: blob.url) }
        for _ in 0..<2 {
            let explanation = try fixture.cache.explanation(of: .to("/a"))
            #expect(explanation.outcome == .forward)
            #expect(explanation.rule.section == "RFC 9111 §3.3")
            #expect(explanation.candidates.map(\.hasBody) == [false])
            #expect(explanation.candidates.map(\.byteCount) == [4])
        }
    }

    @Test("RFC 5861 §3: explains the background validation")
    func revalidation() async throws {
        let (fixture, transport) = try await Self.cache([
            .cacheControl: "max-age=60, stale-while-revalidate=60", .eTag: "\"1\"",
        ])
        fixture.clock.advance(by: 61)
        let explanation = try fixture.cache.explanation(of: .to("/a"))
        #expect(explanation.outcome == .staleWhileRevalidating)
        #expect(explanation.conditionalFields == [.ifNoneMatch: "\"1\""])
        #expect(transport.requestCount == 1)
    }

    @Test("An equivalent response by No-Vary-Search is named with its own URL")
    func equivalentURL() async throws {
        let (fixture, _) = try await Self.cache([
            .cacheControl: "max-age=60", HTTPField.Name("No-Vary-Search")!: "except=()",
        ])
        let explanation = try fixture.cache.explanation(of: .to("/a?utm=1"))
        #expect(explanation.outcome == .hit)
        #expect(explanation.url == "https://example.com/a?utm=1")
        #expect(explanation.candidates.map(\.url) == ["https://example.com/a"])
        #expect(explanation.description.contains("stored as   https://example.com/a\n"))
    }

    @Test("An explanation contains no credentials")
    func credentials() async throws {
        let transport = ScriptedTransport(
            .status(.ok, fields: [.cacheControl: "max-age=60", .vary: "Cookie"], body: "body".utf8)
        )
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a", [.cookie: "first=1"])).bytes
        let explanation = try fixture.cache.explanation(
            of: .to("/a", [.cookie: "second=2", .authorization: "Basic x"]))
        #expect(explanation.forwardReason == "vary-miss")
        let difference = try #require(explanation.candidates.first?.differences.first { $0.name == "cookie" })
        #expect(difference.stored?.hasPrefix("sha256-") == true)
        #expect(difference.present?.hasPrefix("sha256-") == true)
        for secret in ["first=1", "second=2", "Basic x"] { #expect(!"\(explanation)".contains(secret)) }
    }

    @Test("An explanation predicts the outcome of the request, with the same words")
    func agrees() async throws {
        let (fixture, _) = try await Self.cache([.cacheControl: "max-age=60", .eTag: "\"1\""])
        for seconds in [0, 60] {
            fixture.clock.advance(by: TimeInterval(seconds))
            let explanation = try fixture.cache.explanation(of: .to("/a"))
            let response = try await fixture.cache.response(for: .to("/a"))
            let status = try #require(response.headerFields.first { $0.name.canonicalName == "cache-status" }?.value)
            #expect(status.contains(explanation.outcome == .hit ? "hit" : "fwd=\(explanation.forwardReason ?? "")"))
        }
    }

    @Test("The lines for a stale response, with the calculation")
    func description() async throws {
        let (fixture, _) = try await Self.cache([
            .cacheControl: "max-age=600", .eTag: "\"1\"", .date: "Sun, 06 Nov 1994 08:49:30 GMT",
        ])
        fixture.clock.advance(by: 734)
        #expect(
            try fixture.cache.explanation(of: .to("/a")).description == """
                GET https://example.com/a
                outcome     validate: the cache asks the origin whether the stored response is valid
                rule        RFC 9111 §4.2: the age has reached the freshness lifetime
                reason      stale (RFC 9211 §2.2)
                sends       If-None-Match: "1"

                stored response 1 of 1: status 200, chosen
                lifetime    600 s from max-age
                age         741 s = 7 s on arrival + 734 s in the store
                arrival     7 s = max(7 s since Date, 0 s in Age + 0 s response delay)
                state       stale by 141 s
                validator   ETag "1" (strong)
                body        4 bytes
                """)
    }

    @Test("Requests that cannot be explained")
    func errors() async throws {
        let (fixture, _) = try await Self.cache([.cacheControl: "max-age=60"])
        let relative = HTTPRequest(method: .get, scheme: "ftp", authority: "example.com", path: "/")
        #expect(throws: LoadError.self) { try fixture.cache.explanation(of: relative) }
        fixture.store.close()
        #expect(throws: LoadError.store(.closed)) { try fixture.cache.explanation(of: .to("/a")) }
    }
}

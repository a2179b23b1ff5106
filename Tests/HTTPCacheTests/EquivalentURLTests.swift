import TestSupport

@Suite("HTTPCache: No-Vary-Search", .timeLimit(.minutes(5))) struct EquivalentURLTests {
    private func fixture(_ noVarySearch: String) throws -> (LoaderFixture, ScriptedTransport) {
        let transport = ScriptedTransport { request, _ in
            request.headerFields[.ifNoneMatch] == nil
                ? .reply(
                    200, [.cacheControl: "max-age=60", .eTag: "\"1\"", .noVarySearch: noVarySearch], request.path ?? "")
                : .reply(304, [.eTag: "\"1\"", .cacheControl: "max-age=60"])
        }
        return (try LoaderFixture(transport: transport), transport)
    }

    @Test(
        "A stored response answers a URL that differs only in ignored parameters", .requirement("W10", "W11"),
        arguments: [
            ("params=(\"utm\")", "/a?x=1&utm=2", "/a?x=1", true), ("params=(\"utm\")", "/a?x=1", "/a?utm=3&x=1", true),
            ("params=(\"utm\")", "/a?x=1", "/a?x=2", false), ("params=(\"utm\")", "/a?x=1", "/b?x=1", false),
            ("except=(\"id\")", "/a?id=1&s=2", "/a?id=1&s=3", true),
            ("except=(\"id\")", "/a?id=1", "/a?id=2", false), ("params", "/a?x=1", "/a", false),
            ("key-order", "/a?x=1&y=2", "/a?y=2&x=1", true), ("key-order, params=(\"utm\")", "/a?x=1", "/a?x=3", false),
            ("params, except=(\"id\")", "/a?id=1&s=2", "/a?id=1&s=3", false),
            ("params=?0", "/a?x=1", "/a?x=2", false), ("params=5", "/a?x=1", "/a?x=2", false),
        ])
    func equivalence(field: String, stored: String, asked: String, isHit: Bool) async throws {
        let (fixture, transport) = try fixture(field)
        _ = try await fixture.cache.response(for: .to(stored)).bytes
        let answer = try await fixture.cache.response(for: .to(asked))
        #expect(answer.source == (isHit ? .disk : .network))
        #expect(try await answer.text == (isHit ? stored : asked))
        #expect(transport.requestCount == (isHit ? 1 : 2))
        let head = try await fixture.cache.response(for: .to(asked, method: .head))
        #expect(head.source == .disk)
    }

    @Test("The stored response of the URL itself takes precedence", .requirement("W12"))
    func exactFirst() async throws {
        let (fixture, transport) = try fixture("params=(\"utm\")")
        // Stored before the other response arrived with No-Vary-Search.
        _ = try await fixture.cache.response(for: .to("/a?utm=1")).bytes
        fixture.cache.configuration.policy.mode = .remoteOnly
        _ = try await fixture.cache.response(for: .to("/a?utm=2")).bytes
        fixture.cache.configuration.policy.mode = .http
        for path in ["/a?utm=1", "/a?utm=2"] { #expect(try await fixture.cache.response(for: .to(path)).text == path) }
        #expect(transport.requestCount == 2)
    }

    @Test("A stale equivalent response is validated, and freshened under its own URL", .requirement("W12", "C01"))
    func validated() async throws {
        let (fixture, transport) = try fixture("params=(\"utm\")")
        _ = try await fixture.cache.response(for: .to("/a?utm=1")).bytes
        fixture.clock.advance(by: 100)
        let answer = try await fixture.cache.response(for: .to("/a?utm=2"))
        #expect(answer.source == .notModified)
        #expect(transport.requests.last?.path == "/a?utm=2")
        #expect(try await fixture.cache.response(for: .to("/a?utm=1")).source == .disk)
        #expect(try await fixture.cache.response(for: .to("/a?utm=3")).source == .disk)
        #expect(transport.requestCount == 2)
        #expect(try fixture.store.statistics().entries == 1)
    }

    @Test("An unsafe request invalidates only its exact URL, as RFC 9111 says", .requirement("I01"))
    func invalidated() async throws {
        let (fixture, _) = try fixture("params=(\"utm\")")
        _ = try await fixture.cache.response(for: .to("/a?utm=1")).bytes
        _ = try await fixture.cache.response(for: .to("/a?utm=1", method: .post)).bytes
        #expect(try await fixture.cache.response(for: .to("/a?utm=2")).source == .network)
    }
}

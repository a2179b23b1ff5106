import TestSupport

@Suite("Requests counted by host") struct RequestCountingTests {
    private let url = "https://example.com/a"

    /// Hits, stale, revalidated, misses and errors of the only host.
    private func counts(_ fixture: LoaderFixture) async throws -> [Int64] {
        try await fixture.store.flush()
        let rows = try fixture.store.query("SELECT hits, stale, revalidated, misses, errors FROM cache_requests").rows
        return rows.first?.compactMap(\.integer) ?? []
    }

    @Test("a load counts once, by its answer")
    func loads() async throws {
        let transport = ScriptedTransport(
            .status(.ok, fields: [.cacheControl: "max-age=60", .eTag: "\"1\""], body: "body".utf8), .notModified(),
            .status(.internalServerError, fields: [:], body: "".utf8))
        let fixture = try LoaderFixture(transport: transport)
        #expect(try await fixture.loader.load(url).source == .network)
        #expect(try await counts(fixture) == [0, 0, 0, 1, 0])
        for _ in 0..<3 { #expect(try await fixture.loader.load(url).source == .disk) }
        #expect(try await counts(fixture) == [3, 0, 0, 1, 0])
        fixture.clock.advance(by: 100)
        #expect(try await fixture.loader.load(url).source == .notModified)
        #expect(try await counts(fixture) == [3, 0, 1, 1, 0])
        fixture.clock.advance(by: 100)
        await #expect(throws: LoadError.self) { try await fixture.loader.load(url) }
        #expect(try await counts(fixture) == [3, 0, 1, 1, 1])
        let stale = ResourceRequest(url, headerFields: [.cacheControl: "max-stale"])
        #expect(try await fixture.loader.load(stale).isStale)
        #expect(try await counts(fixture) == [3, 1, 1, 1, 1])
    }

    @Test("an unreachable origin counts as an error")
    func unreachable() async throws {
        let transport = ScriptedTransport { (_, _) throws(TransportError) in throw TransportError(.cannotConnect) }
        let fixture = try LoaderFixture(transport: transport)
        await #expect(throws: LoadError.self) { try await fixture.loader.load(url) }
        #expect(try await fixture.cache.response(for: .to("/a")).status == .badGateway)
        #expect(try await counts(fixture) == [0, 0, 0, 0, 2])
    }

    @Test("a request that forbids the network and misses counts as an error", .requirement("I8"))
    func forbidden() async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport { _, _ in .reply(200) })
        let request = HTTPRequest.to("/a", [.cacheControl: "only-if-cached"])
        #expect(try await fixture.cache.response(for: request).status == .gatewayTimeout)
        #expect(try await counts(fixture) == [0, 0, 0, 0, 1])
    }

    @Test("a 4xx status of the origin is an answer; a 5xx status is an error", arguments: [404, 410, 429, 500, 503])
    func statuses(status: Int) async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport { _, _ in .reply(.init(code: status)) })
        await #expect(throws: LoadError.self) { try await fixture.loader.load(url) }
        #expect(try await fixture.cache.response(for: .to("/a")).status.code == status)
        #expect(try await counts(fixture) == (status < 500 ? [0, 0, 0, 2, 0] : [0, 0, 0, 0, 2]))
    }

    @Test("a stale answer in place of a failed origin counts once", arguments: [nil, 503])
    func staleFallback(status: Int?) async throws {
        let number = Counter()
        let (_, fixture) = try LoaderFixture.scripted { (_, _) throws(TransportError) in
            if number.next() == 1 { return .reply(200, [.cacheControl: "max-age=10, stale-if-error=600"], "body") }
            guard let status else { throw TransportError(.cannotConnect) }
            return .reply(.init(code: status))
        }
        _ = try await fixture.cache.response(for: .to("/a")).text
        fixture.clock.advance(by: 20)
        #expect(try await fixture.cache.response(for: .to("/a")).text == "body")
        #expect(try await counts(fixture) == [0, 1, 0, 1, 0])
    }

    @Test("a validation in the background counts as no request", arguments: [304, 200, 503])
    func background(status: Int) async throws {
        let number = Counter()
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            number.next() == 1
                ? .reply(200, [.cacheControl: "max-age=10, stale-while-revalidate=600", .eTag: "\"1\""], "body")
                : .reply(.init(code: status), [.eTag: "\"1\"", .cacheControl: "max-age=10"])
        }
        _ = try await fixture.cache.response(for: .to("/a")).text
        fixture.clock.advance(by: 20)
        #expect(try await fixture.cache.response(for: .to("/a")).isStale)
        await eventually { transport.requestCount == 2 && !fixture.cache.isRevalidating }
        #expect(try await counts(fixture) == [0, 1, 0, 1, 0])
        #expect(fixture.cache.counters.requests == 2)
        #expect(fixture.cache.counters.revalidations == 0)
    }

    @Test("the store knows the keys whose latest reply through a cache is an error", arguments: [404, 503])
    func failingKeys(status: Int) async throws {
        let isBroken = Mutex(true)
        let (_, fixture) = try LoaderFixture.scripted { (request, _) throws(TransportError) in
            if request.path == "/unreachable" { throw TransportError(.cannotConnect) }
            return isBroken.withLock(\.self)
                ? .reply(.init(code: status)) : .reply(200, [.cacheControl: "no-store"], "body")
        }
        for _ in 0..<2 { _ = try await fixture.cache.response(for: .to("/a")).text }
        let rows = try fixture.store.query("SELECT key, status, error_count FROM cache_errors").rows
        #expect(rows == [[.text(url), .integer(Int64(status)), .integer(2)]])
        #expect(try fixture.store.statistics().failingKeys == 1)
        // Neither is a reply of the origin.
        _ = try await fixture.cache.response(for: .to("/unreachable"))
        _ = try await fixture.cache.response(for: .to("/b", [.cacheControl: "only-if-cached"]))
        #expect(try fixture.store.statistics().failingKeys == 1)
        isBroken.withLock { $0 = false }
        #expect(try await fixture.cache.response(for: .to("/a")).text == "body")
        #expect(try fixture.store.statistics().failingKeys == 0)
    }

    @Test("a confirmation of two stored responses counts as one answer")
    func twoFreshened() async throws {
        let fixture = try LoaderFixture(
            transport: ScriptedTransport(
                .status(.ok, fields: [.cacheControl: "max-age=0", .eTag: "\"1\""], body: "body".utf8),
                .status(
                    .ok, fields: [.cacheControl: "max-age=0", .eTag: "\"1\"", .vary: "Accept-Language"],
                    body: "body".utf8),
                .notModified(etag: "\"1\"", cacheControl: "max-age=60")
            ))
        let request = HTTPRequest.to("/a", [.acceptLanguage: "en"])
        for source in [ResponseSource.network, .network, .notModified] {
            fixture.clock.advance(by: 1)
            let response = try await fixture.cache.response(for: request)
            #expect(response.source == source)
            #expect(try await response.text == "body")
        }
        #expect(try fixture.store.statistics().entries == 2)
        #expect(try await counts(fixture) == [0, 0, 1, 2, 0])
        #expect(try fixture.store.statistics().hits == 1)
    }
}

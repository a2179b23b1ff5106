import TestSupport

@Suite("HTTPCache: credentials and modes", .timeLimit(.minutes(5))) struct CredentialAndModeTests {
    @Test("A response to one user's credentials answers only that user's requests", .requirement("K4", "S19"))
    func privateCache() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            .reply(
                200, [.cacheControl: "max-age=60", .eTag: "\"1\""], request.headerFields[.authorization] ?? "nobody")
        }
        for _ in 0..<2 {
            for user in ["alice", "bob", nil] {
                let fields: HTTPFields = user.map { [.authorization: $0] } ?? [:]
                let answer = try await fixture.cache.response(for: .to("/a", fields))
                #expect(try await answer.text == user ?? "nobody")
                let range = HTTPRequest.to("/a", fields.merging([.range: "bytes=0-0"]))
                #expect(try await fixture.cache.response(for: range).text == String((user ?? "nobody").prefix(1)))
            }
        }
        #expect(transport.requestCount == 3)
    }

    @Test("The same when the origin is unreachable", .requirement("K4", "R03"))
    func staleFallback() async throws {
        let number = Counter()
        let (_, fixture) = try LoaderFixture.scripted { _, _ throws(TransportError) in
            guard number.next() == 1 else { throw TransportError(.cannotConnect) }
            return .reply(200, [.cacheControl: "max-age=1, stale-if-error=100"], "alice")
        }
        _ = try await fixture.cache.response(for: .to("/a", [.authorization: "alice"])).bytes
        fixture.clock.advance(by: 10)
        #expect(try await fixture.cache.response(for: .to("/a", [.authorization: "alice"])).text == "alice")
        for fields in [[.authorization: "bob"], [:]] as [HTTPFields] {
            #expect(try await fixture.cache.response(for: .to("/a", fields)).status == .badGateway)
        }
    }

    @Test(
        "A shared cache stores the response to Authorization only if the response permits it (§3.5)",
        .requirement("S19"),
        arguments: [
            ("max-age=60", false), ("public, max-age=60", true), ("must-revalidate, max-age=60", true),
            ("s-maxage=60", true), ("private, max-age=60", false), ("s-maxage=60, private", false),
        ])
    func sharedCache(directive: String, isStored: Bool) async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: directive], "body") }
        let fixture = try LoaderFixture(transport: transport, policy: .shared)
        _ = try await fixture.cache.response(for: .to("/a", [.authorization: "alice"])).bytes
        #expect(try fixture.store.contains(CacheKey(url: "https://example.com/a")) == isStored)
        _ = try await fixture.cache.response(for: .to("/a", [.authorization: "bob"])).bytes
        #expect(transport.requestCount == (isStored ? 1 : 2))
    }

    @Test(
        "The modes, for fresh and for stale responses", .requirement("B5"),
        arguments: [
            (CachePolicy.Mode.http, 0, 1), (.cacheFirst, 0, 0), (.revalidateAlways, 1, 1), (.cacheOnly, 0, 0),
            (.remoteOnly, 1, 1),
        ])
    func modes(mode: CachePolicy.Mode, fresh: Int, stale: Int) async throws {
        for isPerRequest in [true, false] {
            let (transport, fixture) = try LoaderFixture.scripted { request, _ in
                request.headerFields[.ifNoneMatch] == nil
                    ? .reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\""], "body")
                    : .reply(304, [.eTag: "\"1\"", .cacheControl: "max-age=60"])
            }
            _ = try await fixture.cache.response(for: .to("/a")).bytes
            var policy = CachePolicy.Override()
            if isPerRequest { policy.mode = mode } else { fixture.cache.configuration.policy.mode = mode }
            func ask() async throws -> String { try await fixture.cache.response(for: .to("/a"), policy: policy).text }
            #expect(try await ask() == "body")
            #expect(transport.requestCount == 1 + fresh)
            fixture.clock.advance(by: 100)
            #expect(try await ask() == "body")
            #expect(transport.requestCount == 1 + fresh + stale)
            let conditional = mode == .remoteOnly ? 0 : fresh + stale
            #expect(transport.requests.filter { $0.headerFields[.ifNoneMatch] != nil }.count == conditional)
        }
    }

    @Test("remoteOnly sends no condition, replaces the stored response, joins no other load", .requirement("B7"))
    func remoteOnly() async throws {
        let gate = Gate()
        let number = Counter()
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            let count = number.next()
            if count == 1 { await gate.wait() }
            return .reply(200, [.cacheControl: "max-age=60", .eTag: "\"\(count)\""], String(count))
        }
        let normal = Task { try await fixture.cache.response(for: .to("/a")).text }
        await gate.reached(1)
        #expect(try await fixture.cache.response(for: .to("/a"), policy: .remoteOnly).text == "2")
        gate.open()
        #expect(try await normal.value == "1")
        #expect(try await fixture.cache.response(for: .to("/a"), policy: .remoteOnly).text == "3")
        #expect(try await fixture.cache.response(for: .to("/a")).text == "3")
        #expect(transport.requests.allSatisfy { $0.headerFields[.ifNoneMatch] == nil })
        #expect(transport.requestCount == 3)
    }

    @Test("cacheOnly never asks the origin, not even in the background", .requirement("B7"))
    func cacheOnly() async throws {
        let transport = ScriptedTransport(.ok("body".utf8, cacheControl: "max-age=1, stale-while-revalidate=60"))
        let fixture = try LoaderFixture(transport: transport)
        let miss = try await fixture.cache.response(for: .to("/a"), policy: .cacheOnly)
        #expect(miss.status == .gatewayTimeout)
        #expect(miss.failure == .notCached(url: "https://example.com/a"))
        #expect(transport.requestCount == 0)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        fixture.clock.advance(by: 30)
        #expect(try await fixture.cache.response(for: .to("/a"), policy: .cacheOnly).text == "body")
        #expect(!fixture.cache.isRevalidating)
        #expect(transport.requestCount == 1)
    }

    @Test("doNotStore delivers, stores nothing, and removes the stored response", .requirement("B4"))
    func doNotStore() async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport(.ok("body".utf8, cacheControl: "max-age=60")))
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        let policy = CachePolicy.Override(lifetimeOverride: .doNotStore)
        #expect(try await fixture.cache.response(for: .to("/a"), policy: policy).text == "body")
        #expect(try fixture.store.statistics().entries == 0)
    }
}

extension HTTPFields {
    /// Returns the fields of both.
    fileprivate func merging(_ others: HTTPFields) -> HTTPFields {
        var fields = self
        for field in others { fields.append(field) }
        return fields
    }
}

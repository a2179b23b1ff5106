import TestSupport

@Suite("Background revalidation (RFC 5861 §3)", .timeLimit(.minutes(5))) struct BackgroundRevalidationTests {
    private static let url = "https://example.com/a"

    /// A transport whose first reply may be served stale; `then` returns the others.
    private static func transport(
        _ then: @escaping @Sendable (HTTPRequest) async throws(TransportError) -> TransportResponse
    ) -> ScriptedTransport {
        let number = Counter()
        return ScriptedTransport { request, _ throws(TransportError) in
            guard number.next() == 1 else { return try await then(request) }
            return .reply(200, [.cacheControl: "max-age=10, stale-while-revalidate=86400", .eTag: "\"1\""], "old")
        }
    }

    @Test("cancelAll() ends the revalidation, and the next stale answer starts another")
    func cancelled() async throws {
        let gate = Gate()
        let transport = Self.transport { _ in
            await gate.wait()
            return .reply(304, [.eTag: "\"1\""])
        }
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load(Self.url)
        fixture.clock.advance(by: 20)
        #expect(try await fixture.loader.load(Self.url).isStale)
        await gate.reached(1)
        fixture.loader.cancelAll()
        await eventually { !fixture.cache.isRevalidating }
        #expect(try await fixture.loader.load(Self.url).isStale)
        await gate.reached(2)
        gate.open()
        try await eventually { try fixture.cache.storedResponse(for: .to("/a"))?.isStale == false }
    }

    @Test("the end of a cache ends the revalidation")
    func endOfCache() async throws {
        let gate = Gate()
        let transport = Self.transport { _ in
            await gate.wait()
            return .reply(304, [.eTag: "\"1\""])
        }
        let fixture = try LoaderFixture(transport: transport)
        var cache: HTTPCache? = HTTPCache(
            store: fixture.store, transport: transport, configuration: fixture.cache.configuration)
        _ = try await cache?.response(for: .to("/a")).bytes
        fixture.clock.advance(by: 20)
        #expect(try await cache?.response(for: .to("/a")).isStale == true)
        await gate.reached(1)
        cache = nil
        await eventually { !fixture.cache.isRevalidating }
    }

    @Test("a revalidation that joins a caller's request leaves the body to that caller")
    func sharedRequest() async throws {
        let gate = Gate()
        let transport = Self.transport { _ in
            await gate.wait()
            return .reply(200, [.cacheControl: "max-age=60", .eTag: "\"2\""], "new")
        }
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        fixture.clock.advance(by: 20)
        async let reload = fixture.cache.response(for: .to("/a", [.cacheControl: "max-age=0"]))
        await gate.reached(1)
        #expect(try await fixture.cache.response(for: .to("/a")).isStale)
        gate.open()
        let response = try await reload
        await eventually { !fixture.cache.isRevalidating }
        #expect(try await response.text == "new")
    }

    @Test("a hanging revalidation ends after a minute, and does not block its key afterwards")
    func hanging() async throws {
        let gate = Gate()
        let sleeper = ManualClock()
        let transport = Self.transport { _ in
            await gate.wait()
            return .reply(304, [.eTag: "\"1\""])
        }
        let fixture = try LoaderFixture(transport: transport)
        fixture.cache.configuration.sleep = sleeper.sleep
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        fixture.clock.advance(by: 20)
        #expect(try await fixture.cache.response(for: .to("/a")).isStale)
        await gate.reached(1)
        await sleeper.waitForSleeps(1)
        sleeper.advance(by: .seconds(60))
        await eventually { !fixture.cache.isRevalidating }
        fixture.clock.advance(by: 2)
        #expect(try await fixture.cache.response(for: .to("/a")).isStale)
        await gate.reached(2)
    }

    @Test("RFC 9110 §10.2.3: a pause that the origin requests holds back requests that a stale response may answer")
    func pauseOfStale() async throws {
        let number = Counter()
        let (transport, fixture) = try LoaderFixture.scripted(policy: ResourceLoader.Configuration().policy) { _, _ in
            number.next() == 1
                ? .reply(200, [.cacheControl: "max-age=10", .eTag: "\"1\""], "old")
                : .reply(503, [.retryAfter: "600"])
        }
        _ = try await fixture.loader.load(Self.url)
        fixture.clock.advance(by: 20)
        for _ in 0..<10 {
            let loaded = try await fixture.loader.load(Self.url)
            #expect(loaded.text == "old")
            #expect(loaded.isStale)
            #expect(try await fixture.cache.response(for: .to("/a")).text == "old")
        }
        #expect(transport.requestCount == 2)
        // Requests that refuse a stale response are not held back, and neither is another user.
        _ = try await fixture.cache.response(for: .to("/a", [.cacheControl: "no-cache"]))
        _ = try await fixture.cache.response(for: .to("/a"), policy: .init(staleIfError: .zero))
        _ = try await fixture.cache.response(for: .to("/a", [.cookie: "user=b"]))
        #expect(transport.requestCount == 5)
        fixture.clock.advance(by: 601)
        _ = try await fixture.loader.load(Self.url)
        #expect(transport.requestCount == 6)
    }

    @Test(
        "RFC 9110 §10.2.3: a stale response without a validator also waits; a success ends the pause",
        arguments: [true, false])
    func endOfPause(hasTag: Bool) async throws {
        let number = Counter()
        let fields: HTTPFields = hasTag ? [.cacheControl: "max-age=10", .eTag: "\"1\""] : [.cacheControl: "max-age=10"]
        let (transport, fixture) = try LoaderFixture.scripted(policy: ResourceLoader.Configuration().policy) { _, _ in
            number.next() == 2 ? .reply(503, [.retryAfter: "600"]) : .reply(200, fields, "body")
        }
        _ = try await fixture.loader.load(Self.url)
        fixture.clock.advance(by: 20)
        for _ in 0..<3 { #expect(try await fixture.loader.load(Self.url).isStale) }
        #expect(transport.requestCount == 2)
        _ = try await fixture.loader.load(ResourceRequest(Self.url, policy: .remoteOnly))
        fixture.clock.advance(by: 20)
        #expect(try await !fixture.loader.load(Self.url).isStale)
        #expect(transport.requestCount == 4)
    }

    @Test("a pause applies to one user")
    func pauseOfUser() async throws {
        let transport = Self.transport { request in
            request.headerFields[.cookie] == "a" ? .reply(429, [.retryAfter: "36000"]) : .reply(304, [.eTag: "\"1\""])
        }
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a")).data()
        fixture.clock.advance(by: 20)
        for (user, requests) in [("a", 2), ("a", 2), ("b", 3)] {
            #expect(try await fixture.cache.response(for: .to("/a", [.cookie: user])).isStale)
            await eventually { transport.requestCount == requests && !fixture.cache.isRevalidating }
        }
        try await eventually { try fixture.cache.storedResponse(for: .to("/a"))?.isStale == false }
    }

    @Test("a 429 is a failure, and its Retry-After is the pause", arguments: [true, false])
    func tooManyRequests(_ isLoader: Bool) async throws {
        let transport = Self.transport { _ in .reply(429, [.retryAfter: "600"]) }
        let fixture = try LoaderFixture(transport: transport)
        func ask() async throws {
            if isLoader {
                #expect(try await fixture.loader.load(Self.url).text == "old")
            } else {
                #expect(try await fixture.cache.response(for: .to("/a")).text == "old")
            }
            await eventually { !fixture.cache.isRevalidating }
        }
        try await ask()
        fixture.clock.advance(by: 20)
        for _ in 0..<50 { try await ask() }
        #expect(transport.requestCount == 2)
        fixture.clock.advance(by: 599)
        try await ask()
        #expect(transport.requestCount == 2)
        fixture.clock.advance(by: 1)
        try await ask()
        #expect(transport.requestCount == 3)
    }

    @Test("the revalidation of a loader takes the background lane", .requirement("D1"))
    func lane() async throws {
        let gate = Gate()
        let transport = Self.transport { request in
            guard request.path == "/urgent" else { return .reply(304, [.eTag: "\"1\""]) }
            await gate.wait()
            return .reply(200, [:], "urgent")
        }
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load(Self.url)
        fixture.clock.advance(by: 20)
        async let urgent = try? fixture.loader.load("https://example.com/urgent")
        await gate.reached(1)
        #expect(try await fixture.loader.load(Self.url).isStale)
        #expect(transport.requestCount == 2, "the urgent load goes first")
        gate.open()
        _ = await urgent
        await eventually { !fixture.cache.isRevalidating }
        #expect(try fixture.cache.storedResponse(for: .to("/a"))?.isStale == false)
        #expect(transport.requestCount == 3)
    }

    @Test("afterwards no policy gets the old value from memory", .requirement("G2"))
    func memory() async throws {
        let transport = Self.transport { _ in .reply(200, [.cacheControl: "max-age=60", .eTag: "\"2\""], "new") }
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = 1 << 20 }
        let lasting = CachePolicy.LifetimeOverride.fixed(.seconds(3600))
        let other = ResourceRequest(Self.url, policy: .init(lifetimeOverride: lasting))
        _ = try await fixture.loader.load(other)
        #expect(try await fixture.loader.load(other).source == .memory)
        fixture.clock.advance(by: 20)
        #expect(try await fixture.loader.load(Self.url).isStale)
        await eventually { !fixture.cache.isRevalidating }
        #expect(try await fixture.loader.load(other).text == "new")
    }
}

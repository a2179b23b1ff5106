import TestSupport

@Suite("RequestCoalescer: one request per store", .timeLimit(.minutes(5))) struct RequestCoalescerTests {
    private static let url = "https://example.com/a"
    private let gate = Gate()
    private let transport: ScriptedTransport

    init() {
        transport = ScriptedTransport { [gate] _, _ in
            await gate.wait()
            return .reply(200, [.cacheControl: "max-age=60"], "body")
        }
    }

    private func loader(_ fixture: LoaderFixture) -> ResourceLoader {
        var configuration = fixture.loader.configuration
        configuration.clock = fixture.clock.date
        return ResourceLoader(store: fixture.store, transport: transport, configuration: configuration)
    }

    @Test("two loaders and a cache on one store send one request for a URL, with any policies", .requirement("E1"))
    func oneStore() async throws {
        let fixture = try LoaderFixture(transport: transport) { $0.policy.staleIfError = .seconds(60) }
        let other = loader(fixture)
        async let first = fixture.loader.load(Self.url)
        await gate.reached(1)
        async let second = other.load(Self.url)
        async let third = fixture.cache.response(for: .to("/a"))
        try await eventually { try other.isLoading(ResourceRequest(Self.url)) }
        gate.open()
        #expect(try await first.text == "body")
        #expect(try await second.text == "body")
        #expect(try await third.text == "body")
        #expect(transport.requestCount == 1)
    }

    @Test("a cache on another store of the directory, as in another process, waits for the request", .requirement("E1"))
    func otherStore() async throws {
        let fixture = try LoaderFixture(transport: transport)
        let sleeper = ManualClock()
        let other = try LoaderFixture(transport: transport, directory: fixture.directory)
        other.cache.configuration.sleep = sleeper.sleep
        async let first = fixture.cache.response(for: .to("/a")).text
        await gate.reached(1)
        async let second = other.cache.response(for: .to("/a"))
        await sleeper.waitForSleeps(1)
        gate.open()
        #expect(try await first == "body")
        sleeper.advance(by: .seconds(1))
        let response = try await second
        #expect(response.source == .disk)
        #expect(try await response.text == "body")
        #expect(transport.requestCount == 1)
    }

    @Test("a process that holds the lock of a key for too long costs one wait, on the injected clock")
    func hungProcess() async throws {
        let fixture = try LoaderFixture(transport: transport)
        let sleeper = ManualClock()
        fixture.cache.configuration.sleep = sleeper.sleep
        fixture.cache.configuration.processWait = .milliseconds(5)
        let other = try ResponseStore(directory: fixture.directory.url)
        let lock = try #require(try other.tryLock(CacheKey(url: Self.url)))
        gate.open()
        async let first = fixture.cache.response(for: .to("/a", [.cacheControl: "max-age=0"])).text
        await sleeper.waitForSleeps(1)
        sleeper.advance(by: .milliseconds(5))
        #expect(try await first == "body")
        #expect(try await fixture.cache.response(for: .to("/a", [.cacheControl: "max-age=0"])).text == "body")
        #expect(transport.requestCount == 2)
        lock.release()
    }

    @Test("a caller that is cancelled while it waits for another process sends no request", .requirement("E4"))
    func cancelledWaiter() async throws {
        let fixture = try LoaderFixture(transport: transport)
        let sleeper = ManualClock()
        fixture.cache.configuration.sleep = sleeper.sleep
        let other = try ResponseStore(directory: fixture.directory.url)
        let lock = try #require(try other.tryLock(CacheKey(url: Self.url)))
        gate.open()
        let task = Task { try await fixture.cache.response(for: .to("/a")) }
        await sleeper.waitForSleeps(1)
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        lock.release()
        #expect(try await fixture.cache.response(for: .to("/a")).text == "body")
        #expect(transport.requestCount == 1)
    }
}

import TestSupport

@Suite("ResourceLoader: timeouts and stored responses", .timeLimit(.minutes(5))) struct LoaderTimeoutTests {
    private let url = "https://example.com/a"
    private let sleeper = ManualClock()
    private let gate = Gate()
    private let timeout = Duration.seconds(30)

    /// The part of a response at which an origin stalls.
    enum Stall: String, CaseIterable {
        case head, body
    }

    /// Stores the first response of an origin that stalls afterwards, and makes the response stale.
    private func fixture(
        _ directives: String = "max-age=60", stallsAt stall: Stall = .head
    ) async throws -> (LoaderFixture, FedBody, ScriptedTransport) {
        let (first, body) = (FirstTime(), FedBody("ne"))
        let transport = ScriptedTransport { [gate] _, _ in
            if first.isFirst() { return .reply(200, [.cacheControl: directives, .eTag: "\"1\""], "stored") }
            if stall == .head { await gate.wait() }
            return body.response(.ok, [.cacheControl: "max-age=60"])
        }
        let fixture = try LoaderFixture(transport: transport) { $0.sleep = sleeper.sleep }
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 61)
        return (fixture, body, transport)
    }

    /// Ends the timeout of a load.
    private func expire() async {
        await eventually { sleeper.sleeps.contains(timeout) }
        sleeper.advance(by: timeout)
    }

    /// Loads from an origin that stalls in its head until the timeout.
    private func loadUntilTimeout(
        _ fixture: LoaderFixture, _ request: ResourceRequest = ResourceRequest("https://example.com/a"),
        meanwhile: () throws -> Void = {}
    ) async throws -> Loaded<Data> {
        var request = request
        request.timeout = timeout
        let task = Task { [request] in try await fixture.loader.load(request) }
        await gate.reached(1)
        try meanwhile()
        await expire()
        return try await task.value
    }

    private func expectTimeout(_ error: LoadError?, sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .transport(let reason, _)? = error else {
            Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
            return
        }
        #expect(reason.code == .timedOut, sourceLocation: sourceLocation)
    }

    @Test(
        "RFC 9111 §4.2.4: after a timeout a stale response answers, as for an unreachable origin",
        arguments: Stall.allCases)
    func staleFallback(stall: Stall) async throws {
        let (fixture, body, transport) = try await fixture(stallsAt: stall)
        let task = Task { try await fixture.loader.load(ResourceRequest(url, retry: RetryPolicy(), timeout: timeout)) }
        if stall == .head { await gate.reached(1) } else { await body.asked(2) }
        await expire()
        let loaded = try await task.value
        #expect(loaded.text == "stored")
        #expect(loaded.source == .disk)
        #expect(loaded.isStale)
        #expect(loaded.age == 61)
        expectTimeout(loaded.failure)
        if stall == .body { await body.stopped() }
        #expect(transport.requestCount == 2, "a stored response that answers ends the load")
        #expect(try fixture.loader.peek(url) == Data("stored".utf8))
        #expect(sleeper.sleeperCount == 0)
    }

    @Test("By default, an attempt ends after five minutes, even while bytes arrive; nil sets no limit")
    func byDefault() async throws {
        let (fixture, body, _) = try await fixture(stallsAt: .body)
        fixture.loader.configuration.timeout = ResourceLoader.Configuration().timeout
        let task = Task { try await fixture.loader.load(url) }
        await body.asked(2)
        await eventually { sleeper.sleeps.contains(.seconds(300)) }
        sleeper.advance(by: .seconds(299))
        body.feed("x")
        await body.asked(3)
        sleeper.advance(by: .seconds(1))
        expectTimeout(try await task.value.failure)
        await body.stopped()

        let count = sleeper.sleeps.count
        let (unlimited, whole, _) = try await self.fixture(stallsAt: .body)
        whole.end()
        #expect(try await unlimited.loader.load(url).text == "ne")
        #expect(sleeper.sleeps.count == count)
    }

    @Test(
        "RFC 9111 §4.2.4: after a timeout, a response that its origin forbids to serve stale does not answer",
        arguments: ["no-cache", "max-age=60, must-revalidate", "max-age=60, stale-if-error=0"])
    func forbiddenByResponse(directives: String) async throws {
        let (fixture, _, _) = try await fixture(directives)
        expectTimeout(await #expect(throws: LoadError.self) { try await loadUntilTimeout(fixture) })
    }

    @Test(
        "A load whose policy, request or method permits no stale response fails after a timeout",
        arguments: [
            ResourceRequest("https://example.com/a", policy: .init(staleWhenDisconnected: .zero)),
            ResourceRequest("https://example.com/a", policy: .remoteOnly),
            ResourceRequest("https://example.com/a", headerFields: [.cacheControl: "no-cache"]),
            ResourceRequest("https://example.com/a", method: .post),
        ])
    func forbiddenByRequest(_ request: ResourceRequest) async throws {
        let (fixture, _, _) = try await fixture()
        expectTimeout(await #expect(throws: LoadError.self) { try await loadUntilTimeout(fixture, request) })
    }

    @Test("RFC 9111 §4.2.4: after a timeout, an unreadable stored body does not answer")
    func damagedBody() async throws {
        let (fixture, _, _) = try await fixture()
        let error = await #expect(throws: LoadError.self) {
            try await loadUntilTimeout(fixture) {
                let blob = try #require(try fixture.blobs.first).url
                #expect(truncate(blob.path(percentEncoded: false), 2) == 0)
            }
        }
        expectTimeout(error)
    }

    @Test("A timeout in a chain of redirects falls back to the stored response of the current target")
    func presentTarget() async throws {
        let first = FirstTime()
        let transport = ScriptedTransport { [gate] request, _ in
            if request.path == "/moved" { return .reply(302, [.location: "/a", .cacheControl: "no-store"]) }
            if !first.isFirst() { await gate.wait() }
            return .reply(200, [.cacheControl: "max-age=60"], "stored")
        }
        let fixture = try LoaderFixture(transport: transport) { $0.sleep = sleeper.sleep }
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 61)
        let loaded = try await loadUntilTimeout(fixture, ResourceRequest("https://example.com/moved"))
        #expect(loaded.text == "stored")
        #expect(loaded.url == url)
        expectTimeout(loaded.failure)
    }

    @Test("A timeout at a stored redirect falls back to the stored response behind it")
    func storedRedirect() async throws {
        let count = Counter()
        let transport = ScriptedTransport { [gate] request, _ in
            if count.next() > 2 { await gate.wait() }
            return request.path == "/moved"
                ? .reply(301, [.location: "/a", .cacheControl: "max-age=60"])
                : .reply(200, [.cacheControl: "max-age=60"], "stored")
        }
        let fixture = try LoaderFixture(transport: transport) { $0.sleep = sleeper.sleep }
        let request = ResourceRequest("https://example.com/moved")
        _ = try await fixture.loader.load(request.url)
        try await fixture.stored(request.url)
        fixture.clock.advance(by: 61)
        let loaded = try await loadUntilTimeout(fixture, request)
        #expect(loaded.text == "stored")
        #expect(loaded.url == url)
        expectTimeout(loaded.failure)
    }
}

import TestSupport

/// The failures that count as errors of an origin.
@Suite("ResourceLoader: counted failures", .timeLimit(.minutes(5))) struct LoaderFailureCountTests {
    private let url = "https://example.com/a"

    private func fixture(
        _ transport: any HTTPTransport, maxAttempts: Int = 3,
        _ configure: (inout ResourceLoader.Configuration) -> Void = { _ in }
    ) throws -> LoaderFixture {
        // A stored response may be served stale on errors.
        try LoaderFixture(transport: transport, policy: ResourceLoader.Configuration().policy) { configuration in
            configuration.negativeCaching = NegativeCaching(lifetime: .seconds(60), maxAttempts: maxAttempts)
            configure(&configuration)
        }
    }

    private func failure(_ fixture: LoaderFixture, _ url: String? = nil) throws -> LoadFailure? {
        try fixture.store.failure(for: CacheKey(url: url ?? self.url))
    }

    // MARK: Stale fallbacks

    @Test(
        "An error that a stale response replaces is counted; a 304 resets the count", .requirement("D1", "C7"),
        arguments: [500, 503])
    func staleFallback(status: Int) async throws {
        let transport = ScriptedTransport(
            .ok("good".utf8, cacheControl: "max-age=60", etag: "\"1\""), .status(.init(code: status)),
            .status(.init(code: status)), .notModified(etag: "\"1\""))
        let fixture = try fixture(transport)
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 61)
        for count in 1...2 {
            let stale = try await fixture.loader.load(url)
            #expect(stale.failure?.brief == .status(status, url: url))
            #expect(try failure(fixture)?.count == count)
            #expect(try failure(fixture)?.status == status)
        }
        #expect(try await fixture.loader.load(url).source == .notModified)
        #expect(try failure(fixture) == nil)
    }

    @Test("Stale answers for a blocked origin; requests are sent after the block", .requirement("D1", "D3", "C7"))
    func blocked() async throws {
        let transport = ScriptedTransport(
            .ok("good".utf8, cacheControl: "max-age=60"), .status(.serviceUnavailable), .ok("new".utf8))
        let fixture = try fixture(transport, maxAttempts: 1)
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 61)
        for _ in 0..<3 {
            let stale = try await fixture.loader.load(url)
            #expect(stale.text == "good")
            #expect(stale.isStale)
            #expect(stale.failure?.brief == .status(503, url: url))
            fixture.clock.advance(by: 10)
        }
        #expect(transport.requestCount == 2)
        #expect(try failure(fixture)?.count == 1, "what nobody asked is not counted")
        let progress = await fixture.loader.prefetch([ResourceRequest(url)]).finished()
        #expect(progress.latestFailure?.brief == .status(503, url: url))
        // A reader that gets the stored value gets the error, too.
        let events = await fixture.loader.events(for: ResourceRequest(url)).all.map(\.name)
        #expect(events == ["cached", "failed"])
        let fresh = await fixture.loader.events(for: ResourceRequest(url), deliversStale: false).all.map(\.name)
        #expect(fresh == ["completed disk"])
        let strict = ResourceRequest(url, policy: .init(staleIfError: .zero))
        await expectError(.status(503, url: url)) { try await fixture.loader.load(strict) }
        #expect(transport.requestCount == 2)
        fixture.clock.advance(by: 30)
        #expect(try await fixture.loader.load(url).text == "new")
        #expect(try failure(fixture) == nil)
    }

    // MARK: Redirects

    /// `/a` redirects to `/b`, which answers with a status.
    private func redirecting(
        to status: Int, cacheControl: String = "max-age=600"
    ) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            request.path == "/a"
                ? .reply(301, [.location: "/b", .cacheControl: cacheControl])
                : .reply(HTTPResponse.Status(code: status))
        }
    }

    private let target = "https://example.com/b"

    @Test(
        "Blocks the target of a redirect, requested directly or through the redirect", .requirement("D1"),
        arguments: [true, false])
    func redirect(isStored: Bool) async throws {
        let transport = redirecting(to: 404, cacheControl: isStored ? "max-age=600" : "no-store")
        let fixture = try fixture(transport)
        let error = LoadError.status(404, url: target)
        for _ in 0..<6 {
            await expectError(error) { try await fixture.loader.load(url) }
            if isStored { try await fixture.stored(url) }
        }
        #expect(transport.requests.count { $0.path == "/b" } == 3)
        #expect(transport.requests.count { $0.path == "/a" } == (isStored ? 1 : 6))
        #expect(try failure(fixture, target)?.count == 3)
        #expect(try failure(fixture) == nil)
        await expectError(error) { try await fixture.loader.load(target) }
        #expect(transport.requests.count { $0.path == "/b" } == 3)
        fixture.clock.advance(by: 60)
        await expectError(error) { try await fixture.loader.load(url) }
        #expect(transport.requests.count { $0.path == "/b" } == 4)
        let remote = ResourceRequest(url, policy: .remoteOnly)
        for _ in 0..<4 { await expectError(error) { try await fixture.loader.load(remote) } }
        #expect(transport.requests.count { $0.path == "/b" } == 8, "D6: remoteOnly asks all the same")
    }

    @Test("The attempts of one load do not block each other, but the next load's", .requirement("D1", "H7"))
    func redirectWithAttempts() async throws {
        let transport = redirecting(to: 503)
        let fixture = try fixture(transport) { $0.retry = RetryPolicy(maxAttempts: 5, baseDelay: .zero) }
        for requests in [5, 5] {
            await expectError(.status(503, url: target)) { try await fixture.loader.load(url) }
            #expect(transport.requests.count { $0.path == "/b" } == requests)
        }
    }

    // MARK: D5

    @Test("A cancelled load throws, is not counted, and changes no lifetime", .requirement("D5"), arguments: [0, 1])
    func cancelled(chunks: Int) async throws {
        let (fed, gate, first) = (FedBody(), Gate(), FirstTime())
        for _ in 0..<chunks { fed.feed("half") }
        let transport = ScriptedTransport { _, _ in
            if first.isFirst() { return .reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\""], "good") }
            if chunks == 0 { await gate.wait() }
            return fed.response(.ok, [.cacheControl: "max-age=9999"])
        }
        let fixture = try fixture(transport, maxAttempts: 1)
        let expiry = try await fixture.loader.load(url).expiresAt
        fixture.clock.advance(by: 61)
        let task = Task { try await fixture.loader.load(url) }
        if chunks == 0 { await gate.reached(1) } else { await fed.asked(2) }
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        await fed.stopped()
        #expect(try failure(fixture) == nil)
        #expect(try fixture.store.peek(CacheKey(url: url))?.metadata.expiresAt == expiry)
        #expect(try fixture.loader.peek(url) == Data("good".utf8))
    }

    @Test(
        "Errors of the transport do not count: the next load sends a request, after any number of them",
        .requirement("D5"),
        arguments: [TransportError.Code.cannotConnect, .timedOut, .connectionLost, .truncated, .malformedResponse])
    func transport(code: TransportError.Code) async throws {
        let number = Counter()
        let transport = ScriptedTransport { _, _ throws(TransportError) in
            let count = number.next()
            guard count <= 5 else { return .reply(200, [.cacheControl: "max-age=60"], "good") }
            // Alternately before the head and in the body.
            if count % 2 == 0 { throw TransportError(code) }
            return .reply(200, [.cacheControl: "max-age=60"], "ba", failure: TransportError(code))
        }
        let fixture = try fixture(transport, maxAttempts: 1)
        for _ in 0..<5 {
            await #expect(throws: LoadError.transport(TransportError(code), url: url)) {
                try await fixture.loader.load(url)
            }
            #expect(try failure(fixture) == nil)
        }
        #expect(try await fixture.loader.load(url).text == "good")
        #expect(transport.requestCount == 6)
    }
}

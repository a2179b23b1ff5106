import TestSupport

/// The whole path from a misbehaving real origin, over a real transport, to the value and the store.
@Suite("ResourceLoader: misbehaving origins", .timeLimit(.minutes(5))) struct LoaderFaultTests {
    /// An origin that misbehaves on demand.
    private final class Origin: Sendable {
        /// Guards the current fault.
        private let fault: Mutex<LoaderFault?>

        init(_ fault: LoaderFault?) { self.fault = Mutex(fault) }

        func set(_ fault: LoaderFault?) { self.fault.withLock { $0 = fault } }

        func start() async throws -> LoopbackOrigin {
            try await LoopbackOrigin { request in
                self.fault.withLock { $0 }?.reply(to: request)
                    ?? .resource("good".utf8, for: request, etag: "\"1\"", cacheControl: "max-age=60")
            }
        }
    }

    private func fixture(_ adapter: TransportAdapter) throws -> LoaderFixture {
        // Never serves stale, so that each error is visible.
        try LoaderFixture(transport: adapter.make(), policy: CachePolicy(staleWhenDisconnected: .zero)) {
            $0.maxBodyBytes = LoaderFault.limit
        }
    }

    private func expectSound(_ fixture: LoaderFixture) async throws {
        try await fixture.store.sweep()
        #expect(try await fixture.store.check(digests: true).isSound)
    }

    @Test(
        "Without a stored response: a typed error, nothing is stored, and the next load succeeds",
        .requirement("S18", "A7", "D4", "D5"), arguments: TransportAdapter.allCases, LoaderFault.allCases)
    func cold(_ adapter: TransportAdapter, _ fault: LoaderFault) async throws {
        let misbehaving = Origin(fault)
        let origin = try await misbehaving.start()
        let url = origin.url("/a")
        let fixture = try fixture(adapter)
        let error = await #expect(throws: LoadError.self) { try await fixture.loader.load(url) }
        #expect(error.map { fault.explains($0, url) } == true, "\(String(describing: error))")
        if let requests = fault.requests { #expect(origin.requestCount == requests) }
        #expect(try fixture.store.statistics().entries == 0)
        #expect(try fixture.blobs.isEmpty)
        let failure = try fixture.store.failure(for: CacheKey(url: url))
        #expect((failure.map { [$0.status] } ?? []) == fault.failures)
        #expect(failure?.count ?? 1 == 1)

        misbehaving.set(nil)
        #expect(try await fixture.loader.load(url).text == "good")
        #expect(try await fixture.loader.load(url).source == .disk)
        #expect(try fixture.store.failure(for: CacheKey(url: url)) == nil)
        try await expectSound(fixture)
        await origin.stop()
    }

    @Test(
        "A stored response survives an error, is served stale where permitted, and is renewed",
        .requirement("S18", "A7", "C7", "D4", "D5"), arguments: TransportAdapter.allCases, LoaderFault.allCases)
    func warm(_ adapter: TransportAdapter, _ fault: LoaderFault) async throws {
        let misbehaving = Origin(nil)
        let origin = try await misbehaving.start()
        let url = origin.url("/a")
        let fixture = try fixture(adapter)
        let expiry = try await fixture.loader.load(url).expiresAt
        fixture.clock.advance(by: 61)

        misbehaving.set(fault)
        let error = await #expect(throws: LoadError.self) { try await fixture.loader.load(url) }
        #expect(error.map { fault.explains($0, url) } == true, "\(String(describing: error))")
        #expect(try fixture.store.failure(for: CacheKey(url: url)).map { [$0.status] } ?? [] == fault.failures)
        let kept = try fixture.loader.peek(url)
        #expect(kept == Data("good".utf8) || fault.mayReplace && kept == nil)
        if kept != nil {
            #expect(try fixture.store.peek(CacheKey(url: url))?.metadata.expiresAt == expiry)
            let offline = try await fixture.loader.load(ResourceRequest(url, policy: .cacheFirst))
            #expect(offline.text == "good")
            #expect(offline.isStale)
            // The default configuration of a loader.
            let ever = Duration.seconds(Int64.max)
            let fallback = try? await fixture.loader.load(
                ResourceRequest(url, policy: .init(staleIfError: ever, staleWhenDisconnected: ever)))
            if let servesStale = fault.servesStale { #expect((fallback != nil) == servesStale) }
            if let fallback {
                #expect(fallback.text == "good")
                #expect(fallback.isStale)
                #expect(fallback.failure.map { fault.explains($0, url) } == true)
            }
        }
        try await expectSound(fixture)

        misbehaving.set(nil)
        let renewed = try await fixture.loader.load(url)
        #expect(renewed.text == "good")
        #expect(!renewed.isStale)
        #expect(renewed.failure == nil)
        #expect(try await fixture.loader.load(url).source == .disk)
        #expect(try fixture.store.failure(for: CacheKey(url: url)) == nil)
        try await expectSound(fixture)
        await origin.stop()
    }

    @Test(
        "Bytes past the declared length are ignored, and not stored", .requirement("S18"),
        arguments: TransportAdapter.allCases)
    func surplus(_ adapter: TransportAdapter) async throws {
        let origin = try await LoopbackOrigin { _ in
            OriginReply.ok("0123456789".utf8, cacheControl: "max-age=60").delivered(.declaring(length: 4))
        }
        let fixture = try fixture(adapter)
        #expect(try await fixture.loader.load(origin.url("/a")).text == "0123")
        #expect(try await fixture.loader.load(origin.url("/a")).text == "0123")
        #expect(origin.requestCount == 1)
        #expect(try fixture.blobs.map(\.bytes) == [Data("0123".utf8)])
        try await expectSound(fixture)
        await origin.stop()
    }

    @Test(
        "A stall before the head or in the body ends at the timeout; the next attempt gets the whole",
        .requirement("H5"), arguments: TransportAdapter.allCases, [-1, 0, 500])
    func stall(_ adapter: TransportAdapter, afterBytes count: Int) async throws {
        let body = [UInt8](repeating: 7, count: 1_000)
        let first = FirstTime()
        let gate = Gate()
        let origin = try await LoopbackOrigin { _ in
            guard first.isFirst() else { return .ok(body, cacheControl: "max-age=60") }
            if count < 0 { await gate.wait() }
            return OriginReply.ok(body, cacheControl: "max-age=60").delivered(.stalling(afterBytes: max(count, 0)))
        }
        let sleeper = ManualClock()
        let fixture = try LoaderFixture(transport: adapter.make()) { configuration in
            configuration.sleep = sleeper.sleep
            configuration.chance = { 0 }
            configuration.retry = RetryPolicy(maxAttempts: 2)
        }
        let url = origin.url("/a")
        async let loading = fixture.loader.events(for: ResourceRequest(url, timeout: .seconds(30))).all
        await sleeper.waitForSleeps(1)
        await eventually { origin.requestCount == 1 && origin.counters.bodyBytes >= count }
        sleeper.advance(by: .seconds(30))
        // The pause before the next attempt.
        await sleeper.waitForSleeps(2)
        #expect(try fixture.store.statistics().entries == 0)
        #expect(try fixture.store.failure(for: CacheKey(url: url)) == nil)
        sleeper.advance(by: .seconds(1))
        let events = await loading
        expectGrammatical(events)
        let failure = events.compactMap { if case .retrying(let error, _, _) = $0 { error } else { nil } }.first
        guard case .transport(let error, url)? = failure, case .completed(let loaded)? = events.last else {
            Issue.record("\(events.map(\.name))")
            return
        }
        #expect(error.code == .timedOut)
        #expect(loaded.data == Data(body))
        #expect(try await fixture.loader.load(url).source == .disk)
        try await expectSound(fixture)
        gate.open()
        await origin.stop()
    }

    @Test("A 503 with Retry-After is retried at that time", .requirement("H7"), arguments: TransportAdapter.allCases)
    func retryAfter(_ adapter: TransportAdapter) async throws {
        let first = FirstTime()
        let origin = try await LoopbackOrigin { _ in
            first.isFirst()
                ? .status(.serviceUnavailable, fields: [.retryAfter: "120"], body: "later".utf8)
                : .ok("good".utf8, cacheControl: "max-age=60")
        }
        let sleeper = ManualClock()
        let fixture = try LoaderFixture(transport: adapter.make()) { configuration in
            configuration.sleep = sleeper.sleep
            configuration.retry = RetryPolicy()
        }
        let url = origin.url("/a")
        async let loaded = fixture.loader.load(url)
        await sleeper.waitForSleeps(1)
        #expect(sleeper.sleeps == [.seconds(120)])
        #expect(try fixture.store.failure(for: CacheKey(url: url))?.count == 1)
        sleeper.advance(by: .seconds(120))
        #expect(try await loaded.text == "good")
        #expect(try fixture.store.failure(for: CacheKey(url: url)) == nil)
        #expect(origin.requestCount == 2)
        await origin.stop()
    }

    @Test(
        "A redirect from https to http is followed without credentials; each response is stored under its own URL",
        .requirement("K4"), arguments: TransportAdapter.allCases)
    func downgrade(_ adapter: TransportAdapter) async throws {
        let origin = try await LoopbackOrigin { _ in .ok("plain".utf8, cacheControl: "max-age=60") }
        let secure = ScriptedTransport { _, _ in
            .reply(301, [.location: origin.url("/b"), .cacheControl: "max-age=60"])
        }
        let fixture = try LoaderFixture(transport: SplitTransport(secure: secure, plain: adapter.make()))
        let fields: HTTPFields = [.authorization: "Basic x", .cookie: "a=b", .accept: "text/plain"]
        for source in [ResponseSource.network, .disk] {
            let loaded = try await fixture.loader.load(
                ResourceRequest("https://example.com/a", headerFields: fields))
            #expect(loaded.text == "plain")
            #expect(loaded.url == origin.url("/b"))
            #expect(loaded.source == source)
            try await fixture.stored("https://example.com/a")
        }
        #expect(secure.requests.map { $0.headerFields[.authorization] } == ["Basic x"])
        let plain = try #require(origin.requests.first)
        #expect(plain.fields[.authorization] == nil)
        #expect(plain.fields[.cookie] == nil)
        #expect(plain.fields[.accept] == "text/plain")
        #expect(origin.requestCount == 1)
        #expect(try fixture.store.contains(CacheKey(url: "https://example.com/a")))
        await origin.stop()
    }
}

/// Sends https requests to one transport, all others to another.
private struct SplitTransport: HTTPTransport {
    let secure: ScriptedTransport
    let plain: any HTTPTransport

    func prepare(_ request: HTTPRequest) -> HTTPRequest { plain.prepare(request) }

    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        try await (request.scheme == "https" ? secure : plain).send(
            request, content: content, onInterimResponse: onInterimResponse)
    }
}

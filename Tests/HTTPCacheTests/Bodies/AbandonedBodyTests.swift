import TestSupport

@Suite("HTTPCache: bodies abandoned by their readers", .timeLimit(.minutes(5))) struct AbandonedBodyTests {
    private let key: CacheKey

    init() throws { key = try CacheKey(url: "https://example.com/a") }

    /// Reads the first chunk of a body and releases the rest.
    private func abandon(_ fixture: LoaderFixture) async throws {
        let response = try await fixture.cache.response(for: .to("/a"))
        var iterator = response.body.makeAsyncIterator()
        _ = try await iterator.next()
    }

    @Test("After the last reader, the transfer stops, and a strong validator keeps the part", .requirement("E5"))
    func stopping() async throws {
        for etag in ["\"1\"", "W/\"1\""] {
            let fed = FedBody("half")
            let (_, fixture) = try LoaderFixture.scripted { _, _ in
                fed.response(.ok, [.cacheControl: "max-age=60", .eTag: etag, .contentLength: "1000000"])
            }
            try await abandon(fixture)
            await fed.stopped()
            let parts = try fixture.store.responses(for: key).map(\.metadata.part)
            #expect(parts == (etag == "\"1\"" ? [EntryPart(start: 0, completeLength: 1_000_000)] : []))
        }
    }

    @Test("A source that ignores its cancellation is abandoned, and not stored, even in part", .requirement("E5"))
    func stubbornSource() async throws {
        let fed = FedBody("half", heedsCancellation: false)
        let (_, fixture) = try LoaderFixture.scripted { _, _ in fed.response(.ok, [.cacheControl: "max-age=60"]) }
        try await abandon(fixture)
        await fed.asked(2)
        await fed.cancelled()
        fed.feed("half")
        fed.feed("more")
        fed.end()
        await fed.stopped()
        #expect(fed.pullCount == 2)
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("A request after the last reader starts a new transfer", .requirement("E4", "E6"))
    func afterStopping() async throws {
        let stopped = FedBody("half", heedsCancellation: false)
        let number = Counter()
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            number.next() == 1
                ? stopped.response(.ok, [.cacheControl: "max-age=60"])
                : .reply(200, [.cacheControl: "max-age=60"], "whole")
        }
        try await abandon(fixture)
        await stopped.asked(2)
        await stopped.cancelled()
        #expect(try await fixture.cache.response(for: .to("/a")).text == "whole")
        #expect(transport.requestCount == 2)
        stopped.end()
        await stopped.stopped()
        #expect(try await fixture.cache.response(for: .to("/a")).text == "whole")
    }

    @Test("Fetches and stores a short rest in the background, if its length is known", .requirement("E5"))
    func finishing() async throws {
        let fed = FedBody("half")
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            fed.response(.ok, [.cacheControl: "max-age=60", .contentLength: "8"])
        }
        try await abandon(fixture)
        fed.feed("half")
        fed.end()
        await fed.stopped()
        let hit = try await fixture.cache.response(for: .to("/a"))
        #expect(hit.source == .disk)
        #expect(try await hit.text == "halfhalf")
        #expect(transport.requestCount == 1)
    }

    @Test("Without a limit, fetches the rest in the background at any length", .requirement("E5"))
    func finishingAlways() async throws {
        let fed = FedBody("half")
        let (_, fixture) = try LoaderFixture.scripted { _, _ in fed.response(.ok, [.cacheControl: "max-age=60"]) }
        fixture.cache.configuration.abandonedBytes = .max
        try await abandon(fixture)
        for _ in 0..<20 { fed.feed(Data(count: 100_000)) }
        fed.end()
        await fed.stopped()
        let hit = try await fixture.cache.response(for: .to("/a"))
        #expect(hit.source == .disk)
        #expect(try await hit.bytes.count == 2_000_004)
    }

    @Test("Fetches no rest that cannot be stored", .requirement("E5"), arguments: [true, false])
    func failingStore(isFailingBefore: Bool) async throws {
        let fed = FedBody("half")
        let (_, fixture) = try LoaderFixture.scripted { _, _ in fed.response(.ok, [.cacheControl: "max-age=60"]) }
        fixture.cache.configuration.abandonedBytes = .max
        if isFailingBefore { fixture.store.close() }
        try await abandon(fixture)
        if !isFailingBefore { fixture.store.close() }
        fed.feed("half")
        await fed.stopped()
        #expect(fed.pullCount <= 3)
    }

    @Test("A chunk of an unstored body is requested only once the reader waits for it")
    func unstoredPace() async throws {
        let fed = FedBody("one", "two")
        fed.end()
        let transport = ScriptedTransport { _, _ in fed.response(.ok, [.cacheControl: "no-store"]) }
        let response = try await LoaderFixture(transport: transport).cache.response(for: .to("/a"))
        var chunks = response.body.makeAsyncIterator()
        for (count, expected) in [Data("one".utf8), Data("two".utf8), nil].enumerated() {
            for _ in 0..<20 { await Task.yield() }
            #expect(fed.pullCount == count)
            #expect(try await chunks.next() == expected)
        }
        #expect(fed.pullCount == 3)
    }

    @Test("A body of unknown length runs at most a window ahead of its only reader", arguments: [true, false])
    func backPressure(isStored: Bool) async throws {
        let chunk = Data(count: 10_000)
        let pulls = Counter()
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
                body: TransportBody { () async throws(TransportError) in
                    pulls.next()
                    return chunk
                })
        }
        if !isStored { fixture.store.close() }
        let response = try await fixture.cache.response(for: .to("/a"))
        var iterator = response.body.makeAsyncIterator()
        var received = 0
        for _ in 0..<300 {
            received += try await iterator.next()?.count ?? 0
            #expect(pulls.count * 10_000 <= received + 262_144 + 10_000)
        }
        for _ in 0..<20 { await Task.yield() }
        #expect(pulls.count * 10_000 <= received + 262_144 + 10_000)
    }
}

import TestSupport

@Suite("ResourceLoader: events", .timeLimit(.minutes(5))) struct LoaderEventsTests {
    private let url = "https://example.com/a"

    private func events(
        _ fixture: LoaderFixture, _ request: ResourceRequest? = nil, deliversStale: Bool = true
    ) async -> [LoadEvent<Data>] {
        let events = await fixture.loader.events(for: request ?? ResourceRequest(url), deliversStale: deliversStale).all
        expectGrammatical(events)
        return events
    }

    /// Has version 1 stored and stale; the next response is version 2, after the gate.
    private func stale(
        _ directives: String = "max-age=10", gate: Gate? = nil
    ) async throws -> (LoaderFixture, ScriptedTransport) {
        let isFirst = FirstTime()
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            if isFirst.isFirst() { return .reply(200, [.cacheControl: directives, .eTag: "\"1\""], "one") }
            await gate?.wait()
            return .reply(200, [.eTag: "\"2\""], "two!")
        }
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 20)
        return (fixture, transport)
    }

    @Test(
        "A miss reports progress, with a fraction if the length is known", .requirement("C6", "I1"),
        arguments: [true, false])
    func miss(hasLength: Bool) async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, hasLength ? [.contentLength: "6"] : [:], "abc", "def") }
        let fixture = try LoaderFixture(transport: transport)
        let names = await events(fixture).map(\.name)
        #expect(names.first == "requesting")
        #expect(names.last == "completed network")
        #expect(names.contains("progress 6/\(hasLength ? "6" : "?")"))
    }

    @Test("A body in small chunks causes few events, read or unread", .requirement("I1"), arguments: [true, false])
    func fewEvents(hasLength: Bool) async throws {
        let count = 30_000
        let chunks = (0..<count).map { Data([UInt8(truncatingIfNeeded: $0)]) }
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            let fields: HTTPFields = hasLength ? [.contentLength: "\(count)"] : [:]
            return TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: fields), body: TransportBody(chunks: chunks))
        }
        let unread = fixture.loader.events(for: ResourceRequest(url))
        #expect(try await fixture.loader.load(url).data == Data(chunks.joined()))
        let events = await unread.all
        expectGrammatical(events)
        let progress = events.count { if case .progress = $0 { true } else { false } }
        #expect((1...1_002).contains(progress))
        #expect(events.contains { $0.name == "progress \(count)/\(count)" } == hasLength)
    }

    @Test("A fresh hit is one event, and no request", .requirement("C6"))
    func hit() async throws {
        let (fixture, transport) = try await stale("max-age=60")
        #expect(await events(fixture).map(\.name) == ["completed disk"])
        #expect(transport.requestCount == 1)
    }

    @Test(
        "A stale value comes first, then its replacement, unless the caller opts out", .requirement("C6"),
        arguments: [true, false])
    func staleFirst(deliversStale: Bool) async throws {
        let gate = Gate()
        let (fixture, _) = try await stale(gate: gate)
        var events: [LoadEvent<Data>] = []
        for await event in fixture.loader.events(for: ResourceRequest(url), deliversStale: deliversStale) {
            events.append(event)
            if !deliversStale || event.name == "cached" { gate.open() }
        }
        expectGrammatical(events)
        let names = events.map(\.name)
        #expect(names.last == "completed network")
        #expect(names.contains(deliversStale ? "requesting again" : "requesting"))
        #expect(names.contains("cached") == deliversStale)
        guard deliversStale, case .cached(let cached)? = events.first else { return }
        #expect(cached.text == "one")
        #expect(cached.isStale)
    }

    @Test("No stale value if its origin forbids it", .requirement("C6"))
    func forbidden() async throws {
        let (fixture, _) = try await stale("max-age=10, must-revalidate")
        #expect(await events(fixture).map(\.name).contains("cached") == false)
    }

    @Test("Failed attempts are reported, and the last failure ends the events", .requirement("I1"))
    func failing() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in .reply(503) }
        let retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero)
        let events = await events(fixture, ResourceRequest(url, retry: retry))
        #expect(events.map(\.name) == ["requesting", "retrying 1", "retrying 2", "failed"])
        guard case .failed(let error)? = events.last else { return }
        #expect(error.brief == .status(503, url: url))
        #expect(transport.requestCount == 3)
    }

    @Test("A blocked key still delivers the stored value, then the error, without a request", .requirement("D3"))
    func blocked() async throws {
        let transport = ScriptedTransport(.ok("one".utf8, cacheControl: "max-age=10"), OriginReply(status: .notFound))
        let fixture = try LoaderFixture(transport: transport)
        fixture.loader.configuration.negativeCaching = NegativeCaching(lifetime: .seconds(60), maxAttempts: 1)
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 20)
        #expect(await events(fixture).map(\.name).last == "failed")
        #expect(await events(fixture).map(\.name) == ["cached", "failed"])
        #expect(transport.requestCount == 2)
    }

    @Test(
        "An invalid URL fails once, without a request", .requirement("E9"),
        arguments: ["", "no-scheme", "ftp://a/b", "http://"])
    func invalid(url: String) async throws {
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in .reply(200) }
        #expect(await events(fixture, ResourceRequest(url)).map(\.name) == ["failed"])
        #expect(transport.requestCount == 0)
    }

    @Test("cancelAll ends every load and its events; later loads succeed", .requirement("E4"))
    func cancelAll() async throws {
        let gate = Gate()
        let fixture = try LoaderFixture(transport: ScriptedTransport.held(by: gate, .reply(200, [:], "body")))
        let streams = (0..<3).map { _ in fixture.loader.events(for: ResourceRequest(url)) }
        await gate.reached(1)
        try await eventually { try fixture.loader.isLoading(ResourceRequest(url)) }
        var iterators = streams.map { $0.makeAsyncIterator() }
        for index in iterators.indices { #expect(await iterators[index].next()?.name == "requesting") }
        fixture.loader.cancelAll()
        for index in iterators.indices { #expect(await iterators[index].next()?.name == "cancelled") }
        #expect(try !fixture.loader.isLoading(ResourceRequest(url)))
        gate.open()
        #expect(try await fixture.loader.load(url).text == "body")
    }

    @Test("Releasing the task of a handler keeps the load; cancelling the task ends the load, once", .requirement("E4"))
    func handles() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [:], "body"))
        let fixture = try LoaderFixture(transport: transport)
        let (kept, keptContinuation) = AsyncStream<LoadEvent<Data>>.makeStream()
        let (left, leftContinuation) = AsyncStream<LoadEvent<Data>>.makeStream()
        fixture.loader.start(ResourceRequest(url)) { event in
            keptContinuation.yield(event)
            if event.isLast { keptContinuation.finish() }
        }
        let task = fixture.loader.start(ResourceRequest(url)) { event in
            leftContinuation.yield(event)
            if event.isLast { leftContinuation.finish() }
        }
        await eventually { fixture.loader.waiterCount(of: ResourceRequest(url)) == 2 }
        var events = left.makeAsyncIterator()
        #expect(await events.next()?.name == "requesting")
        task.cancel()
        task.cancel()
        #expect(await events.next()?.name == "cancelled")
        #expect(await events.next() == nil)
        await task.value
        gate.open()
        #expect(await kept.all.last?.name == "completed network")
        task.cancel()
        #expect(transport.requestCount == 1)
    }

    private actor Home {
        var names: [String] = []
        var isOver = false

        func note(_ name: String, isLast: Bool) {
            names.append(name)
            isOver = isLast
        }
    }

    @Test("A handler runs on the chosen actor, after the call; the load needs no handler", .requirement("I3"))
    func isolation() async throws {
        let (fixture, transport) = try await stale("max-age=60")
        let home = Home()
        fixture.loader.start(ResourceRequest(url), on: home) { home, event in
            home.note(event.name, isLast: event.isLast)
        }
        await eventually { await home.isOver }
        #expect(await home.names == ["completed disk"])
        let isWithin = Mutex(true)
        let names: AsyncStream<Bool> = await MainActor.run {
            let (stream, continuation) = AsyncStream<Bool>.makeStream()
            fixture.loader.start(ResourceRequest(url)) { _ in
                MainActor.assertIsolated()
                continuation.yield(isWithin.withLock { $0 })
                continuation.finish()
            }
            isWithin.withLock { $0 = false }
            return stream
        }
        #expect(await names.all == [false])
        fixture.loader.start(ResourceRequest("https://example.com/b"))
        await eventually { transport.requestCount >= 2 }
    }
}

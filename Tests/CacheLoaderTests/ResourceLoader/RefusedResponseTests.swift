import TestSupport

/// A stored response that no processor accepts, such as the page of a captive portal, is replaced once by a new one.
@Suite("ResourceLoader: refused stored responses", .timeLimit(.minutes(5))) struct RefusedResponseTests {
    private let url = "https://example.com/a"

    private let number = NumberProcessor()

    private var refusal: LoadError { .processing(url: url, reason: "no number") }

    private let portal = OriginReply.ok("portal".utf8, cacheControl: "max-age=3600", etag: "\"portal\"")
    private let good = OriginReply.ok("42".utf8, cacheControl: "max-age=3600", etag: "\"good\"")

    /// Sends the replies in order, with `nil` for an unreachable origin.
    private func transport(_ replies: OriginReply?...) -> ScriptedTransport {
        let count = Counter()
        return ScriptedTransport { _, _ throws(TransportError) in
            guard let reply = replies[min(count.next(), replies.count) - 1] else {
                throw TransportError(.cannotConnect)
            }
            return TransportResponse(
                head: HTTPResponse(status: reply.status, headerFields: reply.fields),
                body: TransportBody(Data(reply.body)))
        }
    }

    /// Loads a number from the origin, then from the store.
    private func expectReplaced(
        _ fixture: LoaderFixture, _ transport: ScriptedTransport, requests: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let loaded = try await fixture.loader.load(url, as: number)
        #expect(loaded.value == 42, sourceLocation: sourceLocation)
        #expect(loaded.source == .network, sourceLocation: sourceLocation)
        #expect(transport.requestCount == requests, sourceLocation: sourceLocation)
        #expect(transport.requests.last?.headerFields[.ifNoneMatch] == nil, sourceLocation: sourceLocation)
        #expect(try await fixture.loader.load(url, as: number).source == .disk, sourceLocation: sourceLocation)
    }

    // MARK: Replaced

    @Test("Replaces a response that a prefetch has stored", .requirement("F2"))
    func prefetched() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: transport(portal, good))
        #expect(await fixture.loader.prefetch([ResourceRequest(url)]).finished().loaded == 1)
        try await expectReplaced(fixture, transport, requests: 2)
    }

    @Test("Replaces a response that a background revalidation has stored")
    func revalidated() async throws {
        let transport = transport(.ok("1".utf8, cacheControl: "max-age=1, stale-while-revalidate=60"), portal, good)
        let fixture = try LoaderFixture(transport: transport)
        #expect(try await fixture.loader.load(url, as: number).value == 1)
        fixture.clock.advance(by: 2)
        #expect(try await fixture.loader.load(url, as: number).value == 1)
        await eventually { !fixture.cache.isRevalidating }
        #expect(try fixture.loader.peek(url) == Data("portal".utf8))
        try await expectReplaced(fixture, transport, requests: 3)
    }

    @Test("Replaces a response that a 304 confirms, or that is served stale after an error or a lost connection")
    func confirmedOrStale() async throws {
        for reply in [OriginReply.notModified(etag: "\"portal\""), .status(.serviceUnavailable), nil] {
            let transport = transport(portal, reply, good)
            let fixture = try LoaderFixture(transport: transport, policy: ResourceLoader.Configuration().policy)
            _ = try await fixture.loader.load(url)
            fixture.clock.advance(by: 3601)
            try await expectReplaced(fixture, transport, requests: 3)
        }
    }

    @Test("Replaces a response behind a stored redirect")
    func redirected() async throws {
        let transport = transport(
            portal, .status(.movedPermanently, fields: [.location: "/a", .cacheControl: "max-age=3600"]), good)
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load(url)
        let moved = "https://example.com/moved"
        _ = try await fixture.loader.load(moved)
        try await fixture.stored(moved)
        let loaded = try await fixture.loader.load(moved, as: number)
        #expect(loaded.value == 42)
        #expect(loaded.source == .network)
        #expect(transport.requests.map(\.path) == ["/a", "/moved", "/a"])
    }

    @Test("Bypasses a response that cannot be removed")
    func readOnlyStore() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: transport(portal, good))
        _ = try await fixture.loader.load(url)
        var reading = ResponseStore.Configuration()
        reading.isReadOnly = true
        reading.clock = fixture.clock.date
        let store = try ResponseStore(directory: fixture.directory.url, configuration: reading)
        let loader = ResourceLoader(store: store, transport: transport, configuration: fixture.loader.configuration)
        #expect(try await loader.load(url, as: number).value == 42)
        #expect(transport.requestCount == 2)
    }

    // MARK: Once

    @Test("A refused new response ends the load, and is not stored", arguments: [false, true])
    func refusedAgain(isConfirmed: Bool) async throws {
        let transport =
            isConfirmed ? transport(portal, .notModified(etag: "\"portal\""), portal) : transport(portal)
        let fixture = try LoaderFixture(transport: transport) { $0.retry = RetryPolicy() }
        _ = try await fixture.loader.load(url)
        if isConfirmed { fixture.clock.advance(by: 3601) }
        await #expect(throws: refusal) { try await fixture.loader.load(url, as: number) }
        #expect(transport.requestCount == (isConfirmed ? 3 : 2))
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("If the origin fails at the second request, the load throws that error")
    func originFails() async throws {
        let transport = transport(portal, .notModified(etag: "\"portal\""), .status(.notFound))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 3601)
        await expectError(.status(404, url: url)) { try await fixture.loader.load(url, as: number) }
        #expect(transport.requestCount == 3)
    }

    @Test("The events of a load with a second request keep their order")
    func events() async throws {
        let fixture = try LoaderFixture(transport: transport(portal, .notModified(etag: "\"portal\""), good))
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 3601)
        let events = await fixture.loader.events(for: ResourceRequest(url), as: number).all
        expectGrammatical(events)
        #expect(events.first?.name == "requesting")
        #expect(events.last?.name == "completed network")
    }

    // MARK: Kept

    @Test("A load that forbids the network fails, and keeps the entry")
    func cacheOnly() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: transport(portal, good))
        _ = try await fixture.loader.load(url)
        let requests = [
            ResourceRequest(url, policy: .cacheOnly),
            ResourceRequest(url, headerFields: [.cacheControl: "only-if-cached"]),
        ]
        for request in requests {
            await #expect(throws: refusal) { try await fixture.loader.load(request, as: number) }
        }
        #expect(transport.requestCount == 1)
        #expect(try fixture.loader.contains(url))
    }

    @Test("A load with a blocked origin fails, and keeps the entry")
    func blockedOrigin() async throws {
        let transport = transport(portal, .status(.notFound), good)
        let fixture = try LoaderFixture(transport: transport) { configuration in
            configuration.negativeCaching = NegativeCaching(lifetime: .seconds(60), maxAttempts: 1)
        }
        _ = try await fixture.loader.load(url)
        let remote = ResourceRequest(url, policy: .remoteOnly)
        await expectError(.status(404, url: url)) { try await fixture.loader.load(remote) }
        await #expect(throws: refusal) { try await fixture.loader.load(url, as: number) }
        #expect(transport.requestCount == 2)
        #expect(try fixture.loader.contains(url))
    }

    @Test("A response that another waiter accepts stays")
    func accepted() async throws {
        let gate = Gate()
        let first = FirstTime()
        let (transport, fixture) = try LoaderFixture.scripted { [portal] _, _ in
            if first.isFirst() { return .reply(200, portal.fields, "portal") }
            await gate.wait()
            return .reply(304, [.eTag: "\"portal\""])
        }
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 3601)
        async let text = fixture.loader.load(url, as: .text)
        let refused = Task { try await fixture.loader.load(url, as: number) }
        await eventually { fixture.loader.waiterCount(of: ResourceRequest(url)) == 2 }
        gate.open()
        #expect(try await text.value == "portal")
        await #expect(throws: refusal) { try await refused.value }
        #expect(try fixture.loader.contains(url))
        #expect(transport.requestCount == 2)
    }
}

/// Accepts only the text of a number.
struct NumberProcessor: SynchronousProcessor {
    private struct NoNumber: Error, CustomStringConvertible {
        let description = "no number"
    }

    let id = ProcessorID("number")

    func processSynchronously(_ input: Data, _ context: ProcessingContext) throws -> Int {
        guard let number = Int(String(decoding: input, as: UTF8.self)) else { throw NoNumber() }
        return number
    }
}

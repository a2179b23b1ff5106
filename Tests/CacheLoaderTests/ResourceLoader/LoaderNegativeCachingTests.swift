import TestSupport

@Suite("ResourceLoader: origins that keep answering with an error", .timeLimit(.minutes(5)))
struct LoaderNegativeCachingTests {
    private let url = "https://example.com/a"

    private func fixture(
        _ transport: ScriptedTransport, lifetime: Duration? = .seconds(60), maxAttempts: Int = 3,
        directory: TemporaryDirectory? = nil
    ) throws -> LoaderFixture {
        try LoaderFixture(transport: transport, directory: directory) {
            $0.negativeCaching = NegativeCaching(lifetime: lifetime, maxAttempts: maxAttempts)
        }
    }

    /// Loads, and expects a failure with this status.
    private func fail(
        _ fixture: LoaderFixture, _ status: Int, _ request: ResourceRequest? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await expectError(.status(status, url: url), sourceLocation: sourceLocation) {
            try await fixture.loader.load(request ?? ResourceRequest(url))
        }
    }

    @Test("3 errors are allowed; then loads fail without a request for 60 s; then 3 again", .requirement("D1"))
    func row() async throws {
        let transport = ScriptedTransport(.status(.serviceUnavailable))
        let fixture = try fixture(transport)
        for count in 1...3 {
            await fail(fixture, 503)
            #expect(transport.requestCount == count)
        }
        fixture.clock.advance(by: 59)
        await fail(fixture, 503)
        #expect(transport.requestCount == 3)
        fixture.clock.advance(by: 1)
        for count in 4...6 {
            await fail(fixture, 503)
            #expect(transport.requestCount == count)
        }
        await fail(fixture, 503)
        #expect(transport.requestCount == 6)
    }

    @Test("Errors more than 60 s apart do not count together; closer ones do, in any number", .requirement("D1"))
    func window() async throws {
        let transport = ScriptedTransport(.status(.notFound))
        let fixture = try fixture(transport)
        for _ in 0..<10 {
            await fail(fixture, 404)
            fixture.clock.advance(by: 60)
        }
        #expect(transport.requestCount == 10)
        for _ in 0..<10 {
            await fail(fixture, 404)
            fixture.clock.advance(by: 50)
        }
        // Three requests, one blocked load, and so on.
        #expect(transport.requestCount == 10 + 8)
    }

    @Test(
        "No T turns it off, T = 0 blocks for no time; N ≤ 1 blocks after the first", .requirement("D1"),
        arguments: [
            (nil, 3, 10), (0, 3, 10), (-60, 3, 10), (60, 1, 1), (60, 0, 1), (60, -1, 1), (60, 2, 2),
        ] as [(Int?, Int, Int)])
    func limits(lifetime: Int?, maxAttempts: Int, requests: Int) async throws {
        let transport = ScriptedTransport(.status(.notFound))
        let fixture = try fixture(transport, lifetime: lifetime.map { .seconds($0) }, maxAttempts: maxAttempts)
        for _ in 0..<10 { await fail(fixture, 404) }
        #expect(transport.requestCount == requests)
    }

    @Test("A load counts its error within the lifetime from before a change", .requirement("D1", "K1"))
    func lifetimeDuringLoad() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(404))
        let fixture = try fixture(transport)
        async let first: Void = fail(fixture, 404)
        await gate.reached(1)
        gate.admit()
        await first
        fixture.clock.advance(by: 30)
        async let second: Void = fail(fixture, 404)
        await gate.reached(2)
        fixture.loader.configuration.negativeCaching.lifetime = .seconds(10)
        gate.open()
        await second
        #expect(try fixture.store.failure(for: CacheKey(url: url))?.count == 2)
    }

    @Test("Setting the clock back blocks nothing", .requirement("D1"))
    func clockSetBack() async throws {
        let transport = ScriptedTransport(.status(.notFound))
        let fixture = try fixture(transport, maxAttempts: 1)
        await fail(fixture, 404)
        fixture.clock.advance(by: -3600)
        await fail(fixture, 404)
        #expect(transport.requestCount == 2)
        await fail(fixture, 404)
        #expect(transport.requestCount == 2)
    }

    @Test("Only GET and HEAD count: a failed POST does not block a GET", .requirement("D1"))
    func posts() async throws {
        let transport = ScriptedTransport { request, _ in
            request.method == .post ? .reply(405) : .reply(200, [:], "good")
        }
        let fixture = try fixture(transport, maxAttempts: 1)
        for _ in 0..<3 { await fail(fixture, 405, ResourceRequest(url, method: .post)) }
        #expect(transport.requestCount == 3)
        #expect(try await fixture.loader.load(url).text == "good")
    }

    @Test(
        "A success resets the errors, stored or not, and so does a 304", .requirement("D2"),
        arguments: [
            OriginReply.ok("good".utf8, cacheControl: "max-age=0"), .ok("good".utf8, cacheControl: "no-store"),
            .notModified(etag: "\"1\""),
        ])
    func success(reply: OriginReply) async throws {
        let error = OriginReply.status(.notFound)
        let first = OriginReply.ok("good".utf8, cacheControl: "max-age=0", etag: "\"1\"")
        let replies = [first, error, reply, error, reply, error, error, error]
        let number = Counter()
        let transport = ScriptedTransport { _, _ in
            let reply = replies[min(number.next(), replies.count) - 1]
            return TransportResponse(
                head: HTTPResponse(status: reply.status, headerFields: reply.fields),
                body: TransportBody(Data(reply.body)))
        }
        let fixture = try fixture(transport)
        for isError in [false, true, false, true, false, true, true, true] {
            if isError { await fail(fixture, 404) } else { _ = try await fixture.loader.load(url) }
        }
        #expect(transport.requestCount == 8)
        await fail(fixture, 404)
        #expect(transport.requestCount == 8, "now there were three in a row")
    }

    @Test("The stored content of a blocked key stays, for loads that accept stale", .requirement("D3"))
    func stored() async throws {
        let transport = ScriptedTransport(.ok("good".utf8, cacheControl: "max-age=60"), .status(.notFound))
        let fixture = try fixture(transport, maxAttempts: 1)
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 61)
        await fail(fixture, 404)
        await fail(fixture, 404)
        #expect(transport.requestCount == 2)
        #expect(try fixture.loader.peek(url) == Data("good".utf8))
        let request = ResourceRequest(url, policy: .cacheFirst)
        let stale = try await fixture.loader.load(request)
        #expect(stale.text == "good")
        #expect(stale.isStale)
        #expect(transport.requestCount == 2)
    }

    @Test("After 5 transport errors the next load sends a request; the lifetime is unchanged", .requirement("D5"))
    func offline() async throws {
        let number = Counter()
        let transport = ScriptedTransport { request, _ throws(TransportError) in
            let number = number.next()
            if (2...11).contains(number) { throw TransportError(.cannotConnect) }
            return .reply(200, [.cacheControl: "max-age=60"], "\(number)")
        }
        let fixture = try fixture(transport, maxAttempts: 1)
        let expiry = try await fixture.loader.load(url).expiresAt
        fixture.clock.advance(by: 61)
        for _ in 0..<5 {
            let stale = try await fixture.loader.load(url)
            #expect(stale.text == "1")
            #expect(stale.failure == .transport(TransportError(.cannotConnect), url: url))
            let remote = ResourceRequest(url, policy: .remoteOnly)
            await #expect(throws: LoadError.transport(TransportError(.cannotConnect), url: url)) {
                try await fixture.loader.load(remote)
            }
        }
        #expect(try fixture.store.peek(CacheKey(url: url))?.metadata.expiresAt == expiry)
        #expect(try fixture.store.failure(for: CacheKey(url: url)) == nil)
        #expect(try await fixture.loader.load(url).text == "12")
    }

    // MARK: D6

    @Test(
        "no-cache and no-store, of request or response, do not change the counting", .requirement("D6"),
        arguments: ["no-cache", "no-store"])
    func noCache(directive: String) async throws {
        let transport = ScriptedTransport(.status(.notFound, fields: [.cacheControl: directive]))
        let fixture = try fixture(transport, maxAttempts: 1)
        await fail(fixture, 404)
        await fail(fixture, 404)
        let request = ResourceRequest(url, headerFields: [.cacheControl: directive])
        await fail(fixture, 404, request)
        #expect(transport.requestCount == 1)
        // Errors in answer to such a request count, too.
        let other = try self.fixture(transport, maxAttempts: 1)
        await fail(other, 404, request)
        await fail(other, 404, request)
        #expect(transport.requestCount == 2)
    }
}

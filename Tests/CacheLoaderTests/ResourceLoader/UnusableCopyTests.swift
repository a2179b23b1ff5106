import TestSupport

/// Stored bodies that turn out to be unusable when they are read, after the decision to answer with them.
@Suite("ResourceLoader: unusable stored bodies", .timeLimit(.minutes(5))) struct UnusableCopyTests {
    private let url = "https://example.com/a"

    /// Stores a stale response. During its validation, the file is truncated and the origin answers 304; later requests
    /// get `replies` in order.
    private func fixture(maxAttempts: Int, then replies: OriginReply...) async throws -> (
        LoaderFixture, ScriptedTransport
    ) {
        let damage = Mutex<(@Sendable () -> Void)?>(nil)
        let number = Counter()
        let transport = ScriptedTransport { _, _ in
            let count = number.next()
            switch count {
            case 1: return .reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\""], "good")
            case 2:
                damage.withLock { $0 }?()
                return .reply(304, [.eTag: "\"1\""])
            default:
                let reply = replies[min(count - 3, replies.count - 1)]
                return TransportResponse(
                    head: HTTPResponse(status: reply.status, headerFields: reply.fields),
                    body: TransportBody(Data(reply.body)))
            }
        }
        let fixture = try LoaderFixture(transport: transport) { configuration in
            configuration.retry = RetryPolicy(maxAttempts: maxAttempts, baseDelay: .zero)
        }
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 61)
        let blob = try #require(try fixture.blobs.first).url
        damage.withLock { $0 = { #expect(truncate(blob.path(percentEncoded: false), 2) == 0) } }
        return (fixture, transport)
    }

    private let good = OriginReply.ok("new".utf8, cacheControl: "max-age=60")

    @Test("Requests the whole, as another attempt", .requirement("A7", "H7"))
    func another() async throws {
        let (fixture, transport) = try await fixture(maxAttempts: 2, then: good)
        let events = await fixture.loader.events(for: ResourceRequest(url), deliversStale: false).all
        expectGrammatical(events)
        #expect(events.map(\.name).contains("storeFailed"))
        let loaded = try #require(events.last?.loaded, "\(events.map(\.name))")
        #expect(loaded.text == "new")
        #expect(loaded.source == .network)
        #expect(transport.requestCount == 3)
        #expect(transport.requests.last?.headerFields[.ifNoneMatch] == nil)
        #expect(transport.requests.last?.headerFields[.cacheControl] == nil, "caches on the way have a sound one")
        #expect(try await fixture.loader.load(url).source == .disk)
        try await fixture.store.sweep()
        #expect(try await fixture.store.check(digests: true).isSound)
    }

    @Test("A load never sends more requests than its attempts", .requirement("H7"), arguments: 1...4)
    func limit(maxAttempts: Int) async throws {
        let (fixture, transport) = try await fixture(maxAttempts: maxAttempts, then: .status(.serviceUnavailable))
        let error = await #expect(throws: LoadError.self) { try await fixture.loader.load(url) }
        #expect(transport.requestCount == 1 + maxAttempts)
        guard maxAttempts == 1 else {
            #expect(error?.brief == .status(503, url: url), "it is no content")
            return
        }
        guard case .store(.truncatedBody)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        // The next load detects the damage before its request.
        await expectError(.status(503, url: url)) { try await fixture.loader.load(url) }
        #expect(transport.requests.last?.headerFields[.ifNoneMatch] == nil)
    }

    @Test("A later failure continues the count, and a later attempt may succeed", .requirement("H7"))
    func endsWell() async throws {
        let (fixture, transport) = try await fixture(maxAttempts: 4, then: .status(.badGateway), good)
        let events = await fixture.loader.events(for: ResourceRequest(url), deliversStale: false).all
        #expect(events.map(\.name).contains("retrying 2"))
        #expect(events.last?.name == "completed network")
        #expect(transport.requestCount == 4)
    }

    @Test("Follows a redirect in place of the whole")
    func redirect() async throws {
        let (fixture, transport) = try await fixture(
            maxAttempts: 2, then: .status(.found, fields: [.location: "/b"]), good)
        let loaded = try await fixture.loader.load(url)
        #expect(loaded.text == "new")
        #expect(loaded.url == "https://example.com/b")
        #expect(transport.requests.map(\.path) == ["/a", "/a", "/a", "/b"])
    }

    // MARK: Codings

    private static let gzip = Array(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11HIQKIAn6HKCRMAAAA=") ?? Data())

    @Test("A body that is not in its coding throws, and its entry is removed", .requirement("D4"))
    func malformed() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60", .contentEncoding: "gzip"]
        let transport = ScriptedTransport(
            .status(.ok, fields: fields, body: Self.gzip.dropLast()), .status(.ok, fields: fields, body: Self.gzip))
        let fixture = try LoaderFixture(transport: transport)
        await #expect(throws: LoadError.malformedContent(url: url, coding: "gzip")) {
            try await fixture.loader.load(url)
        }
        #expect(try !fixture.loader.contains(url))
        #expect(try await fixture.loader.load(url).text == "hello, hello, hello")
        #expect(try await fixture.loader.load(url).source == .disk)
    }

    @Test("Requests a malformed body stored by a cache again, unless the load forbids requests")
    func malformedCopy() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60", .contentEncoding: "gzip"]
        let transport = ScriptedTransport(
            .status(.ok, fields: fields, body: "nonsense".utf8), .status(.ok, fields: fields, body: Self.gzip))
        let fixture = try LoaderFixture(transport: transport)
        #expect(try await fixture.cache.response(for: .to("/a", [.acceptEncoding: "gzip, deflate"])).text == "nonsense")
        let offline = ResourceRequest(url, policy: .cacheOnly)
        await #expect(throws: LoadError.malformedContent(url: url, coding: "gzip")) {
            try await fixture.loader.load(offline)
        }
        #expect(transport.requestCount == 1)
        #expect(try await fixture.loader.load(url).text == "hello, hello, hello")
        #expect(transport.requestCount == 2)
    }

    @Test("After the last attempt the stored body is removed, and the next load requests the whole", .requirement("D4"))
    func notKept() async throws {
        let (fixture, transport) = try await fixture(maxAttempts: 1, then: good)
        await #expect(throws: LoadError.self) { try await fixture.loader.load(url) }
        #expect(try await fixture.loader.load(url).text == "new")
        #expect(transport.requests.last?.headerFields[.ifNoneMatch] == nil)
    }

    // MARK: Refused by processors

    private struct Refusal: Error {}
    private let refusing = ClosureProcessor<Data, Int>(ProcessorID("refusing")) { _, _ in throw Refusal() }

    @Test("A redirected response that the processor rejects is requested again", .requirement("F2"))
    func behindRedirect() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            request.path == "/a"
                ? .reply(301, [.location: "/b", .cacheControl: "max-age=60"])
                : .reply(200, [.cacheControl: "max-age=60"], "garbage")
        }
        for count in 1...3 {
            await #expect(throws: LoadError.self) { try await fixture.loader.load(url, as: refusing) }
            #expect(transport.requests.count { $0.path == "/b" } == count)
        }
    }
}

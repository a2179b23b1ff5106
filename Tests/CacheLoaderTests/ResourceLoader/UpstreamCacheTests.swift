import TestSupport

/// A cache between the loader and the origin, such as a shared tier or a CDN, may store the refused response, too.
@Suite("ResourceLoader: refused responses of an upstream cache", .timeLimit(.minutes(5))) struct UpstreamCacheTests {
    private let url = "https://example.com/a"

    private let number = NumberProcessor()

    private var refusal: LoadError { .processing(url: url, reason: "no number") }

    private let portal = ScriptedReply.reply(200, [.cacheControl: "max-age=3600", .eTag: "\"portal\""], "portal")
    private let cachedPortal = ScriptedReply.reply(200, [.cacheControl: "max-age=3600", .age: "5"], "portal")
    private let good = ScriptedReply.reply(200, [.cacheControl: "max-age=3600"], "42")
    private let confirmed = ScriptedReply.reply(304, [.eTag: "\"portal\""])
    private let unavailable = ScriptedReply.reply(503)

    /// `Cache-Control` of each request.
    private func directives(_ transport: ScriptedTransport) -> [String?] {
        transport.requests.map { $0.headerFields[.cacheControl] }
    }

    // MARK: Stored

    @Test("RFC 9111 §5.2.1.4: the request after a refused stored response has no-cache, and no other new field")
    func stored() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(portal, good))
        _ = try await fixture.loader.load(url)
        #expect(try await fixture.loader.load(url, as: number).value == 42)
        #expect(directives(transport) == [nil, "no-cache"])
        var last = try #require(transport.requests.last)
        last.headerFields[.cacheControl] = nil
        #expect(last == transport.requests.first)
        #expect(try await fixture.loader.load(url, as: number).source == .disk, "the response is stored")
    }

    @Test("The requests after a refused 304, and after a refused stale fallback, have no-cache, too")
    func confirmedOrStale() async throws {
        for reply in [confirmed, unavailable] {
            let transport = ScriptedTransport(portal, reply, good)
            let fixture = try LoaderFixture(transport: transport, policy: ResourceLoader.Configuration().policy)
            _ = try await fixture.loader.load(url)
            fixture.clock.advance(by: 3601)
            #expect(try await fixture.loader.load(url, as: number).value == 42)
            #expect(directives(transport) == [nil, nil, "no-cache"])
            #expect(try await fixture.loader.load(url, as: number).source == .disk)
        }
    }

    @Test(
        "no-cache joins the directives of the caller",
        arguments: [
            (["max-age=600"], "max-age=600, no-cache"),
            (["max-stale=1", "max-age=600"], "max-stale=1, max-age=600, no-cache"),
            ([""], "no-cache"), (["no-transform, no-cache"], "no-transform, no-cache"),
        ])
    func joined(_ values: [String], _ expected: String) async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(portal, confirmed, good))
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 3602)
        var request = ResourceRequest(url)
        for value in values { request.headerFields.append(HTTPField(name: .cacheControl, value: value)) }
        #expect(try await fixture.loader.load(request, as: number).value == 42)
        #expect(directives(transport).last == expected)
    }

    @Test("Only the request for the refused URL has no-cache, not the redirect to it")
    func redirected() async throws {
        let moved = "https://example.com/moved"
        let transport = ScriptedTransport([moved: [.reply(302, [.location: "/a"])], url: [portal, good]])
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load(url)
        #expect(try await fixture.loader.load(moved, as: number).value == 42)
        #expect(transport.requests(to: moved).allSatisfy { $0.headerFields[.cacheControl] == nil })
        #expect(transport.requests(to: url).map { $0.headerFields[.cacheControl] } == [nil, "no-cache"])
    }

    // MARK: From the network

    @Test("RFC 9111 §5.1: a refused response with Age is requested once more, with no-cache")
    func fromUpstream() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(cachedPortal, good))
        let loaded = try await fixture.loader.load(url, as: number)
        #expect(loaded.value == 42)
        #expect(loaded.source == .network)
        #expect(directives(transport) == [nil, "no-cache"])
        #expect(try await fixture.loader.load(url, as: number).source == .disk)
    }

    @Test("A second refusal fails the load, with Age or without", arguments: [false, true])
    func refusedAgain(hasAge: Bool) async throws {
        let transport = ScriptedTransport(cachedPortal, hasAge ? cachedPortal : portal)
        let fixture = try LoaderFixture(transport: transport) { $0.retry = RetryPolicy() }
        await #expect(throws: refusal) { try await fixture.loader.load(url, as: number) }
        #expect(transport.requestCount == 2)
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("A refused response without Age fails the load immediately")
    func fromOrigin() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(portal, good))
        await #expect(throws: refusal) { try await fixture.loader.load(url, as: number) }
        #expect(transport.requestCount == 1)
    }

    @Test("A refused response fails the load if its request has no-cache, or must not be repeated")
    func atOnce() async throws {
        let requests = [
            ResourceRequest(url, headerFields: [.cacheControl: "max-stale, No-Cache"]),
            ResourceRequest(url, method: .post, content: Data("a".utf8)),
        ]
        for request in requests {
            let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(cachedPortal, good))
            await #expect(throws: refusal) { try await fixture.loader.load(request, as: number) }
            #expect(transport.requestCount == 1)
        }
    }

    @Test("Age that this cache adds to a joined response does not indicate an upstream cache")
    func underWay() async throws {
        let (gate, first) = (Gate(), FirstTime())
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            let parts = Counter()
            let body = TransportBody {
                let part = parts.next()
                if part == 2 { await gate.wait() }
                return part <= 2 ? Data("portal".utf8) : nil
            }
            let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=3600"])
            return first.isFirst()
                ? TransportResponse(head: head, body: body)
                : TransportResponse(head: head, body: TransportBody(Data("42".utf8)))
        }
        let response = try await fixture.cache.response(for: .to("/a", [.acceptEncoding: "gzip, deflate"]))
        var events: [String] = []
        for await event in fixture.loader.events(for: ResourceRequest(url), as: number) {
            if case .progress = event { gate.open() }
            events.append(event.name)
        }
        _ = try await response.data()
        #expect(events.contains("progress 6/?"), "\(events)")
        #expect(events.last == "failed", "\(events)")
        #expect(transport.requestCount == 1)
    }

    // MARK: Unusable content

    private let malformed = ScriptedReply.reply(
        200, [.cacheControl: "max-age=60", .contentEncoding: "gzip", .age: "5"], "nonsense")

    @Test("An undecodable body with Age is requested once more, with no-cache")
    func undecodable() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(malformed, good))
        #expect(try await fixture.loader.load(url).text == "42")
        #expect(directives(transport) == [nil, "no-cache"])
        #expect(try await fixture.loader.load(url).source == .disk)
    }

    @Test("A load repeats the request only once, even after a failure of the origin")
    func undecodableAgain() async throws {
        for replies in [[malformed], [malformed, unavailable, malformed]] {
            let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(["\(url)": replies])) {
                $0.retry = RetryPolicy(maxAttempts: 5, baseDelay: .zero)
            }
            await #expect(throws: LoadError.malformedContent(url: url, coding: "gzip")) {
                try await fixture.loader.load(url)
            }
            #expect(directives(transport) == [nil] + Array(repeating: "no-cache", count: max(1, replies.count - 1)))
            #expect(try fixture.store.statistics().entries == 0)
        }
    }

    @Test("An undecodable stored body is requested with no-cache, and its replacement is stored")
    func undecodableCopy() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(malformed, good))
        _ = try await fixture.cache.response(for: .to("/a", [.acceptEncoding: "gzip, deflate"])).data()
        #expect(try await fixture.loader.load(url).text == "42")
        #expect(directives(transport) == [nil, "no-cache"])
        #expect(try await fixture.loader.load(url).source == .disk)
    }

    @Test("Content of a refused type is requested once more if it has Age", arguments: [false, true])
    func contentType(hasAge: Bool) async throws {
        var fields: HTTPFields = [.cacheControl: "max-age=60", .contentType: "text/html"]
        if hasAge { fields[.age] = "5" }
        let transport = ScriptedTransport(
            .reply(200, fields, "portal"), .reply(200, [.contentType: "image/png"], "image"))
        let fixture = try LoaderFixture(transport: transport) { $0.contentTypes = ["image/*"] }
        if hasAge {
            #expect(try await fixture.loader.load(url).text == "image")
        } else {
            await #expect(throws: LoadError.unacceptableContentType("text/html", url: url)) {
                try await fixture.loader.load(url)
            }
        }
        #expect(directives(transport) == (hasAge ? [nil, "no-cache"] : [nil]))
    }
}

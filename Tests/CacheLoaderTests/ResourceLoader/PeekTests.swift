import TestSupport

@Suite("ResourceLoader: peek and contains", .timeLimit(.minutes(5))) struct PeekTests {
    private let url = "https://example.com/a"

    private func language(_ value: String?, _ method: HTTPRequest.Method = .get) -> ResourceRequest {
        var fields = HTTPFields()
        fields[.acceptLanguage] = value
        return ResourceRequest(url, method: method, headerFields: fields)
    }

    private func expect(
        _ fixture: LoaderFixture, _ request: ResourceRequest, _ text: String?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try fixture.loader.peek(request) == text.map { Data($0.utf8) }, sourceLocation: sourceLocation)
        #expect(try fixture.loader.contains(request) == (text != nil), sourceLocation: sourceLocation)
    }

    // MARK: Selection

    @Test("RFC 9111 §4.1: peek and contains select the variant by the fields that Vary nominates")
    func variants() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            .reply(
                200, [.cacheControl: "max-age=60", .vary: "Accept-Language"],
                request.headerFields[.acceptLanguage] ?? "none")
        }
        for value in ["de", "fr"] { _ = try await fixture.loader.load(language(value)) }
        try expect(fixture, language("de"), "de")
        try expect(fixture, language("fr"), "fr")
        try expect(fixture, language("it"), nil)
        try expect(fixture, language(nil), nil)
        #expect(transport.requestCount == 2)
    }

    /// Answers each request with its credentials.
    private func personal() throws -> LoaderFixture {
        let transport = ScriptedTransport { request, _ in
            .reply(200, [.cacheControl: "max-age=60"], request.headerFields[.authorization] ?? "none")
        }
        return try LoaderFixture(transport: transport)
    }

    @Test("Peek and contains find no response to another account")
    func credentialsOfRequest() async throws {
        let fixture = try personal()
        func request(_ credentials: String) -> ResourceRequest {
            ResourceRequest(url, headerFields: [.authorization: credentials])
        }
        _ = try await fixture.loader.load(request("one"))
        try expect(fixture, request("one"), "one")
        try expect(fixture, request("two"), nil)
        try expect(fixture, ResourceRequest(url), nil)
    }

    @Test("Peek and contains use the credentials and the partition of the configuration")
    func configuration() async throws {
        let fixture = try personal()
        func sign(_ token: String?) throws {
            try fixture.loader.configuration.setCredentials(
                token.map { .bearer(token: $0) }, forOrigin: "https://example.com")
        }
        try sign("one")
        _ = try await fixture.loader.load(url)
        try expect(fixture, ResourceRequest(url), "Bearer one")
        for token in ["two", nil] {
            try sign(token)
            try expect(fixture, ResourceRequest(url), nil)
        }
        try sign("one")
        fixture.loader.configuration.partition = "user-2"
        try expect(fixture, ResourceRequest(url), nil)
    }

    @Test(
        "Peek and contains ignore freshness and directives",
        arguments: ["max-age=1", "no-cache", "max-age=1, must-revalidate"])
    func staleContent(directives: String) async throws {
        let transport = ScriptedTransport(.ok("body".utf8, cacheControl: directives, etag: "\"1\""))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 1000)
        try expect(fixture, ResourceRequest(url), "body")
        for policy in [.remoteOnly, .revalidateAlways, .cacheOnly] as [CachePolicy.Override] {
            try expect(fixture, ResourceRequest(url, policy: policy), "body")
        }
        try expect(fixture, ResourceRequest(url, headerFields: [.cacheControl: "no-cache"]), "body")
        try expect(fixture, ResourceRequest(url, headerFields: [.range: "bytes=0-1"]), "body")
        try expect(fixture, ResourceRequest(url, method: .head), "body")
        try expect(fixture, ResourceRequest(url, method: .post), nil)
        #expect(transport.requestCount == 1)
    }

    @Test("Peek and contains return the content, not a stored error response")
    func errorResponse() async throws {
        let transport = ScriptedTransport(
            .ok("good".utf8, cacheControl: "max-age=1"), .status(404, fields: [.cacheControl: "max-age=60"])
        )
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        fixture.clock.advance(by: 10)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        #expect(transport.requestCount == 2)
        try expect(fixture, ResourceRequest(url), "good")
    }

    // MARK: Redirects

    /// `/a` redirects to `/b`, and `/c` to itself.
    private func redirecting() throws -> (LoaderFixture, ScriptedTransport) {
        let transport = ScriptedTransport { request, _ in
            switch request.path {
            case "/a": .reply(301, [.location: "/b", .cacheControl: "max-age=60"], "moved")
            case "/c": .reply(301, [.location: "/c", .cacheControl: "max-age=60"], "moved")
            default: .reply(200, [.cacheControl: "max-age=60"], "here")
            }
        }
        return (try LoaderFixture(transport: transport), transport)
    }

    @Test("Peek and contains follow a stored redirect, fresh or stale, and do not return its body")
    func redirect() async throws {
        let (fixture, transport) = try redirecting()
        _ = try await fixture.loader.load(url)
        try await fixture.stored(url)
        try expect(fixture, ResourceRequest(url), "here")
        fixture.clock.advance(by: 1000)
        try expect(fixture, ResourceRequest(url), "here")
        try await fixture.loader.remove("https://example.com/b")
        try expect(fixture, ResourceRequest(url), nil)
        #expect(transport.requestCount == 2)
    }

    @Test("Peek and contains find nothing behind a redirect loop")
    func circle() async throws {
        let (fixture, _) = try redirecting()
        let circle = "https://example.com/c"
        await #expect(throws: LoadError.tooManyRedirects(url: circle, limit: 20)) {
            try await fixture.loader.load(circle)
        }
        try expect(fixture, ResourceRequest(circle), nil)
    }

    // MARK: Memory

    private func filled(_ directives: String = "max-age=60") async throws -> LoaderFixture {
        let transport = ScriptedTransport(.ok("body".utf8, cacheControl: directives, contentType: "text/plain"))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load(url)
        fixture.loader.configuration.memoryLimit = 1 << 20
        return fixture
    }

    @Test("peek fills memory with fresh content; the next load reads no file", .requirement("G6"))
    func fillsMemory() async throws {
        let fixture = try await filled()
        fixture.clock.advance(by: 5)
        try expect(fixture, ResourceRequest(url), "body")
        fixture.clock.advance(by: 5)
        let hit = try await fixture.loader.load(url)
        #expect(hit.source == .memory)
        #expect(hit.text == "body")
        #expect(hit.age == 10)
        #expect(hit.headerFields[.contentType] == "text/plain")
        fixture.clock.advance(by: 50)
        #expect(try await fixture.loader.load(url).source == .network)
    }

    @Test("peek fills no memory for a request that opts out, and contains fills none", .requirement("G6"))
    func keepsNothing() async throws {
        let fixture = try await filled()
        #expect(try fixture.loader.contains(url))
        try expect(fixture, ResourceRequest(url, usesMemory: false), "body")
        #expect(try await fixture.loader.load(url).source == .disk)
    }

    @Test("peek keeps no stale content in memory", .requirement("G6"), arguments: ["max-age=1", "no-cache"])
    func staleMemory(directives: String) async throws {
        let fixture = try await filled(directives)
        fixture.clock.advance(by: 10)
        try expect(fixture, ResourceRequest(url), "body")
        #expect(try await fixture.loader.load(url).source == .network)
    }

    @Test("peek keeps no content in memory of a type that a load rejects", .requirement("G6"))
    func rejectedType() async throws {
        let fixture = try await filled()
        fixture.loader.configuration.contentTypes = ["image/*"]
        try expect(fixture, ResourceRequest(url), "body")
        await #expect(throws: LoadError.unacceptableContentType("text/plain", url: url)) {
            try await fixture.loader.load(url)
        }
    }

    @Test("A removal removes peeked content from memory", .requirement("G6"))
    func removed() async throws {
        let fixture = try await filled()
        try expect(fixture, ResourceRequest(url), "body")
        try await fixture.loader.remove(url)
        try expect(fixture, ResourceRequest(url), nil)
        #expect(try await fixture.loader.load(url).source == .network)
    }

    @Test("peek and contains record no access", .requirement("A6"))
    func noAccess() async throws {
        let fixture = try await filled()
        try await fixture.store.flush()
        func state() throws -> [[SQLValue]] {
            try ["cache_entries", "cache_requests", "cache_stats"].flatMap {
                try fixture.store.query("SELECT * FROM \($0)").rows
            }
        }
        let before = try state()
        fixture.clock.advance(by: 10)
        for request in [ResourceRequest(url), ResourceRequest("https://example.com/missing")] {
            _ = try fixture.loader.peek(request)
            _ = try fixture.loader.contains(request)
        }
        try await fixture.store.flush()
        #expect(try state() == before)
    }
}

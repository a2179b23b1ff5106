import TestSupport

@Suite("ResourceLoader", .timeLimit(.minutes(5))) struct ResourceLoaderTests {
    private let url = "https://example.com/a"

    @Test("Loads of another URL, field or policy share no response; field order is ignored", .requirement("A4", "B7"))
    func flightKeys() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "no-store"], "body"))
        let fixture = try LoaderFixture(transport: transport)
        let (x, y) = (try #require(HTTPField.Name("x")), try #require(HTTPField.Name("y")))
        let requests = [
            ResourceRequest(url), ResourceRequest("https://example.com/b"),
            ResourceRequest(url, headerFields: [x: "1", y: "2"]), ResourceRequest(url, headerFields: [y: "2", x: "1"]),
            ResourceRequest(url, policy: .remoteOnly),
        ]
        try await withThrowingTaskGroup { group in
            for request in requests {
                let waiters = fixture.loader.waiterCount(of: request)
                group.addTask { _ = try await fixture.loader.load(request) }
                await eventually { fixture.loader.waiterCount(of: request) > waiters }
            }
            // No load ends before all have begun.
            gate.open()
            try await group.waitForAll()
        }
        #expect(transport.requestCount == 4)
    }

    @Test(
        "An unsuccessful status throws with that status, is counted, and keeps the content", .requirement("D4"),
        arguments: [404, 410, 500, 503], ["max-age=60", "no-store"])
    func errorStatus(code: Int, cacheControl: String) async throws {
        let transport = ScriptedTransport(
            .ok("good".utf8),
            .status(
                .init(code: code), fields: [.contentType: "text/html", .cacheControl: cacheControl], body: "<html>".utf8
            ))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load(url)
        for count in 1...2 {
            await expectError(.status(code, url: url)) { try await fixture.loader.load(url) }
            let failure = try fixture.store.failure(for: CacheKey(url: url))
            #expect(failure?.status == code)
            #expect(failure?.count == count)
        }
        #expect(try fixture.loader.peek(url) == Data("good".utf8))
        #expect(try fixture.store.responses(for: CacheKey(url: url)).count == 1)
    }

    @Test("remoteOnly replaces a fresh entry unconditionally; cacheOnly never uses the network", .requirement("B7"))
    func remoteAndCacheOnly() async throws {
        let transport = ScriptedTransport(
            .ok("one".utf8, cacheControl: "max-age=60", etag: "\"1\""), .ok("two".utf8, cacheControl: "max-age=60"))
        let fixture = try LoaderFixture(transport: transport)
        let cacheOnly = ResourceRequest(url, policy: .cacheOnly)
        await #expect(throws: LoadError.notCached(url: url)) { try await fixture.loader.load(cacheOnly) }
        #expect(transport.requestCount == 0)
        _ = try await fixture.loader.load(url)
        let remote = try await fixture.loader.load(ResourceRequest(url, policy: .remoteOnly))
        #expect(remote.text == "two")
        #expect(transport.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, nil])
        fixture.clock.advance(by: 3600)
        #expect(try await fixture.loader.load(cacheOnly).text == "two")
        #expect(transport.requestCount == 2)
    }

    @Test("Inserted content needs no request; peek and contains record no access", .requirement("A6"))
    func localInsert() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(.ok()))
        #expect(try !fixture.loader.contains(url))
        #expect(try fixture.loader.peek(url) == nil)
        try await fixture.loader.insert(Data("local".utf8), for: url, headerFields: [.contentType: "text/plain"])
        let accessed = "SELECT accessed_at, hit_count FROM cache_entries"
        let before = try fixture.store.query(accessed)
        fixture.clock.advance(by: 100)
        #expect(try fixture.loader.contains(url))
        #expect(try fixture.loader.peek(url) == Data("local".utf8))
        try await fixture.store.flush()
        #expect(try fixture.store.query(accessed) == before)
        let loaded = try await fixture.loader.load(url)
        #expect(loaded.text == "local")
        #expect(loaded.source == .disk)
        #expect(loaded.headerFields[.contentType] == "text/plain")
        #expect(transport.requestCount == 0)
        try await fixture.store.flush()
        #expect(try fixture.store.query(accessed) != before)
    }

    @Test("An insert follows the same storage rules as a response", .requirement("A6"))
    func insertedFields() async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport(.ok()))
        await #expect(throws: LoadError.notStorable(url: url)) {
            try await fixture.loader.insert(Data("x".utf8), for: url, headerFields: [.cacheControl: "no-store"])
        }
        #expect(try !fixture.loader.contains(url))
        let fields: HTTPFields = [.connection: "x-hop", try #require(.init("X-RedirectStep")): "1", .eTag: "\"1\""]
        let entry = try await fixture.loader.insert(Data("x".utf8), for: url, headerFields: fields)
        let head = String(decoding: entry.metadata.head, as: UTF8.self).lowercased()
        #expect(!head.contains("hop"))
        #expect(head.contains("etag: \"1\""))
    }

    @Test("A redirect from the store counts as one access, and so does a hit")
    func uses() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            request.path == "/a"
                ? .reply(301, [.location: "/b", .cacheControl: "max-age=60"])
                : .reply(200, [.cacheControl: "max-age=60"], "here")
        }
        for _ in 0..<3 {
            _ = try await fixture.loader.load(url)
            try await fixture.stored(url)
        }
        try await fixture.store.flush()
        let hits = try fixture.store.query("SELECT hit_count FROM cache_entries ORDER BY key").rows
        #expect(hits == [[.integer(2)], [.integer(2)]])
    }

    @Test("A load after a change does not use the earlier body limit", .requirement("K1"))
    func configurationAndLoads() async throws {
        let gate = Gate()
        let fixture = try LoaderFixture(transport: ScriptedTransport.held(by: gate, .reply(200, [:], "12345")))
        fixture.loader.configuration.maxBodyBytes = 1
        let before = Task { try await fixture.loader.load(url) }
        await gate.reached(1)
        fixture.loader.configuration.maxBodyBytes = 100
        let after = Task { try await fixture.loader.load(url) }
        try await eventually { try fixture.loader.isLoading(ResourceRequest(url)) }
        gate.admit()
        await gate.reached(2)
        gate.open()
        await #expect(throws: LoadError.bodyTooLarge(url: url, limit: 1)) { try await before.value }
        #expect(try await after.value.text == "12345")
    }

    @Test("A load ignores the body of a redirect that fails or exceeds the limit")
    func redirectBodies() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            switch request.path {
            case "/a": .reply(302, [.location: "/b"], "mov", failure: TransportError(.truncated))
            case "/b": .reply(302, [.location: "/c"], String(repeating: "moved", count: 1_000_000))
            default: .reply(200, [:], "here")
            }
        }
        fixture.loader.configuration.maxBodyBytes = 100
        #expect(try await fixture.loader.load(url).text == "here")
    }

    @Test("A removal leaves nothing, and the next request is unconditional", .requirement("J2"))
    func removal() async throws {
        let transport = ScriptedTransport(.ok("body".utf8, cacheControl: "max-age=60", etag: "\"1\""))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load(url)
        #expect(try await fixture.loader.remove(url))
        #expect(try await !fixture.loader.remove(url))
        #expect(try !fixture.loader.contains(url))
        #expect(try fixture.blobs.isEmpty)
        _ = try await fixture.loader.load(url)
        #expect(transport.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, nil])
    }

    @Test("A default lifetime of 3600 s saves requests; without it, every load is conditional", .requirement("B3"))
    func defaultLifetime() async throws {
        for (lifetime, requests) in [(3600, 1), (0, 3)] {
            let transport = ScriptedTransport(.ok("body".utf8, etag: "\"1\""), .notModified(etag: "\"1\""))
            let fixture = try LoaderFixture(
                transport: transport, policy: CachePolicy(defaultLifetime: .seconds(lifetime)))
            for seconds in [0, 1800, 1799.0] {
                fixture.clock.advance(by: seconds)
                #expect(try await fixture.loader.load(url).text == "body")
            }
            #expect(transport.requestCount == requests)
            #expect(transport.requests.dropFirst().allSatisfy { $0.headerFields[.ifNoneMatch] == "\"1\"" })
        }
    }

    @Test("A body above the limit throws, and no part of it is stored")
    func bodyLimit() async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "1234", "5678") }
        let fixture = try LoaderFixture(transport: transport)
        fixture.loader.configuration.maxBodyBytes = 7
        await #expect(throws: LoadError.bodyTooLarge(url: url, limit: 7)) { try await fixture.loader.load(url) }
        #expect(try fixture.store.statistics().entries == 0)
        #expect(try fixture.blobs.isEmpty)
    }

    @Test("A large body arrives whole from network and disk")
    func largeBody() async throws {
        let body = [UInt8]((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 / 1009) })
        let fixture = try LoaderFixture(transport: ScriptedTransport(.ok(body, cacheControl: "max-age=60")))
        for source in [ResponseSource.network, .disk] {
            let resource = try await fixture.loader.load(url)
            #expect(resource.source == source)
            #expect(resource.data == Data(body))
        }
    }

    @Test(
        "Invalid input throws invalidURL, and no request is sent", .requirement("E9"),
        arguments: [
            "", "ht tp://x y", "no-scheme", "//example.com/a", "https://", "https:///a",
            "file://example.com/etc/passwd",
            "ftp://example.com/", "data:text/plain,x", "https://user:secret@example.com/", "https://example.com:99999/",
        ])
    func invalidURLs(url: String) async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(.ok()))
        let error = await #expect(throws: LoadError.self) { try await fixture.loader.load(url) }
        guard case .invalidURL = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(transport.requestCount == 0)
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("Refuses a URL of 128 KiB or more, loads one of 4,000 characters", .requirement("A3"))
    func longURLs() async throws {
        let transport = ScriptedTransport(.ok("body".utf8, cacheControl: "max-age=60"))
        let fixture = try LoaderFixture(transport: transport)
        await #expect(throws: LoadError.self) {
            try await fixture.loader.load(
                "https://example.com/" + String(repeating: "a", count: Repetitions.count(1 << 20, debug: 1 << 17)))
        }
        let long = "https://example.com/" + String(repeating: "a", count: 4000)
        for _ in 0..<2 { #expect(try await fixture.loader.load(long).text == "body") }
        #expect(transport.requestCount == 1)
    }

    @Test("Distinct resources never share an entry, equal ones do", .requirement("A3", "V01"))
    func distinctResources() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            .reply(200, [.cacheControl: "max-age=60"], "\(request.authority ?? "")\(request.path ?? "")")
        }
        let distinct = [
            "http://a.com/x/y.png", "http://a.com/x-y.png", "http://a.com/x?y.png", "http://a.com/x%2Fy.png",
            "http://a.com:8080/x/y.png", "http://b.com/x/y.png", "http://a.com/img.png?size=1",
            "http://a.com/img.png?size=2",
            "http://a.com/a%20b", "http://a.com/a_b", "http://a.com/%FF.png", "http://a.com/x", "http://a.com/x/",
        ]
        for url in distinct + distinct {
            let expected = url.dropFirst("http://".count)
            #expect(try await fixture.loader.load(url).text == expected)
        }
        #expect(transport.requestCount == distinct.count)
        for same in ["http://A.com/x", "HTTP://a.com:80/x", "http://a.com/x#fragment"] {
            #expect(try await fixture.loader.load(same).source == .disk)
        }
        #expect(transport.requestCount == distinct.count)
    }

    @Test("A load keeps the retry policy, credentials and redirect limit from before a change", .requirement("K1"))
    func configurationDuringLoad() async throws {
        let (gate, attempts) = (Gate(), Counter())
        let transport = ScriptedTransport { request, _ in
            await gate.wait()
            guard request.path == "/a" else {
                return .reply(200, [:], request.headerFields[.authorization] ?? "no credentials")
            }
            return attempts.next() == 1 ? .reply(503) : .reply(302, [.location: "/b"])
        }
        let origin = "https://example.com"
        let fixture = try LoaderFixture(transport: transport) {
            $0.retry = RetryPolicy(maxAttempts: 2, baseDelay: .zero)
        }
        try fixture.loader.configuration.setCredentials(.bearer(token: "before"), forOrigin: origin)
        async let before = fixture.loader.load(url)
        await gate.reached(1)
        fixture.loader.configuration.retry = .never
        fixture.loader.configuration.maxRedirects = 0
        try fixture.loader.configuration.setCredentials(nil, forOrigin: origin)
        gate.open()
        #expect(try await before.text == "Bearer before")
        await #expect(throws: LoadError.tooManyRedirects(url: url, limit: 0)) { try await fixture.loader.load(url) }
        let credentials = transport.requests.map { $0.headerFields[.authorization] }
        #expect(credentials == ["Bearer before", "Bearer before", "Bearer before", nil])
    }
}

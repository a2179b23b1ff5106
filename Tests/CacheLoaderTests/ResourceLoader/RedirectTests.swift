import TestSupport

@Suite("Redirects") struct RedirectTests {
    @Test("Follows a redirect, and stores each response under its own URL", arguments: [301, 302, 303, 307, 308])
    func following(code: Int) async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            request.path == "/old?q"
                ? .reply(.init(code: code), [.location: "../new", .cacheControl: "max-age=60"], "moved")
                : .reply(200, [.cacheControl: "max-age=60"], "here")
        }
        for _ in 0..<2 {
            let resource = try await fixture.loader.load("https://example.com/old?q")
            #expect(resource.text == "here")
            #expect(resource.url == "https://example.com/new")
            try await fixture.stored("https://example.com/old?q")
        }
        #expect(transport.requests.map(\.path) == ["/old?q", "/new"])
        #expect(try fixture.store.contains(CacheKey(url: "https://example.com/new")))
    }

    @Test("A loop of stored redirects ends when the origins stop redirecting")
    func storedCircle() async throws {
        let isMended = Mutex(false)
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            if isMended.withLock({ $0 }) { return .reply(200, [.cacheControl: "max-age=60"], "here") }
            return .reply(
                301, [.location: request.path == "/a" ? "/b" : "/a", .cacheControl: "max-age=31536000"], "moved")
        }
        let url = "https://example.com/a"
        await #expect(throws: LoadError.tooManyRedirects(url: url, limit: 20)) { try await fixture.loader.load(url) }
        for path in ["/a", "/b"] { try await fixture.stored("https://example.com\(path)") }
        isMended.withLock { $0 = true }
        let asked = transport.requestCount
        #expect(try await fixture.loader.load(url).text == "here")
        #expect(transport.requestCount == asked + 1)
        let local = ResourceRequest(url, policy: .cacheOnly)
        #expect(try await fixture.loader.load(local).text == "here")
    }

    @Test("A POST into a loop of stored redirects is sent once")
    func storedCircleAfterPost() async throws {
        let isMended = Mutex(false)
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            if request.method == .post { return .reply(303, [.location: "/a"]) }
            if isMended.withLock({ $0 }) { return .reply(200, [:], "here") }
            return .reply(
                301, [.location: request.path == "/a" ? "/b" : "/a", .cacheControl: "max-age=31536000"], "moved")
        }
        _ = try? await fixture.loader.load("https://example.com/a")
        for path in ["/a", "/b"] { try await fixture.stored("https://example.com\(path)") }
        isMended.withLock { $0 = true }
        let post = ResourceRequest("https://example.com/form", method: .post, content: Data("x".utf8))
        #expect(try await fixture.loader.load(post).text == "here")
        let final = try await fixture.cache.finalResponse(
            to: .post, "https://example.com/form", [:], content: RequestContent(Data("x".utf8)), policy: .init(),
            maxRedirects: 20, timeLimit: nil)
        #expect(final.isRedirected)
        #expect(try await final.response.text == "here")
        #expect(transport.sent.filter { $0.request.method == .post }.count == 2)
    }

    @Test(
        "RFC 9110 §7.7: the target of a redirect reaches the origin byte for byte",
        arguments: [
            ("/s?tags[]=a&q=rock%20roll", "/s?tags[]=a&q=rock%20roll"), ("/caf%E9.txt", "/caf%E9.txt"),
            ("/a b", "/a%20b"), ("https://example.com/%7Efoo", "/%7Efoo"), ("?x", "/dir/old?x"), ("../new", "/new"),
            ("./x/../y", "/dir/y"), ("/a#fragment", "/a"), ("//example.com/b?c", "/b?c"), ("/%zz", "/%zz"),
        ])
    func targets(location: String, path: String) async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            request.path == "/dir/old"
                ? .reply(302, [.location: location]) : .reply(200, [.cacheControl: "max-age=60"], "here")
        }
        let resource = try await fixture.loader.load("https://example.com/dir/old")
        #expect(transport.requests.map(\.path) == ["/dir/old", path])
        #expect(resource.url == "https://example.com\(path)")
        #expect(try await fixture.loader.load("https://example.com\(path)").source == .disk)
    }

    @Test("A Location that is not UTF-8 keeps its bytes")
    func locationBytes() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            guard request.path == "/" else { return .reply(200, [:], "here") }
            var fields = HTTPFields()
            fields.append(HTTPField(name: .location, value: Array("/caf".utf8) + [0xE9]))
            return .reply(302, fields)
        }
        #expect(try await fixture.loader.load("https://example.com/").url == "https://example.com/caf%E9")
    }

    @Test("Loops and endless chains throw a typed error")
    func endless() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            .reply(302, [.location: request.path == "/circle" ? "/circle" : (request.path ?? "") + "x"])
        }
        for url in ["https://example.com/circle", "https://example.com/chain"] {
            await #expect(throws: LoadError.tooManyRedirects(url: url, limit: 20)) {
                try await fixture.loader.load(url)
            }
        }
        #expect(transport.requestCount == 42)
        fixture.loader.configuration.maxRedirects = 0
        await #expect(throws: LoadError.tooManyRedirects(url: "https://example.com/circle", limit: 0)) {
            try await fixture.loader.load("https://example.com/circle")
        }
    }

    @Test(
        "Credentials stay with their origin: scheme, host and port; other fields are forwarded", .requirement("K4"),
        arguments: ["https://other.example/c", "http://example.com/c", "https://example.com:8443/c"])
    func credentials(location: String) async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            switch request.path {
            case "/a": .reply(302, [.location: "/b"])
            case "/b": .reply(302, [.location: location])
            default: .reply(200, [:], "here")
            }
        }
        let fields: HTTPFields = [.authorization: "Basic x", .cookie: "a=b", .accept: "text/plain"]
        _ = try await fixture.loader.load(ResourceRequest("https://example.com/a", headerFields: fields))
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Basic x", "Basic x", nil])
        #expect(transport.requests.map { $0.headerFields[.cookie] } == ["a=b", "a=b", nil])
        #expect(transport.requests.map { $0.headerFields[.accept] } == ["text/plain", "text/plain", "text/plain"])
    }

    @Test(
        "A redirect to an unsupported URL throws a typed error",
        arguments: ["ftp://example.com/", "file:///etc/passwd", "https://user:pass@example.com/", "http://["])
    func unusableTargets(location: String) async throws {
        let transport = ScriptedTransport(.status(.found, fields: [.location: location]))
        let fixture = try LoaderFixture(transport: transport)
        let error = await #expect(throws: LoadError.self) { try await fixture.loader.load("https://example.com/") }
        guard case .invalidURL = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(transport.requestCount == 1)
    }

    @Test("A redirect without Location is not a success")
    func noLocation() async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport(.status(.found)))
        await expectError(.status(302, url: "https://example.com/")) {
            try await fixture.loader.load("https://example.com/")
        }
    }

    @Test("Fresh content behind a fresh redirect takes no lane slot, sends no requesting event", .requirement("H1"))
    func fresh() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            request.path == "/a"
                ? .reply(301, [.location: "/b", .cacheControl: "max-age=60"])
                : .reply(200, [.cacheControl: "max-age=60"], "here")
        }
        let request = ResourceRequest("https://example.com/a")
        _ = try await fixture.loader.load(request)
        try await fixture.stored(request.url)
        let events = await fixture.loader.events(for: request).all
        #expect(events.map(\.name) == ["completed disk"])
        #expect(try await fixture.loader.load(request).url == "https://example.com/b")
        #expect(await fixture.loader.prefetch([request]).finished().hits == 1)
        #expect(transport.requestCount == 2)
        // Stale content behind it causes no request for the redirect either.
        _ = try await fixture.loader.remove("https://example.com/b")
        #expect(try await fixture.loader.load(request).source == .network)
        #expect(transport.requests.map(\.path) == ["/a", "/b", "/b"])
    }

    @Test("A redirect step that the store answers waits for no other process")
    func freshHop() async throws {
        let transport = ScriptedTransport { request, _ in
            request.path == "/a"
                ? .reply(302, [.location: "/b", .cacheControl: "no-store"])
                : .reply(200, [.cacheControl: "max-age=60"], "here")
        }
        let fixture = try LoaderFixture(transport: transport) { $0.processWait = .seconds(3600) }
        _ = try await fixture.loader.load("https://example.com/b")
        let other = try ResponseStore(directory: fixture.directory.url)
        let lock = try await other.lock(CacheKey(url: "https://example.com/b"), within: .zero).lock
        #expect(lock != nil)
        #expect(try await fixture.loader.load("https://example.com/a").text == "here")
        lock?.release()
    }
}

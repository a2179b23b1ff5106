import TestSupport

@Suite("ResourceLoader: names, partitions and failures") struct NamedResourceLoaderTests {
    private static func transport() -> ScriptedTransport {
        ScriptedTransport { request, _ in
            .reply(200, [.cacheControl: "max-age=60"], "\(request.path ?? "") \(request.headerFields[.accept] ?? "-")")
        }
    }

    private func request(
        _ url: String = "https://example.com/a?signature=1", _ fields: HTTPFields = [:], key: String? = "k"
    ) -> ResourceRequest {
        ResourceRequest(url, headerFields: fields, key: key)
    }

    @Test("A name and the request's fields are one key, for loads, lookups, inserts and removals", .requirement("A4"))
    func named() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: Self.transport())
        let loader = fixture.loader
        var count = 0

        // The same name under another URL: one request.
        #expect(try await loader.load(request()).source == .network)
        #expect(try await loader.load(request("https://example.com/a?signature=2")).source == .disk)
        #expect(transport.requestCount == 1)
        #expect(try loader.contains(request()))
        #expect(try loader.peek(request()) == Data("/a?signature=1 -".utf8))

        // The URL does not find the entry of the name, and vice versa.
        let url = "https://example.com/a?signature=1"
        #expect(try !loader.contains(url))
        #expect(try await loader.load(url).source == .network)
        #expect(try await loader.load(request(key: "other")).source == .network)
        count = transport.requestCount
        #expect(count == 3)

        // Fields in another order are equal; another value is not; absent fields equal an empty list.
        let fields: HTTPFields = [.accept: "text/html", .acceptLanguage: "de"]
        let turned: HTTPFields = [.acceptLanguage: "de", .accept: "text/html"]
        #expect(try await loader.load(request("https://example.com/b", fields)).source == .network)
        #expect(try await loader.load(request("https://example.com/b", turned)).source == .disk)
        #expect(try await loader.load(request("https://example.com/b", [.accept: "text/html"])).source == .network)
        #expect(try await loader.load(request("https://example.com/b", [:])).source == .disk)
        #expect(transport.requestCount == count + 2)

        // A removal takes exactly the entries with this name and these fields.
        #expect(try await loader.remove(request("https://example.com/b", turned)))
        #expect(try !loader.contains(request("https://example.com/b", fields)))
        #expect(try loader.contains(request()))
        #expect(try loader.contains(url))
        #expect(try await !loader.remove(request("https://example.com/b", turned)))

        // Only loads with the same name and fields find an insert.
        try await loader.insert(Data("mine".utf8), for: request("https://example.com/c", fields, key: "inserted"))
        #expect(
            try await loader.load(request("https://example.com/x", turned, key: "inserted")).data == Data("mine".utf8))
        #expect(try !loader.contains(request("https://example.com/c", key: "inserted")))
        #expect(try !loader.contains("https://example.com/c"))
    }

    @Test("Loads of one name share a request; the index has its URL, but no credentials", .requirement("A4"))
    func coalesced() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: Self.transport())
        let secret = request("https://example.com/private", [.authorization: "Bearer c0nf1dent1al"])
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 { group.addTask { try await fixture.loader.load(secret).data } }
            for try await data in group { #expect(data == Data("/private -".utf8)) }
        }
        #expect(transport.requestCount == 1)
        let rows = try fixture.store.query("SELECT key, url, host FROM cache_entries")
        #expect(rows.first?["url"]?.text == "https://example.com/private")
        #expect(rows.first?["host"]?.text == "example.com")
        #expect(rows.first?["key"]?.text?.contains("c0nf1dent1al") == false)
    }

    @Test(
        "An invalid name throws, and nothing is sent", .requirement("A4"),
        arguments: ["a\0b", String(repeating: "a", count: 40_000)])
    func impossibleNames(_ name: String) async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: Self.transport())
        let error = await #expect(throws: LoadError.self) { try await fixture.loader.load(request(key: name)) }
        guard case .invalidKey = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(throws: LoadError.self) { try fixture.loader.peek(request(key: name)) }
        #expect(transport.requestCount == 0)
    }

    @Test("A name keeps the response to its credentials under any URL", .requirement("A4"))
    func namedWithCredentials() async throws {
        let fixture = try LoaderFixture(transport: Self.transport())
        var sources: [ResponseSource] = []
        for (number, token) in ["one", "one", "two", "two"].enumerated() {
            try fixture.loader.configuration.setCredentials(.bearer(token: token), forOrigin: "https://example.com")
            let request = request("https://example.com/a?signature=\(number)")
            sources.append(try await fixture.loader.load(request).source)
        }
        #expect(sources == [.network, .disk, .network, .disk])
    }

    @Test("One URL in two partitions is two requests; removal concerns one partition", .requirement("A5", "J2", "J3"))
    func partitions() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: Self.transport())
        var configuration = fixture.loader.configuration
        configuration.partition = "user-2"
        let second = ResourceLoader(store: fixture.store, transport: transport, configuration: configuration)
        let url = "https://example.com/a"
        for loader in [fixture.loader, second, fixture.loader, second] { _ = try await loader.load(url) }
        #expect(transport.requestCount == 2)
        #expect(try await fixture.store.removeAll(.partition("user-2")).entries == 1)
        #expect(try fixture.loader.contains(url))
        #expect(try !second.contains(url))
        _ = try await second.load(url)
        #expect(try await fixture.store.removeAll(.partition("")).entries == 1)
        #expect(try second.contains(url))
        _ = try await fixture.loader.load(url)
        #expect(try await fixture.loader.remove(url))
        #expect(try second.contains(url))
        _ = try await fixture.loader.load(url)
        #expect(try await second.clear(.disk).disk?.entries == 1)
        #expect(try fixture.loader.contains(url))
        #expect(try !second.contains(url))
    }

    @Test("Failures block a name, also after a restart, but neither its URL nor .remoteOnly", .requirement("A4", "D6"))
    func blockedName() async throws {
        let transport = ScriptedTransport { _, _ in .reply(503, [:], "bad") }
        let directory = try TemporaryDirectory()
        let url = "https://example.com/bad"
        func fixture() throws -> LoaderFixture {
            try LoaderFixture(transport: transport, directory: directory) {
                $0.negativeCaching = NegativeCaching(lifetime: .seconds(60), maxAttempts: 2)
            }
        }
        /// Expects a failure after this number of requests at the origin.
        func fail(
            _ fixture: LoaderFixture, _ request: ResourceRequest, requests: Int,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async {
            await expectError(.status(503, url: url), sourceLocation: sourceLocation) {
                try await fixture.loader.load(request)
            }
            #expect(transport.requestCount == requests, sourceLocation: sourceLocation)
        }
        let name = request(url)
        let before = try fixture()
        for requests in [1, 2, 2] { await fail(before, name, requests: requests) }
        before.store.close()

        let after = try fixture()
        await fail(after, name, requests: 2)
        await fail(after, ResourceRequest(url), requests: 3)
        var remote = name
        remote.policy = .remoteOnly
        await fail(after, remote, requests: 4)
        await fail(after, name, requests: 4)
        #expect(try await after.loader.remove(name))
        await fail(after, name, requests: 5)
    }

    @Test(
        "A file is not stored: neither a path nor a file URL gets a row",
        arguments: ["/etc/hostname", "file:///etc/hostname", "file://localhost/etc/hostname"])
    func files(_ url: String) async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: Self.transport())
        await #expect(throws: LoadError.self) { try await fixture.loader.insert(Data("x".utf8), for: url) }
        #expect(transport.requestCount == 0)
        #expect(try fixture.store.statistics().entries == 0)
    }
}

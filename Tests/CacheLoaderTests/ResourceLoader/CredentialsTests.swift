import TestSupport

@Suite("ResourceLoader: credentials", .timeLimit(.minutes(5))) struct CredentialsTests {
    private func fixture() throws -> (LoaderFixture, ScriptedTransport) {
        let transport = ScriptedTransport { request, _ in
            if request.path == "/redirect" { return .reply(302, [.location: "https://other.test/a"]) }
            return .reply(200, [.cacheControl: "max-age=60"], request.headerFields[.authorization] ?? "nobody")
        }
        return (try LoaderFixture(transport: transport), transport)
    }

    @Test("Credentials go only to the configured origin, and not along a redirect to another", .requirement("K4"))
    func origins() async throws {
        let (fixture, transport) = try fixture()
        let user = Credentials.basic(user: "Aladdin", password: "open sesame")
        try fixture.loader.configuration.setCredentials(user, forOrigin: "HTTPS://Example.com:443/whatever")
        let expected = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        #expect(try await fixture.loader.load("https://example.com/a").text == expected)
        for url in [
            "http://example.com/a", "https://example.com:8443/a", "https://other.test/a", "https://sub.example.com/a",
            "https://example.com/redirect",
        ] {
            #expect(try await fixture.loader.load(url).text == "nobody", "\(url)")
        }
        #expect(
            transport.requests.filter { $0.headerFields[.authorization] == expected }.map(\.path) == [
                "/a", "/redirect",
            ])
        let own = ResourceRequest("https://example.com/b", headerFields: [.authorization: "Bearer own"])
        #expect(try await fixture.loader.load(own).text == "Bearer own")
        #expect("\(user) \(String(reflecting: user))".contains("sesame") == false)
    }

    @Test("Responses to different credentials never mix, in the store or in memory; nil clears", .requirement("K4"))
    func users() async throws {
        let (fixture, transport) = try fixture()
        fixture.loader.configuration.memoryLimit = 1 << 20
        let url = "https://example.com/a"
        for token in ["one", "two", nil, "one"] {
            try fixture.loader.configuration.setCredentials(
                token.map { .bearer(token: $0) }, forOrigin: "https://example.com")
            for _ in 0..<3 {
                #expect(try await fixture.loader.load(url).text == (token.map { "Bearer \($0)" } ?? "nobody"))
            }
        }
        #expect(transport.requestCount == 3)
        #expect(throws: LoadError.self) {
            try fixture.loader.configuration.setCredentials(nil, forOrigin: "ftp://example.com")
        }
    }

    // MARK: Credentials in the fields of a request

    private static let users = ["Bearer one", "Bearer two", nil]

    private func request(_ user: String?) -> ResourceRequest {
        ResourceRequest("https://example.com/a", headerFields: user.map { [.authorization: $0] } ?? [:])
    }

    @Test("A value in memory answers only requests with the same credentials", .requirement("K4"))
    func memory() async throws {
        let (fixture, transport) = try fixture()
        fixture.loader.configuration.memoryLimit = 1 << 20
        // A response from the network drops the other users' values, which return from disk to memory.
        for source in [.network, nil, .memory] as [ResponseSource?] {
            for user in Self.users {
                let loaded = try await fixture.loader.load(request(user))
                #expect(loaded.text == user ?? "nobody")
                if let source { #expect(loaded.source == source) }
            }
        }
        #expect(transport.requestCount == 3)
    }

    @Test("Concurrent requests with different credentials do not share a response", .requirement("K4"))
    func concurrentRequests() async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            await gate.wait()
            return .reply(200, [.cacheControl: "max-age=60"], request.headerFields[.authorization] ?? "nobody")
        }
        let loads = (Self.users + Self.users).map { user in
            Task { (user, try await fixture.loader.load(request(user)).text) }
        }
        await eventually { Self.users.reduce(0) { $0 + fixture.loader.waiterCount(of: request($1)) } >= loads.count }
        gate.open()
        for load in loads {
            let (user, text) = try await load.value
            #expect(text == user ?? "nobody")
        }
        #expect(transport.requestCount == 3)
    }
}

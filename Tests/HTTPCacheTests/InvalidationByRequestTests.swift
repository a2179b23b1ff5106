import TestSupport

@Suite("HTTPCache: invalidation by requests", .timeLimit(.minutes(5))) struct InvalidationByRequestTests {
    /// Answers GETs with the number of the request, and all other methods with `reply`.
    private func fixture(
        _ fields: HTTPFields = [:], _ reply: @escaping @Sendable (HTTPRequest) -> TransportResponse
    ) throws -> (LoaderFixture, ScriptedTransport) {
        let number = Counter()
        var fields = fields
        fields[.cacheControl] = "max-age=600"
        let transport = ScriptedTransport { [fields] request, _ in
            request.method == .get ? .reply(200, fields, String(number.next())) : reply(request)
        }
        return (try LoaderFixture(transport: transport), transport)
    }

    private func fill(_ fixture: LoaderFixture, _ paths: String...) async throws {
        for path in paths { _ = try await fixture.cache.response(for: .to(path)).bytes }
    }

    private func isStored(_ fixture: LoaderFixture, _ path: String) throws -> Bool {
        try fixture.store.contains(CacheKey(url: "https://example.com\(path)"))
    }

    @Test(
        "A success of an unsafe or unknown method invalidates its target", .requirement("I01"),
        arguments: ["POST", "PUT", "DELETE", "PATCH", "M-SEARCH", "get"], [200, 204, 302])
    func unsafe(name: String, code: Int) async throws {
        let (fixture, _) = try fixture { _ in .reply(.init(code: code)) }
        try await fill(fixture, "/a", "/b")
        let method = try #require(HTTPRequest.Method(name))
        _ = try await fixture.cache.response(for: .to("/a", method: method)).bytes
        #expect(try !isStored(fixture, "/a"))
        #expect(try isStored(fixture, "/b"))
    }

    @Test(
        "An error invalidates nothing, nor does a safe method", .requirement("I02"),
        arguments: [("POST", 404), ("POST", 500), ("OPTIONS", 200), ("TRACE", 200)])
    func harmless(name: String, code: Int) async throws {
        let (fixture, _) = try fixture { _ in .reply(.init(code: code), [.location: "/a"]) }
        try await fill(fixture, "/a")
        let method = try #require(HTTPRequest.Method(name))
        _ = try await fixture.cache.response(for: .to("/a", method: method)).bytes
        #expect(try isStored(fixture, "/a"))
    }

    @Test("Invalidates the URLs in Location and Content-Location, if of the same origin", .requirement("I03", "I04"))
    func named() async throws {
        let (fixture, _) = try fixture { request in
            .reply(
                201,
                request.path == "/other"
                    ? [.location: "http://example.com/d", .contentLocation: "https://example.com:8443/e"]
                    : [.location: "b", .contentLocation: "https://example.com/c"])
        }
        try await fill(fixture, "/b", "/c", "/d", "/e")
        _ = try await fixture.cache.response(for: .to("/a", method: .post)).bytes
        #expect(try !isStored(fixture, "/b"))
        #expect(try !isStored(fixture, "/c"))
        _ = try await fixture.cache.response(for: .to("/other", method: .post)).bytes
        #expect(try isStored(fixture, "/d"))
        #expect(try isStored(fixture, "/e"))
    }

    @Test("Invalidates every variant", .requirement("I01"))
    func variants() async throws {
        let (fixture, _) = try fixture([.vary: "Accept-Language"]) { _ in .reply(200) }
        for language in ["en", "de"] {
            _ = try await fixture.cache.response(for: .to("/a", [.acceptLanguage: language])).bytes
        }
        _ = try await fixture.cache.response(for: .to("/a", method: .put)).bytes
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test(
        "A GET that began before a POST is neither stored nor joined after it", .requirement("I05"),
        arguments: [true, false])
    func inFlight(hasHead: Bool) async throws {
        let gate = Gate()
        let fed = FedBody("bef")
        let number = Counter()
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            guard request.method == .get else { return .reply(200, [:], "done") }
            guard number.next() == 1 else { return .reply(200, [.cacheControl: "max-age=60"], "after") }
            if !hasHead { await gate.wait() }
            return fed.response(.ok, [.cacheControl: "max-age=60"])
        }
        let before = Task { try await fixture.cache.response(for: .to("/a")) }
        if hasHead { _ = try await before.value } else { await gate.reached(1) }
        _ = try await fixture.cache.response(for: .to("/a", method: .post)).bytes
        let after = Task { try await fixture.cache.response(for: .to("/a")).text }
        if hasHead { #expect(try await after.value == "after") }
        gate.open()
        fed.feed("ore")
        fed.end()
        #expect(try await before.value.text == "before")
        #expect(try await after.value == "after")
        #expect(try await fixture.cache.response(for: .to("/a")).text == "after")
    }

    @Test("Invalidates the response's groups and the named groups, without a cascade", .requirement("W08", "W09"))
    func groups() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            guard request.method == .get else {
                return .reply(200, request.path == "/named" ? [.cacheGroupInvalidation: "\"c\""] : [:])
            }
            let groups = ["/1": "\"a\"", "/2": "\"a\", \"b\"", "/3": "\"b\"", "/4": "\"c\"", "/5": "\"C\""]
            var fields: HTTPFields = [.cacheControl: "max-age=60"]
            fields[.cacheGroups] = groups[request.path ?? ""]
            return .reply(200, fields, "body")
        }
        try await fill(fixture, "/1", "/2", "/3", "/4", "/5")
        _ = try await fixture.cache.response(for: .to("/1", method: .post)).bytes
        #expect(try ["/1", "/2", "/3", "/4", "/5"].filter { try isStored(fixture, $0) } == ["/3", "/4", "/5"])
        _ = try await fixture.cache.response(for: .to("/named", method: .options)).bytes
        #expect(try isStored(fixture, "/4"), "a safe method")
        _ = try await fixture.cache.response(for: .to("/named", method: .post)).bytes
        #expect(try ["/3", "/4", "/5"].filter { try isStored(fixture, $0) } == ["/3", "/5"])
    }

    @Test(
        "Clear-Site-Data clears only its own origin, if the configuration allows it", .requirement("Z03"),
        arguments: [true, false])
    func clearSiteData(isHeeded: Bool) async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            .reply(
                200,
                request.path == "/logout"
                    ? [.cacheControl: "no-store", .clearSiteData: "\"cache\""] : [.cacheControl: "max-age=60"], "body")
        }
        fixture.cache.configuration.clearsSiteData = isHeeded
        try await fill(fixture, "/a", "/b")
        let others = ["https://example.com.evil.org/a", "http://example.com/a", "https://example.com:8443/a"]
        for url in others {
            let parts = url.split(separator: "/")
            _ = try await fixture.cache.response(
                for: HTTPRequest(
                    method: .get, scheme: String(parts[0].dropLast()), authority: String(parts[1]), path: "/a")
            ).bytes
        }
        let insecure = HTTPRequest(method: .get, scheme: "http", authority: "example.com", path: "/logout")
        _ = try await fixture.cache.response(for: insecure).bytes
        #expect(try fixture.store.statistics().entries == 5)
        _ = try await fixture.cache.response(for: .to("/logout")).bytes
        #expect(try fixture.store.statistics().entries == (isHeeded ? 3 : 5))
        #expect(try isStored(fixture, "/a") == !isHeeded)
    }

    @Test("A POST response with its target as Content-Location answers GET and HEAD, no POST", .requirement("S15"))
    func storedPOST() async throws {
        for location in ["/a", "https://example.com/a", "/b", nil] {
            let number = Counter()
            let (transport, fixture) = try LoaderFixture.scripted { _, _ in
                var fields: HTTPFields = [.cacheControl: "max-age=60"]
                fields[.contentLocation] = location
                return .reply(200, fields, String(number.next()))
            }
            let isStored = location?.hasSuffix("/a") == true
            for expected in ["1", "2"] {
                let post = HTTPRequest.to("/a", method: .post)
                #expect(try await fixture.cache.response(for: post, content: RequestContent(Data())).text == expected)
            }
            #expect(try await fixture.cache.response(for: .to("/a")).text == (isStored ? "2" : "3"))
            #expect(try await fixture.cache.response(for: .to("/a", method: .head)).bytes.isEmpty)
            #expect(transport.requestCount == (isStored ? 2 : 3))
        }
    }
}

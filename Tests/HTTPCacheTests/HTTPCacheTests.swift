import TestSupport

@Suite("HTTPCache", .timeLimit(.minutes(5))) struct HTTPCacheTests {
    @Test("A miss is stored, the next request is a hit with its age, and Date stays", .requirement("A01", "A06"))
    func missThenHit() async throws {
        let transport = ScriptedTransport(
            .status(
                .ok, fields: [.cacheControl: "max-age=60", .date: "Tue, 15 Nov 1994 12:45:26 GMT", .age: "0"],
                body: "body".utf8))
        let fixture = try LoaderFixture(
            transport: transport, policy: CachePolicy(lifetimeOverride: .fixed(.seconds(2_000_000_000))))
        let miss = try await fixture.cache.response(for: .to("/a"))
        #expect(miss.source == .network)
        #expect(try await miss.text == "body")
        fixture.clock.advance(by: 10)
        let hit = try await fixture.cache.response(for: .to("/a"))
        #expect(hit.source == .disk)
        #expect(hit.status == .ok)
        #expect(hit.headerFields[.age] == String(hit.age))
        #expect(hit.age >= 10)
        #expect(hit.headerFields[.date] == "Tue, 15 Nov 1994 12:45:26 GMT")
        #expect(try await hit.text == "body")
        #expect(transport.requestCount == 1)
    }

    @Test("The end of a body is delivered after the commit; a body released before its end is not stored")
    func commitBeforeEnd() async throws {
        let gate = Gate()
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            let chunks = Counter()
            return TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
                body: TransportBody { () async throws(TransportError) in
                    let number = chunks.next()
                    if number == 2 { await gate.wait() }
                    return number > 2 ? nil : Data("half".utf8)
                })
        }
        let key = try CacheKey(url: "https://example.com/a")
        do {
            let partly = try await fixture.cache.response(for: .to("/a"))
            var iterator = partly.body.makeAsyncIterator()
            #expect(try await iterator.next() == Data("half".utf8))
            #expect(try !fixture.store.contains(key))
        }
        #expect(try !fixture.store.contains(key))
        gate.open()
        let whole = try await fixture.cache.response(for: .to("/a"))
        #expect(try await whole.text == "halfhalf")
        #expect(try fixture.store.contains(key))
        #expect(try fixture.blobs.count == 1)
    }

    @Test("A body that breaks off throws, and does not replace the stored response", .requirement("S18"))
    func brokenBody() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            request.headerFields[.ifNoneMatch] == nil
                ? .reply(200, [.eTag: "\"1\""], "whole")
                : .reply(200, [.eTag: "\"2\""], "ha", failure: TransportError(.truncated))
        }
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        let broken = try await fixture.cache.response(for: .to("/a"))
        await #expect(throws: LoadError.transport(TransportError(.truncated), url: "https://example.com/a")) {
            try await broken.bytes
        }
        let stored = try #require(try fixture.store.peek(CacheKey(url: "https://example.com/a")))
        #expect(stored.metadata.etag == "\"1\"")
        #expect(try fixture.store.openBody(of: stored)?.data() == Data("whole".utf8))
        // A strong validator allows a request for the rest.
        let parts = try fixture.store.responses(for: stored.key).compactMap(\.metadata.part)
        #expect(parts == [EntryPart(start: 0, completeLength: nil)])
    }

    @Test(
        "A stale entry is validated with its own validators", .requirement("C1", "C01", "C02"),
        arguments: ["etag", "ETag", "Etag", "ETAG"])
    func validators(name: String) async throws {
        let etag = try #require(HTTPField.Name(name))
        let transport = ScriptedTransport(
            .status(
                .ok,
                fields: [etag: "W/\"v\"", .lastModified: "Tue, 15 Nov 1994 12:45:26 GMT", .cacheControl: "max-age=0"],
                body: "x".utf8),
            .notModified())
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        let validated = try await fixture.cache.response(for: .to("/a"))
        #expect(validated.source == .notModified)
        #expect(try await validated.text == "x")
        #expect(transport.requests[0].headerFields[.ifNoneMatch] == nil)
        #expect(transport.requests[1].headerFields[.ifNoneMatch] == "W/\"v\"")
        #expect(transport.requests[1].headerFields[.ifModifiedSince] == "Tue, 15 Nov 1994 12:45:26 GMT")
    }

    @Test("An entry without its body is fetched again, not validated", .requirement("C2"))
    func missingBody() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in .reply(200, [.eTag: "\"1\""], "body") }
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        try FileManager.default.removeItem(at: try #require(try fixture.blobs.first).url)
        let again = try await fixture.cache.response(for: .to("/a"))
        #expect(again.source == .network)
        #expect(try await again.text == "body")
        #expect(transport.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, nil])
    }

    @Test("A 304 that no stored response can answer leads to one unconditional request", .requirement("C2", "C13"))
    func unsatisfiable304() async throws {
        let transport = ScriptedTransport(
            .ok("old".utf8, etag: "\"1\""), .notModified(etag: "\"other\""), .ok("new".utf8, etag: "\"2\""))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        let answer = try await fixture.cache.response(for: .to("/a"))
        #expect(try await answer.text == "new")
        #expect(transport.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, "\"1\"", nil])
    }

    @Test("An origin that answers every request with 304 ends in 502, not in a loop", .requirement("C13"))
    func stubborn304() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(.notModified()))
        let answer = try await fixture.cache.response(for: .to("/a"))
        #expect(answer.status == .badGateway)
        #expect(transport.requestCount == 2)
        let post = try await fixture.cache.response(
            for: .to("/a", method: .post), content: RequestContent(Data("x".utf8)))
        #expect(post.status == .badGateway)
        #expect(transport.requestCount == 3, "what is not safe is not sent twice")
    }

    @Test("A 304 resets the age and keeps the blob; its fields replace and add", .requirement("C3", "U05"))
    func freshening() async throws {
        let transport = ScriptedTransport(
            .ok("body".utf8, cacheControl: "max-age=60", etag: "\"1\"", contentType: "text/plain"),
            .status(.notModified, fields: [.cacheControl: "max-age=60", .eTag: "\"1\"", .contentLanguage: "en"]))
        let fixture = try LoaderFixture(transport: transport)
        func attributes() throws -> [AnyHashable] {
            let path = try #require(try fixture.blobs.first).url.path(percentEncoded: false)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            return [attributes[.systemFileNumber] as? Int, attributes[.modificationDate] as? Date]
        }
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        let before = try attributes()
        fixture.clock.advance(by: 60)
        #expect(try await fixture.cache.response(for: .to("/a")).source == .notModified)
        #expect(transport.requestCount == 2)
        fixture.clock.advance(by: 59)
        let hit = try await fixture.cache.response(for: .to("/a"))
        #expect(hit.source == .disk)
        #expect(hit.headerFields[.contentLanguage] == "en")
        #expect(hit.headerFields[.contentType] == "text/plain")
        #expect(transport.requestCount == 2)
        fixture.clock.advance(by: 1)
        #expect(try await fixture.cache.response(for: .to("/a")).source == .notModified)
        #expect(transport.requestCount == 3)
        #expect(try attributes() == before)
    }

    @Test(
        "A bare 304 keeps the stored lifetime, its Cache-Control replaces the lifetime, otherwise the default counts",
        .requirement("C4"))
    func lifetimeAfter304() async throws {
        struct Case {
            let stored: String?
            let revalidated: String?
            let defaultLifetime: Int
            let freshFor: Double
        }
        let cases = [
            Case(stored: "max-age=3600", revalidated: nil, defaultLifetime: 0, freshFor: 3600),
            Case(stored: "max-age=3600", revalidated: "max-age=10", defaultLifetime: 0, freshFor: 10),
            Case(stored: nil, revalidated: nil, defaultLifetime: 100, freshFor: 100),
        ]
        for c in cases {
            let transport = ScriptedTransport(
                .ok("body".utf8, cacheControl: c.stored, etag: "\"1\""),
                .notModified(etag: "\"1\"", cacheControl: c.revalidated))
            let fixture = try LoaderFixture(
                transport: transport, policy: CachePolicy(defaultLifetime: .seconds(c.defaultLifetime)))
            _ = try await fixture.cache.response(for: .to("/a")).bytes
            fixture.clock.advance(by: 4000)
            #expect(try await fixture.cache.response(for: .to("/a")).source == .notModified)
            fixture.clock.advance(by: c.freshFor - 1)
            #expect(try await fixture.cache.response(for: .to("/a")).source == .disk)
            fixture.clock.advance(by: 1)
            #expect(try await fixture.cache.response(for: .to("/a")).source == .notModified)
            #expect(transport.requestCount == 3)
        }
    }

    @Test("Freshness does not depend on the times of files", .requirement("B1"))
    func fileTimes() async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport(.ok("body".utf8, cacheControl: "max-age=60")))
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        let file = try #require(try fixture.blobs.first).url.path(percentEncoded: false)
        for seconds in [0, 1e9, 4e9] {
            let date = Date(timeIntervalSince1970: seconds)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: file)
            let answer = try await fixture.cache.response(for: .to("/a"))
            #expect(answer.source == .disk)
            #expect(try await answer.text == "body")
        }
        fixture.clock.advance(by: 60)
        #expect(try await fixture.cache.response(for: .to("/a")).source == .network)
    }

    @Test("A 200 replaces body, fields and validators together", .requirement("C5"))
    func replacement() async throws {
        let transport = ScriptedTransport(.ok("one".utf8, etag: "\"A\""), .ok("two".utf8), .ok("three".utf8))
        let fixture = try LoaderFixture(transport: transport)
        for expected in ["one", "two", "three"] {
            #expect(try await fixture.cache.response(for: .to("/a")).text == expected)
        }
        #expect(transport.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, "\"A\"", nil])
        try await fixture.store.flush()
        #expect(try fixture.blobs.map(\.bytes) == [Data("three".utf8)])
    }

    @Test("no-cache is validated each time, and lasts no longer than its response", .requirement("B6"))
    func noCache() async throws {
        let transport = ScriptedTransport(
            .ok("one".utf8, cacheControl: "no-cache", etag: "\"1\""), .notModified(etag: "\"1\""),
            .ok("two".utf8, cacheControl: "max-age=60", etag: "\"2\""))
        let fixture = try LoaderFixture(transport: transport)
        for _ in 0..<3 { _ = try await fixture.cache.response(for: .to("/a")).bytes }
        #expect(transport.requests.map { $0.headerFields[.ifNoneMatch] } == [nil, "\"1\"", "\"1\""])
        fixture.clock.advance(by: 59)
        #expect(try await fixture.cache.response(for: .to("/a")).text == "two")
        #expect(transport.requestCount == 3)
    }

    @Test("A no-store response never reaches the disk, and removes the older entry", .requirement("B6", "S04", "S05"))
    func noStore() async throws {
        let secret = "a-secret-that-nobody-may-find"
        let transport = ScriptedTransport(
            .ok("old".utf8, etag: "\"1\""), .ok(secret.utf8, cacheControl: "no-store", etag: "\"\(secret)\""))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        #expect(try await fixture.cache.response(for: .to("/a")).text == secret)
        #expect(try !fixture.store.contains(CacheKey(url: "https://example.com/a")))
        try await fixture.store.flush()
        let files = try FileManager.default.subpathsOfDirectory(atPath: fixture.directory.path)
        for file in files {
            let url = fixture.directory.url.appending(path: file)
            guard let bytes = try? Data(contentsOf: url) else { continue }
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file) contains it")
        }
    }

    @Test("A 416 or 412 to one request answers no other", .requirement("G12"), arguments: [416, 412])
    func requestSpecificErrors(code: Int) async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            request.headerFields[.range] == nil && request.headerFields[.ifMatch] == nil
                ? .reply(200, [.cacheControl: "max-age=60"], "whole")
                : .reply(.init(code: code), [.cacheControl: "max-age=3600"], "error")
        }
        for fields in [[.range: "bytes=99-"], [.ifMatch: "\"x\""]] as [HTTPFields] {
            #expect(try await fixture.cache.response(for: .to("/a", fields)).text == "error")
            #expect(try await fixture.cache.response(for: .to("/a")).text == "whole")
        }
        #expect(transport.requestCount == 3)
    }

    @Test("Sends the request of the key: without a fragment, with a path, and the host in lower case")
    func normalisedTargets() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(.ok("x".utf8)))
        for path in ["/a#b", nil, "?q"] {
            let request = HTTPRequest(method: .get, scheme: "HTTPS", authority: "Example.com:443", path: path)
            _ = try await fixture.cache.response(for: request).bytes
        }
        #expect(transport.requests.map(\.path) == ["/a", "/", "/?q"])
        #expect(transport.requests.map(\.authority) == ["example.com", "example.com", "example.com"])
    }

    @Test("only-if-cached sends no request, even if the stored response has lost its body", .requirement("R07"))
    func onlyIfCachedWithoutBody() async throws {
        let transport = ScriptedTransport(.ok("body".utf8, cacheControl: "max-age=60"))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        try FileManager.default.removeItem(at: try #require(try fixture.blobs.first).url)
        let answer = try await fixture.cache.response(for: .to("/a", [.cacheControl: "only-if-cached"]))
        #expect(answer.status == .gatewayTimeout)
        #expect(transport.requestCount == 1)
    }

    @Test("After the end of a body, every further read returns the end")
    func endings() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            request.path == "/good"
                ? .reply(200, [.cacheControl: "max-age=60"], "body")
                : .reply(200, [.cacheControl: "max-age=60"], "bo", "dy", failure: TransportError(.truncated))
        }
        var good = try await fixture.cache.response(for: .to("/good")).body.makeAsyncIterator()
        #expect(try await good.next() == Data("body".utf8))
        for _ in 0..<3 { #expect(try await good.next() == nil) }
        #expect(try fixture.store.statistics().entries == 1)
        var bad = try await fixture.cache.response(for: .to("/bad")).body.makeAsyncIterator()
        var received = Data()
        while received.count < 4 { received += try #require(try await bad.next()) }
        #expect(received == Data("body".utf8))
        let expected = LoadError.transport(TransportError(.truncated), url: "https://example.com/bad")
        for _ in 0..<3 {
            do {
                let chunk = try await bad.next()
                Issue.record("\(String(describing: chunk))")
            } catch {
                #expect(error == expected)
            }
        }
    }

    @Test("Stores several variants, which answer only the requests that select them", .requirement("V02", "V03", "V06"))
    func variants() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            .reply(
                200, [.cacheControl: "max-age=60", .vary: "accept-language"],
                request.headerFields[.acceptLanguage] ?? "none")
        }
        for _ in 0..<2 {
            for language in ["en", "de", nil] {
                let fields: HTTPFields = language.map { [.acceptLanguage: $0] } ?? [:]
                let answer = try await fixture.cache.response(for: .to("/a", fields))
                #expect(try await answer.text == language ?? "none")
            }
        }
        #expect(transport.requestCount == 3)
        #expect(try fixture.store.responses(for: CacheKey(url: "https://example.com/a")).count == 3)
    }

    @Test("A 304 that adds Vary makes its entry a variant, which replaces the existing one", .requirement("V02", "U05"))
    func varyAddedBy304() async throws {
        let transport = ScriptedTransport(
            .status(.ok, fields: [.vary: "accept-language", .eTag: "\"old\""], body: "old English".utf8),
            .status(.ok, fields: [.eTag: "\"new\"", .cacheControl: "max-age=1"], body: "for all".utf8),
            .status(.notModified, fields: [.vary: "accept-language", .cacheControl: "max-age=60"]),
            .ok("German".utf8))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a", [.acceptLanguage: "en"])).bytes
        _ = try await fixture.cache.response(for: .to("/a", [.acceptLanguage: "fr"])).bytes
        fixture.clock.advance(by: 5)
        let key = try CacheKey(url: "https://example.com/a")
        #expect(try fixture.store.responses(for: key).count == 2)
        _ = try await fixture.cache.response(for: .to("/a", [.acceptLanguage: "fr"])).bytes
        #expect(
            try fixture.store.responses(for: key).map(\.metadata.variant).sorted() == [
                "accept-language: en", "accept-language: fr",
            ])
        #expect(try await fixture.cache.response(for: .to("/a", [.acceptLanguage: "de"])).text == "German")
        #expect(try await fixture.store.check(digests: true).isSound)
    }

    @Test("Stores no credentials that Vary nominates, and keeps their responses apart", .requirement("K4"))
    func credentials() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            .reply(
                200, [.cacheControl: "max-age=60", .vary: "authorization"], request.headerFields[.authorization] ?? "")
        }
        for user in ["Basic YWxpY2U6c2VjcmV0", "Basic Ym9iOnNlY3JldA=="] {
            for _ in 0..<2 { _ = try await fixture.cache.response(for: .to("/a", [.authorization: user])).bytes }
        }
        #expect(transport.requestCount == 2)
        for response in try fixture.store.responses(for: CacheKey(url: "https://example.com/a")) {
            #expect(!response.metadata.variant.contains("Basic"))
            #expect(response.metadata.variant.hasPrefix("authorization: sha256-"))
        }
    }

    @Test("Level 1 stores and returns a 404, and keeps the last good content")
    func errorResponse() async throws {
        let transport = ScriptedTransport(
            .ok("good".utf8, cacheControl: "max-age=0"),
            .status(.notFound, fields: [.cacheControl: "max-age=60"], body: "gone".utf8))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        fixture.clock.advance(by: 1)
        #expect(try await fixture.cache.response(for: .to("/a")).text == "gone")
        let hit = try await fixture.cache.response(for: .to("/a"))
        #expect(hit.status == .notFound)
        #expect(hit.source == .disk)
        #expect(transport.requestCount == 2)
        let kinds = try fixture.store.responses(for: CacheKey(url: "https://example.com/a")).map(\.metadata.kind)
        #expect(Set(kinds) == [.content, .error])
    }

    @Test(
        "An unreachable origin leads to 502 or 504, with the reason", .requirement("R03"),
        arguments: [
            (TransportError.Code.cannotConnect, HTTPResponse.Status.badGateway), (.connectionLost, .badGateway),
            (.timedOut, .gatewayTimeout),
        ])
    func unreachable(code: TransportError.Code, status: HTTPResponse.Status) async throws {
        let transport = ScriptedTransport { _, _ throws(TransportError) in throw TransportError(code) }
        let fixture = try LoaderFixture(transport: transport)
        let answer = try await fixture.cache.response(for: .to("/a"))
        #expect(answer.status == status)
        #expect(answer.failure == .transport(TransportError(code), url: "https://example.com/a"))
        #expect(try await answer.bytes.isEmpty)
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("The store answers only-if-cached, or 504 without a request", .requirement("R07"))
    func onlyIfCached() async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "body") }
        let fixture = try LoaderFixture(transport: transport)
        let answer = try await fixture.cache.response(for: .to("/a", [.cacheControl: "only-if-cached"]))
        #expect(answer.status == .gatewayTimeout)
        #expect(answer.failure == .notCached(url: "https://example.com/a"))
        #expect(transport.requestCount == 0)
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        let hit = try await fixture.cache.response(for: .to("/a", [.cacheControl: "only-if-cached"]))
        #expect(try await hit.text == "body")
        #expect(transport.requestCount == 1)
    }

    @Test(
        "A request without a usable URL, or with one that names another host, throws and is not sent",
        .requirement("E9"),
        arguments: [
            (nil, "example.com", "/"), ("https", nil, "/"), ("ftp", "example.com", "/"),
            ("https", "user:pass@example.com", "/"), ("https", "example.com", "/a b"),
            ("https", "example.com", ".evil.com/x"), ("https", "example.com", ":8443/x"), ("https", "example.com", "*"),
            ("https", "example.com/x", "/y"), ("https", "example.com#", "/y"), ("https", "example.com?", "/y"),
            ("https", "", "/evil.com"),
        ] as [(String?, String?, String)])
    func unusableURLs(scheme: String?, authority: String?, path: String) async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(.ok()))
        let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
        let error = await #expect(throws: LoadError.self) { try await fixture.cache.response(for: request) }
        guard case .invalidURL = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(transport.requestCount == 0)
    }

    @Test("A change of the configuration affects only later requests", .requirement("K1"))
    func configuration() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "max-age=60"], "12345"))
        let fixture = try LoaderFixture(transport: transport)
        let defaults = HTTPCache.Configuration()
        #expect(defaults.policy == CachePolicy())
        #expect(defaults.partition == "")
        #expect(defaults.maxBodyBytes == 1 << 30)
        async let before = fixture.cache.response(for: .to("/a")).bytes
        await gate.reached(1)
        fixture.cache.configuration.maxBodyBytes = 4
        gate.open()
        #expect(try await before == Data("12345".utf8))
        await #expect(throws: LoadError.bodyTooLarge(url: "https://example.com/b", limit: 4)) {
            try await fixture.cache.response(for: .to("/b")).bytes
        }
        #expect(try !fixture.store.contains(CacheKey(url: "https://example.com/b")))
    }

    @Test("Partitions do not share entries", .requirement("A5", "V11"))
    func partitions() async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "body") }
        let fixture = try LoaderFixture(transport: transport)
        for partition in ["", "alice", "bob", "alice"] {
            fixture.cache.configuration.partition = partition
            _ = try await fixture.cache.response(for: .to("/a")).bytes
        }
        #expect(transport.requestCount == 3)
    }
}

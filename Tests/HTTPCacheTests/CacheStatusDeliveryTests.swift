import TestSupport

@Suite("HTTPCache: Cache-Status, Age and Date", .timeLimit(.minutes(5))) struct CacheStatusDeliveryTests {
    @Test("Stores the members of upstream caches, in front of this cache's unstored member", .requirement("W01"))
    func upstream() async throws {
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            .reply(200, [.cacheControl: "max-age=60", .cacheStatus: "Origin;hit, \"a, b\";fwd=miss"], "body")
        }
        let upstream = "Origin;hit, \"a, b\";fwd=miss"
        let miss = try await fixture.cache.response(for: .to("/a"))
        #expect(
            miss.headerFields[fields: .cacheStatus].map(\.value) == [
                upstream, "CacheStore;fwd=uri-miss;fwd-status=200;ttl=60;stored",
            ])
        _ = try await miss.bytes
        for age in [0, 10] {
            let hit = try await fixture.cache.response(for: .to("/a"))
            #expect(
                hit.headerFields[fields: .cacheStatus].map(\.value) == [upstream, "CacheStore;hit;ttl=\(60 - age)"])
            fixture.clock.advance(by: 10)
        }
        let stored = try #require(try fixture.store.peek(CacheKey(url: "https://example.com/a")))
        #expect(!String(decoding: stored.metadata.head, as: UTF8.self).contains("CacheStore"))
    }

    @Test("Each kind of answer has its own parameters", .requirement("W02", "W03"))
    func words() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            request.headerFields[.ifNoneMatch] != nil
                ? .reply(304, [.eTag: "\"1\""])
                : .reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\"", .vary: "Accept-Language"], "body")
        }
        func status(_ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:]) async throws -> String? {
            let response = try await fixture.cache.response(for: .to("/a", method: method, fields))
            _ = try await response.bytes
            return response.cacheStatus
        }
        #expect(try await status() == "CacheStore;fwd=uri-miss;fwd-status=200;ttl=60;stored")
        #expect(try await status() == "CacheStore;hit;ttl=60")
        #expect(try await status(.get, [.acceptLanguage: "de"])?.hasPrefix("CacheStore;fwd=vary-miss") == true)
        #expect(
            try await status(.get, [.cacheControl: "no-cache"])
                == "CacheStore;fwd=request;fwd-status=304;ttl=60;stored")
        fixture.clock.advance(by: 61)
        #expect(try await status(.get, [.cacheControl: "max-stale"]) == "CacheStore;hit;ttl=-1")
        #expect(try await status() == "CacheStore;fwd=stale;fwd-status=304;ttl=60;stored")
        #expect(
            try await status(.get, [.cacheControl: "no-cache, no-store"]) == "CacheStore;fwd=request;fwd-status=200")
        #expect(try await status(.get, [.ifMatch: "\"1\""])?.hasPrefix("CacheStore;fwd=bypass") == true)
        #expect(try await status(.post) == "CacheStore;fwd=method;fwd-status=200")
    }

    @Test("Name, key and rule appear as configured, or not at all", .requirement("W03"))
    func options() async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport(.ok("body".utf8, cacheControl: "max-age=60")))
        fixture.cache.configuration.cacheStatus = CacheStatusOptions(name: "my cache", hasKey: true, hasDetail: true)
        let miss = try await fixture.cache.response(for: .to("/a"))
        #expect(miss.cacheStatus?.hasPrefix("\"my cache\";fwd=uri-miss;") == true)
        #expect(miss.cacheStatus?.contains(";key=\"https://example.com/a\";detail=") == true)
        _ = try await miss.bytes
        fixture.cache.configuration.cacheStatus = nil
        #expect(try await fixture.cache.response(for: .to("/a")).cacheStatus == nil)
    }

    @Test("The Age of a stored response replaces any other", .requirement("A01", "A05"))
    func age() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            request.headerFields[.ifNoneMatch] == nil
                ? .reply(200, [.cacheControl: "max-age=100", .eTag: "\"1\"", .age: "30"], "body")
                : .reply(304, [.eTag: "\"1\"", .cacheControl: "max-age=100"])
        }
        let miss = try await fixture.cache.response(for: .to("/a"))
        #expect(miss.headerFields[.age] == "30")
        #expect(miss.age == 30)
        _ = try await miss.bytes
        fixture.clock.advance(by: 40)
        let hit = try await fixture.cache.response(for: .to("/a"))
        #expect(hit.headerFields[fields: .age].map(\.value) == ["70"])
        fixture.clock.advance(by: 30)
        let validated = try await fixture.cache.response(for: .to("/a"))
        #expect(validated.source == .notModified, "A05: all times are those of the 304")
        #expect(validated.headerFields[.age] == nil)
        #expect(validated.age == 0)
        fixture.clock.advance(by: 99)
        #expect(try await fixture.cache.response(for: .to("/a")).headerFields[.age] == "99")
    }

    @Test("A slow response arrives with an age", .requirement("A03"))
    func slow() async throws {
        let clock = ManualClock()
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            clock.advance(by: 20)
            return .reply(200, [.cacheControl: "max-age=60"], "body")
        }
        fixture.cache.configuration.clock = clock.date
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        #expect(try await fixture.cache.response(for: .to("/a")).headerFields[.age] == "20")
        clock.advance(by: 40)
        #expect(try fixture.cache.storedResponse(for: .to("/a")) == nil)
    }

    @Test("A response without Date gets the time of receipt, also unstored, and keeps it", .requirement("S16", "A06"))
    func date() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            .reply(200, [.cacheControl: request.path == "/a" ? "max-age=60" : "no-store"], "body")
        }
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        for path in ["/a", "/b"] {
            let miss = try await fixture.cache.response(for: .to(path))
            #expect(miss.headerFields[.date] == date)
            _ = try await miss.bytes
        }
        fixture.clock.advance(by: 30)
        #expect(try await fixture.cache.response(for: .to("/a")).headerFields[.date] == date)
    }

    @Test("After a 304 the date is that of the 304", .requirement("A05", "A06"))
    func dateAfterValidation() async throws {
        let later = "Sun, 06 Nov 1994 08:51:17 GMT"
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            request.headerFields[.ifNoneMatch] == nil
                ? .reply(
                    200, [.cacheControl: "max-age=60", .eTag: "\"1\"", .date: "Sun, 06 Nov 1994 08:49:37 GMT"], "x")
                : .reply(304, [.eTag: "\"1\"", .date: later])
        }
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        fixture.clock.advance(by: 100)
        #expect(try await fixture.cache.response(for: .to("/a")).headerFields[.date] == later)
        fixture.clock.advance(by: 30)
        let hit = try await fixture.cache.response(for: .to("/a"))
        #expect(hit.headerFields[.date] == later)
        #expect(hit.headerFields[.age] == "30")
    }

    @Test("Connection-specific fields are not replayed", .requirement("S12"))
    func connectionFields() async throws {
        let custom = try #require(HTTPField.Name("X-Hop"))
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            .reply(200, [.cacheControl: "max-age=60", .connection: "x-hop", custom: "1", .server: "s"], "body")
        }
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        let hit = try await fixture.cache.response(for: .to("/a"))
        #expect(hit.headerFields[.connection] == nil)
        #expect(hit.headerFields[custom] == nil)
        #expect(hit.headerFields[.server] == "s")
    }
}

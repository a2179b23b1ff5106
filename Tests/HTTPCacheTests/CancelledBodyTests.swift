import TestSupport

@Suite("ResponseBody: cancel", .timeLimit(.minutes(5))) struct CancelledBodyTests {
    private func fixture(_ fed: FedBody, stores: Bool) throws -> LoaderFixture {
        let fields: HTTPFields = [.cacheControl: stores ? "max-age=60" : "no-store"]
        return try LoaderFixture(transport: ScriptedTransport { _, _ in fed.response(.ok, fields) })
    }

    @Test(
        "A waiting read throws immediately, and so does each later one; the exchange ends", .requirement("E4"),
        arguments: [true, false])
    func waiting(stores: Bool) async throws {
        let fed = FedBody("half")
        let fixture = try fixture(fed, stores: stores)
        let response = try await fixture.cache.response(for: .to("/a"))
        let body = response.body
        let read = Task {
            var chunks = body.makeAsyncIterator()
            var text = ""
            while let chunk = try await chunks.next() { text += String(decoding: chunk, as: UTF8.self) }
            return text
        }
        await fed.asked(2)
        body.cancel()
        await #expect(throws: LoadError.cancelled) { try await read.value }
        body.cancel()
        await fed.stopped()
        // Without a reader, the store keeps nothing of the body.
        #expect(try !fixture.store.contains(CacheKey(url: "https://example.com/a")))
    }

    @Test(
        "Without a waiting read the exchange also ends, and the next read throws", .requirement("E4"),
        arguments: [true, false])
    func idle(stores: Bool) async throws {
        let fed = FedBody("half")
        let fixture = try fixture(fed, stores: stores)
        let response = try await fixture.cache.response(for: .to("/a"))
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("half".utf8))
        response.body.cancel()
        // The test still holds the response.
        await fed.stopped()
        do {
            _ = try await chunks.next()
            Issue.record("the body can still be read")
        } catch {
            #expect(error == .cancelled)
        }
        withExtendedLifetime(response) {}
    }

    @Test(
        "A waiting read throws even if the transport ignores its cancellation", .requirement("E4"),
        arguments: [true, false])
    func stubbornSource(stores: Bool) async throws {
        let fed = FedBody("half", heedsCancellation: false)
        let fixture = try fixture(fed, stores: stores)
        let response = try await fixture.cache.response(for: .to("/a"))
        let read = Task { try await response.data() }
        await fed.asked(2)
        response.body.cancel()
        await #expect(throws: LoadError.cancelled) { try await read.value }
        fed.end()
        await fed.stopped()
        #expect(fed.pullCount == 2)
    }

    @Test("Another reader of the same transfer continues, and the body is stored", .requirement("E4"))
    func others() async throws {
        let fed = FedBody("half")
        let fixture = try fixture(fed, stores: true)
        let first = try await fixture.cache.response(for: .to("/a"))
        let second = try await fixture.cache.response(for: .to("/a"))
        first.body.cancel()
        await #expect(throws: LoadError.cancelled) { try await first.data() }
        fed.feed("half")
        fed.end()
        #expect(try await second.text == "halfhalf")
        #expect(try fixture.store.contains(CacheKey(url: "https://example.com/a")))
    }

    @Test("The store receives the rest of a body cancelled near its end, as after an abandonment", .requirement("E5"))
    func nearEnd() async throws {
        let fed = FedBody("half")
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            fed.response(.ok, [.cacheControl: "max-age=60", .contentLength: "8"])
        }
        let response = try await fixture.cache.response(for: .to("/a"))
        response.body.cancel()
        fed.feed("half")
        fed.end()
        let key = try CacheKey(url: "https://example.com/a")
        try await eventually { try fixture.store.contains(key) }
    }

    @Test("Cancelling a stored body keeps the entry", .requirement("E4"))
    func stored() async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "body") }
        let fixture = try LoaderFixture(transport: transport)
        #expect(try await fixture.cache.response(for: .to("/a")).text == "body")
        let hit = try await fixture.cache.response(for: .to("/a"))
        hit.body.cancel()
        hit.body.cancel()
        await #expect(throws: LoadError.cancelled) { try await hit.text }
        await #expect(throws: LoadError.cancelled) { try await hit.data() }
        #expect(throws: LoadError.cancelled) { try hit.body.storedData(upTo: .max) }
        #expect(try await fixture.cache.response(for: .to("/a")).text == "body")
        #expect(transport.requestCount == 1)
    }
}

import TestSupport

/// On the main actor: a request that has begun is waiting before the test's next line runs.
@Suite("HTTPCache: shared failures", .timeLimit(.minutes(5)))
@MainActor
struct SharedFailureTests {
    private typealias Load = Task<CachedResponse, any Error>

    private func begin(_ count: Int, _ fixture: LoaderFixture) async -> [Load] {
        var begun = 0
        let loads = (0..<count).map { _ in
            Load { @MainActor in
                begun += 1
                return try await fixture.cache.response(for: .to("/a"))
            }
        }
        await eventually { begun >= count }
        // When the main actor is free again, the last request is waiting.
        await MainActor.run {}
        return loads
    }

    @Test("A failure to reach the origin fails all waiters", .requirement("R06", "R03"))
    func unreachable() async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.scripted { _, _ throws(TransportError) in
            await gate.wait()
            throw TransportError(.cannotConnect)
        }
        let loads = await begin(10, fixture)
        gate.open()
        for load in loads {
            let response = try await load.value
            #expect(response.status == .badGateway)
            #expect(response.failure == .transport(TransportError(.cannotConnect), url: "https://example.com/a"))
        }
        #expect(transport.requestCount == 1)
    }

    @Test("After a failure, stale answers every waiter, without another request", .requirement("R06", "R03", "E04"))
    func staleFallback() async throws {
        for failure in [nil, HTTPResponse.Status.serviceUnavailable] {
            let gate = Gate()
            let (transport, fixture) = try LoaderFixture.scripted { request, _ throws(TransportError) in
                guard request.headerFields[.ifNoneMatch] != nil else {
                    return .reply(200, [.cacheControl: "max-age=1, stale-if-error=60", .eTag: "\"1\""], "stale")
                }
                await gate.wait()
                guard let failure else { throw TransportError(.cannotConnect) }
                return .reply(failure, [:], "error")
            }
            _ = try await fixture.cache.response(for: .to("/a")).bytes
            fixture.clock.advance(by: 10)
            let loads = await begin(10, fixture)
            gate.open()
            for load in loads {
                let response = try await load.value
                #expect(try await response.text == "stale")
                #expect(response.isStale)
                #expect(response.failure != nil)
            }
            #expect(transport.requestCount == 2, "\(String(describing: failure))")
        }
    }

    @Test("An error response answers only its own caller's requests, and its fields apply to no other request")
    func errorOfOneCaller() async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.scripted(policy: .shared) { request, _ throws(TransportError) in
            let user = request.headerFields[.authorization]
            guard request.headerFields[.ifNoneMatch] != nil else {
                return .reply(200, [.cacheControl: "max-age=1, stale-if-error=60, public", .eTag: "\"1\""], "stale")
            }
            await gate.wait()
            return user == "A" ? .reply(503, [.setCookie: "session=A"]) : .reply(304, [.cacheControl: "max-age=60"])
        }
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        fixture.clock.advance(by: 10)
        var begun = 0
        let loads = ["A", "A", "B"].map { user in
            Load { @MainActor in
                begun += 1
                return try await fixture.cache.response(for: .to("/a", [.authorization: user]))
            }
        }
        await eventually { begun >= 3 }
        await MainActor.run {}
        gate.open()
        var cookies: [String?] = []
        for load in loads.dropLast() {
            guard case .httpStatus(let error) = try await load.value.failure else { throw TransportError(.cancelled) }
            cookies.append(error.headerFields[.setCookie])
        }
        #expect(cookies == ["session=A", nil])
        let other = try await loads[2].value
        #expect(other.failure == nil)
        #expect(other.source == .notModified)
        #expect(transport.requestCount == 3)
    }

    @Test("A truncated body fails for every reader that shares it")
    func brokenBody() async throws {
        let fed = FedBody("half")
        let transport = ScriptedTransport { _, _ in fed.response(.ok, [.cacheControl: "max-age=60"]) }
        let fixture = try LoaderFixture(transport: transport)
        let responses = [
            try await fixture.cache.response(for: .to("/a")), try await fixture.cache.response(for: .to("/a")),
        ]
        fed.fail()
        for response in responses {
            await #expect(throws: LoadError.transport(TransportError(.truncated), url: "https://example.com/a")) {
                try await response.bytes
            }
        }
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("After the store has failed, a reader that stops does not stop the others")
    func stoppedReader() async throws {
        let fed = FedBody("one, ")
        let transport = ScriptedTransport { _, _ in fed.response(.ok, [.cacheControl: "max-age=60"]) }
        let fixture = try LoaderFixture(transport: transport)
        let responses = [
            try await fixture.cache.response(for: .to("/a")), try await fixture.cache.response(for: .to("/a")),
        ]
        var reading = responses[0].body.makeAsyncIterator()
        #expect(try await reading.next() == Data("one, ".utf8))
        fixture.store.close()
        for _ in 0..<16 { fed.feed(Data(count: 65_536)) }
        fed.end()
        var count = 0
        while let chunk = try await reading.next() { count += chunk.count }
        #expect(count == 1 << 20)
        await #expect(throws: LoadError.store(.closed)) { try await responses[1].bytes }
        #expect(transport.requestCount == 1)
    }

    enum Trouble: CaseIterable {
        case closed, suspended, tooLarge
    }

    @Test(
        "A store that fails in the middle of a body, or has no space for it, fails no reader", .requirement("A7", "J5"),
        arguments: Trouble.allCases)
    func failingStore(_ trouble: Trouble) async throws {
        let fed = FedBody("one, ")
        let transport = ScriptedTransport { _, _ in fed.response(.ok, [.cacheControl: "max-age=60"]) }
        let limits = trouble == .tooLarge ? Limits(maxEntryBytes: 7) : nil
        let fixture = try LoaderFixture(transport: transport, limits: limits)
        let responses = [
            try await fixture.cache.response(for: .to("/a")), try await fixture.cache.response(for: .to("/a")),
            try await fixture.cache.response(for: .to("/a")),
        ]
        var fast = responses[0].body.makeAsyncIterator()
        #expect(try await fast.next() == Data("one, ".utf8))
        switch trouble {
        case .closed: fixture.store.close()
        case .suspended: fixture.store.suspend()
        case .tooLarge: break
        }
        fed.feed("two, ")
        #expect(try await fast.next() == Data("two, ".utf8))
        fed.feed("three")
        fed.end()
        #expect(try await fast.next() == Data("three".utf8))
        #expect(try await fast.next() == nil)
        #expect(try await responses[1].text == "one, two, three")
        #expect(try await responses[2].data() == Data("one, two, three".utf8))
        #expect(transport.requestCount == 1)
        if trouble == .suspended { try fixture.store.resume() }
        if trouble != .closed { #expect(try fixture.store.statistics().entries == 0) }
    }
}

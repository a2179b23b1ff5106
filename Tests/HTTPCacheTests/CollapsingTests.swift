import TestSupport

/// On the main actor: a request that has begun is waiting before the test's next line runs.
@Suite("HTTPCache: collapsed requests", .timeLimit(.minutes(5)))
@MainActor
struct CollapsingTests {
    private typealias Load = Task<CachedResponse, any Error>

    /// Starts requests. Returns once all of them wait.
    private func begin(_ count: Int, _ fixture: LoaderFixture, _ fields: HTTPFields = [:]) async -> [Load] {
        var begun = 0
        let loads = (0..<count).map { _ in
            Load { @MainActor in
                begun += 1
                return try await fixture.cache.response(for: .to("/a", fields))
            }
        }
        await eventually { begun >= count }
        return loads
    }

    @Test("A thousand requests for an unstored URL become one, and all get its response", .requirement("R06", "E1"))
    func thousand() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "max-age=60"], "one, ", "two"))
        let fixture = try LoaderFixture(transport: transport)
        let loads = await begin(1_000, fixture)
        gate.open()
        for load in loads { #expect(try await load.value.text == "one, two") }
        #expect(transport.requestCount == 1)
        #expect(try fixture.blobs.count == 1)
    }

    @Test("Requests for an unshareable response wait for each other once, and again after a response was stored")
    func uncacheable() async throws {
        let gate = Mutex(Gate())
        let control = Mutex("no-store")
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            await gate.withLock { $0 }.wait()
            return .reply(200, [.cacheControl: control.withLock { $0 }], "body")
        }
        func load(_ count: Int, sendsAtFirst sent: Int) async throws {
            let (before, present) = (transport.requestCount, Gate())
            gate.withLock { $0 = present }
            let loads = await begin(count, fixture)
            await present.reached(sent)
            await MainActor.run {}
            #expect(transport.requestCount == before + sent)
            present.open()
            for load in loads { #expect(try await load.value.text == "body") }
        }
        try await load(3, sendsAtFirst: 1)
        try await load(3, sendsAtFirst: 3)
        control.withLock { $0 = "max-age=0" }
        try await load(1, sendsAtFirst: 1)
        try await load(3, sendsAtFirst: 1)
        control.withLock { $0 = "no-store" }
        try await load(3, sendsAtFirst: 1)
        fixture.clock.advance(by: 121)
        try await load(3, sendsAtFirst: 1)
    }

    @Test("Fifty concurrent readers, each at its own pace, get every byte of a body in order", .requirement("E1"))
    func fifty() async throws {
        let chunks = (0..<200).map { number in Data((0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) }) }
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            await gate.wait()
            return TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
                body: TransportBody(chunks: chunks))
        }
        let loads = await begin(50, fixture)
        gate.open()
        let expected = chunks.reduce(Data(), +)
        try await withThrowingTaskGroup(of: Data.self) { group in
            for load in loads { group.addTask { try await load.value.bytes } }
            for try await bytes in group { #expect(bytes == expected) }
        }
        #expect(transport.requestCount == 1)
    }

    @Test("After a shared response breaks off in its body, requests ask again, one at a time", .requirement("E1"))
    func brokenBodies() async throws {
        let gate = Gate()
        let requests = Mutex((present: 0, most: 0))
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            await gate.wait()
            requests.withLock { requests in
                requests.present += 1
                requests.most = max(requests.most, requests.present)
            }
            for _ in 0..<100 { await Task.yield() }
            requests.withLock { $0.present -= 1 }
            let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"])
            return TransportResponse(
                head: head, body: TransportBody { () async throws(TransportError) in throw TransportError(.truncated) })
        }
        let loads = await begin(50, fixture)
        gate.open()
        for load in loads { _ = try await load.value }
        #expect(requests.withLock { $0.most } == 1)
    }

    @Test("After the store has refused a shared body, its waiters send their requests together", .requirement("R06"))
    func refusingStore() async throws {
        let (first, others) = (FirstTime(), Gate())
        let (head, fed) = (Gate(), FedBody("body"))
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            guard first.isFirst() else {
                await others.wait()
                return .reply(200, [.cacheControl: "max-age=60"], "body")
            }
            await head.wait()
            return fed.response(.ok, [.cacheControl: "max-age=60"])
        }
        fixture.store.suspend()
        let loads = await begin(20, fixture)
        await MainActor.run {}
        await head.reached(1)
        head.open()
        // Blocks the main actor, and with it the waiters, until the store has refused the first chunk.
        try spinWhile { fed.pullCount < 2 }
        await others.reached(19)
        #expect(transport.requestCount == 20)
        others.open()
        fed.end()
        for load in loads { #expect(try await load.value.text == "body") }
    }

    @Test(
        "RFC 9111 §4: a slow older response does not replace the newer response to a reload", .requirement("V07"))
    func slowOlderResponse() async throws {
        let (old, new) = (FedBody("old, "), FedBody("new"))
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            (request.headerFields.isEmpty ? old : new).response(.ok, [.cacheControl: "max-age=60"])
        }
        let first = try await fixture.cache.response(for: .to("/a"))
        fixture.clock.advance(by: 5)
        new.end()
        #expect(try await fixture.cache.response(for: .to("/a", [.cacheControl: "no-cache"])).text == "new")
        old.feed("late")
        old.end()
        #expect(try await first.text == "old, late")
        let third = try await fixture.cache.response(for: .to("/a"))
        #expect(third.source == .disk)
        #expect(try await third.text == "new")
        #expect(transport.requestCount == 2)
    }

    @Test("A request that joins during the transfer gets the body from its first byte", .requirement("R06"))
    func joiningLate() async throws {
        let fed = FedBody("one, ")
        let transport = ScriptedTransport { _, _ in fed.response(.ok, [.cacheControl: "max-age=60"]) }
        let fixture = try LoaderFixture(transport: transport)
        let first = try await fixture.cache.response(for: .to("/a"))
        var iterator = first.body.makeAsyncIterator()
        #expect(try await iterator.next() == Data("one, ".utf8))
        let second = try await fixture.cache.response(for: .to("/a"))
        #expect(second.cacheStatus == "CacheStore;fwd=uri-miss;ttl=60;collapsed")
        fed.feed("two")
        fed.end()
        #expect(try await second.text == "one, two")
        #expect(try await iterator.next() == Data("two".utf8))
        #expect(try await iterator.next() == nil)
        #expect(transport.requestCount == 1)
    }

    @Test("RFC 9211 §2.2: a collapsed request reports its own reason for forwarding", .requirement("W03"))
    func reasons() async throws {
        let first = FirstTime()
        let fed = FedBody("new, ")
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            first.isFirst()
                ? .reply(200, [.cacheControl: "max-age=60", .vary: "Accept-Language"], "old")
                : fed.response(.ok, [.cacheControl: "max-age=60", .vary: "Accept-Language"])
        }
        _ = try await fixture.cache.response(for: .to("/a", [.acceptLanguage: "de"])).bytes
        let other = try await fixture.cache.response(for: .to("/a", [.acceptLanguage: "en"]))
        #expect(other.cacheStatus?.contains("fwd=vary-miss") == true)
        let varied = try await fixture.cache.response(for: .to("/a", [.acceptLanguage: "en"]))
        #expect(varied.cacheStatus == "CacheStore;fwd=vary-miss;ttl=60;collapsed")
        fed.end()
        #expect(try await other.text == "new, ")
        #expect(try await varied.text == "new, ")

        let next = FedBody("newer")
        let stale = FirstTime()
        let aging = ScriptedTransport { _, _ in
            stale.isFirst()
                ? .reply(200, [.cacheControl: "max-age=60"], "old")
                : next.response(.ok, [.cacheControl: "max-age=60"])
        }
        let second = try LoaderFixture(transport: aging)
        _ = try await second.cache.response(for: .to("/a")).bytes
        second.clock.advance(by: 61)
        let sent = try await second.cache.response(for: .to("/a"))
        let collapsed = try await second.cache.response(for: .to("/a"))
        #expect(collapsed.cacheStatus == "CacheStore;fwd=stale;ttl=60;collapsed")
        next.end()
        #expect(try await sent.text == "newer")
        #expect(try await collapsed.text == "newer")
    }

    @Test("The first reader leaves, the others continue", .requirement("E4"))
    func firstLeaves() async throws {
        let fed = FedBody("one, ")
        let transport = ScriptedTransport { _, _ in fed.response(.ok, [.cacheControl: "max-age=60"]) }
        let fixture = try LoaderFixture(transport: transport)
        var first: CachedResponse? = try await fixture.cache.response(for: .to("/a"))
        let others = [
            try await fixture.cache.response(for: .to("/a")), try await fixture.cache.response(for: .to("/a")),
        ]
        #expect(first != nil)
        first = nil
        fed.feed("two")
        fed.end()
        for other in others { #expect(try await other.text == "one, two") }
        #expect(transport.requestCount == 1)
        #expect(try fixture.store.contains(CacheKey(url: "https://example.com/a")))
    }

    @Test("Cancelling the request that was sent leaves its response to the others", .requirement("E4"))
    func cancelledLeader() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "max-age=60"], "body"))
        let fixture = try LoaderFixture(transport: transport)
        let leader = await begin(1, fixture)[0]
        let followers = await begin(3, fixture)
        await gate.reached(1)
        leader.cancel()
        await #expect(throws: LoadError.cancelled) { try await leader.value }
        gate.open()
        for follower in followers { #expect(try await follower.value.text == "body") }
        #expect(transport.requestCount == 1)
    }

    @Test("Cancelling all requests cancels the transfer, and later requests succeed", .requirement("E4", "E5"))
    func allCancelled() async throws {
        let gate = Gate()
        let cancellations = CallCount()
        let (transport, fixture) = try LoaderFixture.scripted { _, _ throws(TransportError) in
            await gate.wait()
            if Task.isCancelled {
                cancellations.increment()
                throw TransportError(.cancelled)
            }
            return .reply(200, [.cacheControl: "max-age=60"], "body")
        }
        let loads = await begin(3, fixture)
        await gate.reached(1)
        for load in loads { load.cancel() }
        for load in loads { await #expect(throws: LoadError.cancelled) { try await load.value } }
        // A second request may be in flight when the cancelled one ends.
        let later = await begin(1, fixture)[0]
        await gate.reached(2)
        await eventually { cancellations.value == 1 }
        gate.open()
        #expect(try await later.value.text == "body")
        #expect(transport.requestCount == 2)
    }

    @Test(
        "A request with a range, directive or condition goes to the origin separately, and does not wait",
        .requirement("R06"),
        arguments: [
            [.range: "bytes=0-1"], [.cacheControl: "no-store"], [.cacheControl: "no-cache"], [.ifNoneMatch: "\"x\""],
            [.ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"], [.ifMatch: "\"x\""],
        ] as [HTTPFields])
    func alone(_ fields: HTTPFields) async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            if request.headerFields.isEmpty { await gate.wait() }
            return .reply(200, [.cacheControl: "max-age=60"], request.headerFields.isEmpty ? "shared" : "alone")
        }
        let shared = await begin(2, fixture)
        await gate.reached(1)
        #expect(try await fixture.cache.response(for: .to("/a", fields)).text == "alone")
        gate.open()
        for load in shared {
            let text = try await load.value.text
            #expect(["shared", "alone"].contains(text))
        }
        #expect(transport.requestCount == 2)
    }

    @Test("A waiter for which Vary selects another response is forwarded", .requirement("R06", "V02"))
    func otherVariant() async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            await gate.wait()
            return .reply(
                200, [.cacheControl: "max-age=60", .vary: "Accept-Language"],
                request.headerFields[.acceptLanguage] ?? "")
        }
        let english = await begin(3, fixture, [.acceptLanguage: "en"])
        let german = await begin(3, fixture, [.acceptLanguage: "de"])
        gate.open()
        for load in english { #expect(try await load.value.text == "en") }
        for load in german { #expect(try await load.value.text == "de") }
        #expect(transport.requests.filter { $0.headerFields[.acceptLanguage] == "en" }.count == 1)
        #expect(transport.requestCount <= 4)
    }

    @Test("A waiter with other credentials never gets another user's response", .requirement("K4"))
    func otherUser() async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            await gate.wait()
            return .reply(200, [.cacheControl: "max-age=60"], request.headerFields[.authorization] ?? "nobody")
        }
        let alice = await begin(2, fixture, [.authorization: "alice"])
        let bob = await begin(1, fixture, [.authorization: "bob"])
        let nobody = await begin(1, fixture)
        gate.open()
        for load in alice { #expect(try await load.value.text == "alice") }
        #expect(try await bob[0].value.text == "bob")
        #expect(try await nobody[0].value.text == "nobody")
        #expect(transport.requestCount == 3)
    }
}

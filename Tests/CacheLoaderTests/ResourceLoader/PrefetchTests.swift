import TestSupport

@Suite("Prefetch", .timeLimit(.minutes(5))) struct PrefetchTests {
    private func requests(_ count: Int) -> [ResourceRequest] {
        (0..<count).map { ResourceRequest("https://example.com/\($0)") }
    }

    private func transport(_ gate: Gate? = nil) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            await gate?.wait()
            return .reply(200, [.cacheControl: "max-age=60"], request.path ?? "")
        }
    }

    @Test("Loads missing responses one at a time; skips stored ones, without counting an access", .requirement("H1"))
    func warming() async throws {
        let most = Mutex(0)
        let now = Mutex(0)
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            let count = now.withLock { now in
                now += 1
                return now
            }
            most.withLock { $0 = max($0, count) }
            await Task.yield()
            now.withLock { $0 -= 1 }
            if request.path?.hasSuffix("7") == true { return .reply(404) }
            return .reply(200, [.cacheControl: "max-age=60"], request.path ?? "")
        }
        let cold = fixture.loader.prefetch(requests(200))
        let updates = await cold.updates.all
        #expect(zip(updates, updates.dropFirst()).allSatisfy { $0.completed < $1.completed })
        let progress = await cold.finished()
        #expect(progress.loaded == 180)
        #expect(progress.failed == 20)
        #expect(progress.completed == 200)
        #expect(progress.latestFailure?.status == 404)
        #expect(transport.requestCount == 200)
        #expect(most.withLock { $0 } == 1)
        #expect(try fixture.store.statistics().entries == 180)
        let hits = try fixture.store.statistics().hits
        let warm = await fixture.loader.prefetch(requests(200)).finished()
        #expect(warm.hits == 180)
        #expect(warm.failed == 20)
        #expect(transport.requestCount == 220)
        #expect(try fixture.store.statistics().hits == hits)
    }

    @Test("A cancelled prefetch starts no more loads; running transfers finish and are stored", .requirement("E5"))
    func cancelling() async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.sending(to: transport(gate))
        let prefetch = fixture.loader.prefetch(requests(100))
        await gate.reached(1)
        prefetch.cancel()
        let progress = await prefetch.finished()
        #expect(progress.loaded == 0)
        #expect(progress.cancelled == progress.completed)
        gate.open()
        let first = ResourceRequest("https://example.com\(transport.requests[0].path ?? "")")
        try await eventually { try !fixture.loader.isLoading(first) }
        #expect(try fixture.loader.contains(first))
        #expect(transport.requestCount == 1)
    }

    @Test("An urgent load of a prefetched URL does not wait for the other URLs", .requirement("H3"))
    func promotion() async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.sending(to: transport(gate))
        let prefetch = fixture.loader.prefetch(requests(20))
        await gate.reached(1)
        let path = transport.requests[0].path == "/13" ? "/14" : "/13"
        async let wanted = fixture.loader.load("https://example.com\(path)")
        await gate.reached(2)
        #expect(transport.requests.map(\.path).last == path)
        gate.open()
        #expect(try await wanted.text == path)
        #expect(await prefetch.finished().completed == 20)
        #expect(transport.requestCount == 20)
    }

    @Test("An invalid URL counts as a failure")
    func invalid() async throws {
        let fixture = try LoaderFixture(transport: transport())
        let progress = await fixture.loader.prefetch([ResourceRequest(""), ResourceRequest("https://a.test/")])
            .finished()
        #expect(progress.failed == 1)
        #expect(progress.loaded == 1)
    }
}

import CacheModels
import MetricsTestKit
import TestSupport

@Suite("CacheCounters and metrics", .timeLimit(.minutes(5))) struct CacheCountersTests {
    private let url = "https://example.com/a"
    private let metrics = TestMetrics()

    private func total(_ label: String, _ dimensions: [(String, String)] = []) -> Int64 {
        metrics.counterTotal(label: label, dimensions: dimensions)
    }

    private func level(_ label: String, _ dimensions: [(String, String)] = []) -> Double {
        metrics.meters(label: label, dimensions: dimensions).first?.lastValue ?? 0
    }

    private func expect(_ counters: CacheCounters, _ expected: [Int64], _ location: SourceLocation = #_sourceLocation) {
        let counted = [
            counters.requests, counters.hits, counters.memoryHits, counters.staleAnswers, counters.revalidations,
            counters.misses, counters.errors, counters.originRequests, counters.diskBytes, counters.networkBytes,
        ]
        let told = [
            total("cacheloader.requests"), total("cacheloader.hits", [("source", "disk")]),
            total("cacheloader.hits", [("source", "memory")]), total("cacheloader.stale"),
            total("cacheloader.revalidations"), total("cacheloader.misses"), total("cacheloader.errors"),
            total("cacheloader.origin.requests"),
            total("cacheloader.bytes", [("source", "disk")]), total("cacheloader.bytes", [("source", "network")]),
        ]
        #expect(counted == expected, sourceLocation: location)
        #expect(told == expected, sourceLocation: location)
    }

    @Test("The counts and metrics of a loader match the scenario", .requirement("I8"))
    func loader() async throws {
        let transport = ScriptedTransport(
            .status(.ok, fields: [.cacheControl: "max-age=60", .eTag: "\"1\""], body: "body".utf8), .notModified(),
            .status(.internalServerError, fields: [:], body: "oops!".utf8))
        let fixture = try LoaderFixture(transport: transport) { [metrics] configuration in
            configuration.metrics = metrics
            configuration.memoryLimit = 1 << 20
        }
        let loader = fixture.loader
        expect(loader.counters, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(try await loader.load(url).source == .network)
        expect(loader.counters, [1, 0, 0, 0, 0, 1, 0, 1, 0, 4])
        for _ in 0..<3 { #expect(try await loader.load(ResourceRequest(url, usesMemory: false)).source == .disk) }
        expect(loader.counters, [4, 3, 0, 0, 0, 1, 0, 1, 12, 4])
        for _ in 0..<2 { #expect(try await loader.load(url).source == .memory) }
        expect(loader.counters, [6, 3, 2, 0, 0, 1, 0, 1, 12, 4])
        fixture.clock.advance(by: 100)
        #expect(try await loader.load(url).source == .notModified)
        expect(loader.counters, [7, 3, 2, 0, 1, 1, 0, 2, 16, 4])
        fixture.clock.advance(by: 100)
        await #expect(throws: LoadError.self) { try await loader.load(url) }
        expect(loader.counters, [8, 3, 2, 0, 1, 1, 1, 3, 16, 9])
        let stale = ResourceRequest(url, headerFields: [.cacheControl: "max-stale"])
        #expect(try await loader.load(stale).isStale)
        expect(loader.counters, [9, 3, 2, 1, 1, 1, 1, 3, 20, 9])
        #expect(loader.counters.evictedValues == 0)
        #expect(level("cacheloader.origin.requests.active") == 0)
        #expect(level("cacheloader.loads") == 0)
        try await fixture.store.flush()
        let rows = try fixture.store.query("SELECT hits, stale, revalidated, misses, errors FROM cache_requests").rows
        // Memory answered two of the counted hits.
        #expect(rows.first?.compactMap(\.integer) == [5, 1, 1, 1, 1])
    }

    @Test("A cache counts parts, shared answers, stale fallbacks and unreachable origins", .requirement("I8"))
    func cache() async throws {
        let isBroken = FirstTime()
        let (transport, fixture) = try LoaderFixture.scripted { (request, _) throws(TransportError) in
            if request.path == "/a", !isBroken.isFirst() { throw TransportError(.cannotConnect) }
            return .reply(200, [.cacheControl: request.path == "/a" ? "max-age=60" : "no-store"], "0123456789")
        }
        var configuration = HTTPCache.Configuration()
        configuration.clock = fixture.clock.date
        configuration.metrics = metrics
        let cache = HTTPCache(store: fixture.store, transport: transport, configuration: configuration)
        #expect(try await cache.response(for: .to("/a")).text == "0123456789")
        expect(cache.counters, [1, 0, 0, 0, 0, 1, 0, 1, 0, 10])
        #expect(try await cache.response(for: .to("/a", [.range: "bytes=2-4"])).text == "234")
        expect(cache.counters, [2, 1, 0, 0, 0, 1, 0, 1, 3, 10])
        // Bytes count as they are read: no caller reads this body.
        _ = try await cache.response(for: .to("/b"))
        expect(cache.counters, [3, 1, 0, 0, 0, 2, 0, 2, 3, 10])
        await eventually { level("cacheloader.origin.requests.active") == 0 }
        fixture.clock.advance(by: 100)
        #expect(try await cache.response(for: .to("/a")).text == "0123456789")
        expect(cache.counters, [4, 1, 0, 1, 0, 2, 1, 3, 13, 10])
        #expect(cache.counters.evictedValues + cache.counters.memoryHits == 0)
    }

    @Test("Each kind of load counts as one request; a lookup without an answer does not count", .requirement("I8"))
    func requests() async throws {
        let transport = ScriptedTransport { request, _ in
            request.path == "/moved"
                ? .reply(301, [.location: "/a", .cacheControl: "max-age=60"])
                : .reply(200, [.cacheControl: "max-age=60"], "body")
        }
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = 1 << 20 }
        let loader = fixture.loader
        let unknown = try loader.cachedValue(for: url)
        #expect(unknown == nil)
        #expect(loader.counters.requests == 0)
        // Two requests to origins, for one to the loader.
        _ = try await loader.load("https://example.com/moved")
        #expect(loader.counters.requests == 1)
        #expect(loader.counters.originRequests == 2)
        let value = try loader.cachedValue(for: url)
        #expect(value != nil)
        #expect(loader.counters.requests == 2)
        for await _ in loader.events(for: ResourceRequest("https://example.com/b")) {}
        #expect(loader.counters.requests == 3)
        _ = await loader.prefetch([ResourceRequest(url), ResourceRequest("https://example.com/c")]).finished()
        #expect(loader.counters.requests == 5)
        // The value is in memory.
        let resource = LeasedResource(ResourceRequest(url), loader: loader)
        resource.acquire()
        #expect(resource.value != nil)
        #expect(loader.counters.requests == 6)
        await #expect(throws: LoadError.self) { try await loader.load("no URL") }
        #expect(loader.counters.requests == 7)
        #expect(loader.counters.originRequests == 4)
        // The fixture's other cache counts separately.
        #expect(fixture.cache.counters.requests == 0)
        #expect(try fixture.cache.storedResponse(for: .to("/a")) != nil)
        #expect(try fixture.cache.storedResponse(for: .to("/d")) == nil)
        #expect(fixture.cache.counters.requests == 1)
    }

    @Test("The numbers of loads, queued loads and active requests are exact, and end at 0", .requirement("I8"))
    func levels() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "max-age=60"], "body"))
        let fixture = try LoaderFixture(transport: transport) { [metrics] configuration in
            configuration.metrics = metrics
            configuration.lanes = LaneWidths(urgent: 1, background: 1)
        }
        let loader = fixture.loader
        let levels = {
            [
                level("cacheloader.loads"), level("cacheloader.queue.length", [("lane", "urgent")]),
                level("cacheloader.queue.length", [("lane", "background")]),
                level("cacheloader.origin.requests.active"),
            ]
        }
        func begin(_ number: Int) -> Task<String, any Error> {
            let lane: Lane = number < 4 ? .urgent : .background
            // Two loads request the same URL.
            let request = ResourceRequest("https://example.com/\(max(1, number))", lane: lane)
            return Task { try await loader.load(request).text }
        }
        var tasks = [begin(0)]
        await gate.reached(1)
        for number in 1..<6 { tasks.append(begin(number)) }
        await eventually { levels() == [5, 2, 2, 1] }
        tasks[3].cancel()
        await eventually { levels() == [4, 1, 2, 1] }
        gate.open()
        for (number, task) in tasks.enumerated() where number != 3 { #expect(try await task.value == "body") }
        await eventually { levels() == [0, 0, 0, 0] }
    }

    @Test("Timings follow the clock: to the head, to the end of the body, and of the transfer", .requirement("I8"))
    func timings() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, _ in
            clock.advance(by: 2)
            let chunks = TransportBody(Data("body".utf8))
            let body = TransportBody { () async throws(TransportError) in
                let chunk = try await chunks.next()
                if chunk == nil { clock.advance(by: 3) }
                return chunk
            }
            return TransportResponse(head: HTTPResponse(status: .ok), body: body)
        }
        let fixture = try LoaderFixture(transport: transport) { [metrics] configuration in
            configuration.metrics = metrics
            configuration.clock = clock.date
        }
        _ = try await fixture.loader.load(url)
        let second: Int64 = 1_000_000_000
        #expect(try metrics.expectTimer("cacheloader.origin.request.head.duration").values == [2 * second])
        #expect(try metrics.expectTimer("cacheloader.origin.request.duration").values == [5 * second])
        #expect(try metrics.expectTimer("cacheloader.transfer.duration").values == [5 * second])
    }

    @Test("A clock that was set back makes no negative timing", .requirement("I8"))
    func clockSetBack() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, _ in
            clock.advance(by: -1000)
            return .reply(200, [:], "body")
        }
        let fixture = try LoaderFixture(transport: transport) { [metrics] configuration in
            configuration.metrics = metrics
            configuration.clock = clock.date
        }
        _ = try await fixture.loader.load(url)
        #expect(try metrics.expectTimer("cacheloader.origin.request.head.duration").values == [0])
        #expect(try metrics.expectTimer("cacheloader.origin.request.duration").values == [0])
    }

    @Test("Values evicted from memory, also under pressure, are counted; removed values are not", .requirement("I8"))
    func memory() async throws {
        let pressure = MemoryPressureSource()
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "12345678") }
        let fixture = try LoaderFixture(transport: transport) { [metrics] configuration in
            configuration.metrics = metrics
            // Fits one value with its metadata.
            configuration.memoryLimit = 2_000
            configuration.memoryPressure = pressure
        }
        _ = try await fixture.loader.load(url)
        #expect(fixture.loader.counters.evictedValues == 0)
        _ = try await fixture.loader.load("https://example.com/b")
        #expect(fixture.loader.counters.evictedValues == 1)
        try await fixture.loader.clear(.memory)
        #expect(fixture.loader.counters.evictedValues == 1)
        _ = try await fixture.loader.load(url)
        pressure.signal(.critical)
        #expect(total("cacheloader.memory.evicted.values") == fixture.loader.counters.evictedValues)
        #expect(
            (1_000..<2_000).contains(total("cacheloader.memory.evicted.cost") / fixture.loader.counters.evictedValues))
        #expect(fixture.loader.counters.evictedValues == 2)
        #expect(total("cacheloader.memory.pressure", [("level", "critical")]) == 1)
        #expect(total("cacheloader.memory.pressure", [("level", "warning")]) == 0)
        pressure.signal(.warning)
        #expect(total("cacheloader.memory.pressure", [("level", "warning")]) == 1)
    }
}

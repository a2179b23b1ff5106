import CacheTier
import MetricsTestKit
import TestSupport

@Suite("Metrics and steps of a tier") struct TierObservationTests {
    private let metrics = TestMetrics()
    private let observer = Steps()

    private func machine(_ server: ObjectServer, keys: TierKeys? = nil) throws -> Machine {
        try Machine(server, keys: keys) {
            $0.name = "edge"
            $0.metrics = metrics
            $0.observer = observer
        }
    }

    private func total(_ label: String, _ dimension: (String, String)? = nil) throws -> Int64 {
        let dimensions = [("tier", "edge")] + (dimension.map { [$0] } ?? [])
        return try metrics.expectCounter("cachetier.\(label)", dimensions).totalValue
    }

    @Test("counts hits, misses and writes as in the statistics; each request to the tier is a step")
    func answers() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
        let first = try machine(server)
        try await first.get(origin.url("/a"))
        try await first.get(origin.url("/b"))
        let second = try machine(server)
        try await second.get(origin.url("/a"))
        #expect(try total("requests", ("result", "miss")) == 2)
        #expect(try total("requests", ("result", "hit")) == 1)
        #expect(try total("writes", ("result", "written")) == 2)
        #expect(try total("writes", ("result", "failed")) == 0)
        #expect(first.tier.statistics.misses == 2)
        #expect(second.tier.statistics.hits == 1)
        #expect(observer.results == [.miss, .miss, .hit])
        let step = try #require(observer.steps.last)
        #expect(step.kind == .upstreamLookup(.hit, name: "edge"))
        #expect(step.method == .get)
        #expect(step.url == origin.url("/a"))
        #expect(step.beganAt <= step.endedAt)
    }

    @Test("an answer of the tier has its own source: in responses, counters, record and store")
    func source() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { request in
            request.path == "/a" ? .ok("a".utf8, cacheControl: "max-age=60") : .status(.notFound)
        }
        #expect(try await machine(server).get(origin.url("/a")).source == .network)
        let machine = try machine(server)
        try machine.cache.store.startRecordingRequests()
        let answer = try await machine.get(origin.url("/a"))
        #expect(answer.source == .tier)
        #expect(answer.body == Data("a".utf8))
        #expect(try await machine.get(origin.url("/a")).source == .disk)
        #expect(machine.cache.counters.tierHits == 1)
        #expect(machine.cache.counters.misses == 0)
        try await machine.cache.store.flush()
        let counts = try machine.cache.store.query("SELECT hits, tier, misses FROM cache_requests").rows
        #expect(counts == [[.integer(1), .integer(1), .integer(0)]])
        #expect(try machine.cache.store.requestRecords().records.map(\.outcome) == [.tier, .hit])
    }

    @Test("counts errors, skipped requests, dropped writes and the open breaker")
    func outage() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
        let machine = try machine(server)
        server.setFault { _ in .status(.internalServerError) }
        for number in 0..<6 { try await machine.get(origin.url("/\(number)")) }
        #expect(try total("requests", ("result", "error")) == 5)
        #expect(try total("requests", ("result", "skipped")) == 1)
        #expect(try total("writes", ("result", "dropped")) == Int64(machine.tier.statistics.droppedWrites))
        #expect(observer.results == Array(repeating: .error, count: 5) + [.skipped])
        let breakers = try metrics.expectMeter("cachetier.breakers.open", [("tier", "edge")])
        #expect(breakers.lastValue == 1)
    }

    @Test("the list of counts contains each count once")
    func list() throws {
        let engine = try PlainEngine("http://127.0.0.1:9/tier", transport: DefaultTransport())
        let statistics = try Machine(engine).tier.statistics
        let properties = Mirror(reflecting: statistics).children.filter { $0.value is Int }.count
        let refusals = Mirror(reflecting: statistics.refused).children.count
        #expect(TierCount.all.count == properties + refusals)
        #expect(TierCount.all.filter(\.isRefusal).count == refusals)
        #expect(Set(TierCount.all.map(\.name)).count == TierCount.all.count)
        #expect(Set(TierCount.all.map { $0.path as AnyKeyPath }).count == TierCount.all.count)
    }

    @Test("counts refused objects by reason", .requirement("T3"))
    func refusals() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
        try await machine(server).get(origin.url("/a"))
        let other = try machine(server, keys: Machine.keys("1", secret: 3))
        try await other.get(origin.url("/a"))
        // The object of the URL.
        let refusals = other.tier.statistics.refused.forged
        #expect(refusals == 1)
        #expect(try total("refused", ("reason", "forged")) == Int64(refusals))
        #expect(try total("refused", ("reason", "unknownKey")) == 0)
    }

}

/// Records the steps that it receives.
private final class Steps: RequestObserver {
    /// Guards the steps.
    private let received = Mutex([RequestStep]())

    var steps: [RequestStep] { received.withLock { $0 } }

    var results: [RequestStep.UpstreamResult] {
        steps.compactMap { step in if case .upstreamLookup(let result, _) = step.kind { result } else { nil } }
    }

    func observe(_ step: RequestStep) { received.withLock { $0.append(step) } }

    func makeScope() -> RequestScope { { work in await work() } }
}

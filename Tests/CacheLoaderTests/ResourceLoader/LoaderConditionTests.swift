import TestSupport

/// LoadTableModelTests test the rules. These tests show that a loader follows its source and its configuration.
@Suite("ResourceLoader: conditions of the network", .timeLimit(.minutes(5))) struct LoaderConditionTests {
    private let origin = HeldOrigin()
    private let executor = InOrderExecutor()
    private let network = ManualReachability(conditions: .expensive)
    private let held: [Lane: NetworkConditions] = [.background: [.constrained, .expensive]]

    private func fixture(_ heldBack: [Lane: NetworkConditions]) throws -> LoaderFixture {
        try LoaderFixture(transport: origin.transport) { configuration in
            configuration.reachability = network
            configuration.heldBack = heldBack
        }
    }

    private func request(_ path: String, _ lane: Lane = .urgent) -> ResourceRequest {
        ResourceRequest("https://example.com\(path)", lane: lane)
    }

    private func begin(_ fixture: LoaderFixture, _ request: ResourceRequest) -> Task<String, any Error> {
        Task(executorPreference: executor) { try await fixture.loader.load(request).text }
    }

    /// Loads another resource. By its end, a load that was not held back would have sent its request.
    private func expectHeld(_ paths: [String], _ fixture: LoaderFixture) async throws {
        await executor.settled()
        origin.open("/other")
        let other = ResourceRequest("https://other.example/other", policy: .init(mode: .remoteOnly))
        for _ in 0..<3 { #expect(try await fixture.loader.load(other).text == "/other") }
        #expect(Set(origin.begun).isDisjoint(with: paths))
    }

    enum End: CaseIterable {
        case conditions, limits, source, urgentLoad, setLane
    }

    @Test(
        "A background load waits for the network until its conditions end, or its limit, source or lane changes",
        .requirement("H9"), arguments: End.allCases)
    func heldBack(_ end: End) async throws {
        let fixture = try fixture(held)
        let waiting = begin(fixture, request("/b", .background))
        try await expectHeld(["/b"], fixture)
        network.setConditions([.expensive, .lowPower])
        try await expectHeld(["/b"], fixture)
        var other: Task<String, any Error>?
        switch end {
        case .conditions: network.setConditions(.lowPower)
        case .limits: fixture.loader.configuration.heldBack = [:]
        case .source: fixture.loader.configuration.reachability = nil
        case .urgentLoad: other = begin(fixture, request("/b"))
        case .setLane: try fixture.loader.setLane(.urgent, of: request("/b"))
        }
        await origin.asked("/b")
        origin.open("/b")
        #expect(try await waiting.value == "/b")
        if let other { #expect(try await other.value == "/b") }
        #expect(origin.begun.count { $0 == "/b" } == 1)
    }

    @Test("Urgent loads begin, and stored content answers, in any lane and under any condition", .requirement("H9"))
    func notHeldBack() async throws {
        let fixture = try fixture([.background: [.constrained, .expensive, .lowPower]])
        network.setConditions([.constrained, .expensive, .lowPower])
        origin.open("/u")
        #expect(try await begin(fixture, request("/u")).value == "/u")
        #expect(try await fixture.loader.load(request("/u", .background)).source == .disk)
        let prefetch = fixture.loader.prefetch([request("/u")], heldBackBy: .expensive)
        #expect(await prefetch.finished().hits == 1)
    }

    @Test("A prefetch waits under its own conditions, until the resource is demanded", .requirement("H9"))
    func prefetch() async throws {
        let fixture = try fixture([:])
        let prefetch = fixture.loader.prefetch(["/1", "/2", "/3"].map { request($0) }, heldBackBy: .expensive)
        try await eventually { try ["/1", "/2", "/3"].allSatisfy { try fixture.loader.isLoading(request($0)) } }
        try await expectHeld(["/1", "/2", "/3"], fixture)
        // A background load without conditions.
        let demanded = begin(fixture, request("/2", .background))
        await origin.asked("/2")
        origin.open("/1", "/2", "/3")
        #expect(try await demanded.value == "/2")
        try await expectHeld(["/1", "/3"], fixture)
        network.setConditions(.constrained)
        #expect(await prefetch.finished().loaded == 3)
        #expect(origin.begun.filter { $0 != "/other" }.count == 3)
    }

    @Test("A held back prefetch can be cancelled, and sends nothing", .requirement("H9"))
    func cancelledPrefetch() async throws {
        let fixture = try fixture(held)
        let prefetch = fixture.loader.prefetch([request("/1"), request("/2")])
        try await eventually { try fixture.loader.isLoading(request("/2")) }
        prefetch.cancel()
        #expect(await prefetch.finished().cancelled == 2)
        network.setConditions([])
        try await expectHeld(["/1", "/2"], fixture)
    }

    @Test("A loader adopts the conditions of a new source, and drops those of the earlier one", .requirement("H9"))
    func otherSource() async throws {
        let fixture = try fixture(held)
        let other = ManualReachability(conditions: .constrained)
        fixture.loader.configuration.reachability = other
        let waiting = begin(fixture, request("/b", .background))
        network.setConditions([])
        try await expectHeld(["/b"], fixture)
        other.setConditions([])
        await origin.asked("/b")
        origin.open("/b")
        #expect(try await waiting.value == "/b")
    }

    @Test("One assignment changes limits and source in one step", .requirement("H9"))
    func oneAssignment() async throws {
        let fixture = try fixture(held)
        let waiting = begin(fixture, request("/b", .background))
        try await expectHeld(["/b"], fixture)
        let other = ManualReachability(conditions: .lowPower)
        var configuration = fixture.loader.configuration
        configuration.heldBack = [.background: .lowPower]
        configuration.reachability = other
        fixture.loader.configuration = configuration
        try await expectHeld(["/b"], fixture)
        other.setConditions([])
        await origin.asked("/b")
        origin.open("/b")
        #expect(try await waiting.value == "/b")
    }

    @Test("A prefetch waits again after the cancellation of a demand for its resource", .requirement("H9"))
    func cancelledDemand() async throws {
        let fixture = try fixture([.urgent: .expensive])
        let prefetch = fixture.loader.prefetch([request("/1")], heldBackBy: .expensive)
        try await eventually { try fixture.loader.isLoading(request("/1")) }
        let demanded = begin(fixture, request("/1"))
        await eventually { fixture.loader.waiterCount(of: request("/1")) >= 2 }
        demanded.cancel()
        await #expect(throws: LoadError.cancelled) { try await demanded.value }
        fixture.loader.configuration.heldBack = [:]
        try await expectHeld(["/1"], fixture)
        network.setConditions([])
        await origin.asked("/1")
        origin.open("/1")
        #expect(await prefetch.finished().loaded == 1)
    }

    @Test("Reachable hosts on a worse network begin no load that its conditions hold back", .requirement("H9"))
    func reachableOnOtherNetwork() async throws {
        let network = ManualReachability(unreachable: ["example.com"])
        let attempts = Counter()
        let transport = ScriptedTransport { request, _ throws(TransportError) in
            if request.path == "/b", attempts.next() == 1 { throw TransportError(.cannotConnect) }
            return .reply(200, [:], "good")
        }
        let fixture = try LoaderFixture(transport: transport) { configuration in
            configuration.retry = RetryPolicy()
            configuration.reachability = network
            configuration.heldBack = held
        }
        let waiting = begin(fixture, request("/b", .background))
        // Before and after the load is parked.
        await network.asked(2)
        network.becameReachable(in: .expensive)
        await executor.settled()
        for number in 0..<20 {
            let other = ResourceRequest("https://other.example/\(number)")
            #expect(try await fixture.loader.load(other).text == "good")
        }
        #expect(transport.requests.count { $0.path == "/b" } == 1)
        network.setConditions([])
        #expect(try await waiting.value == "good")
    }

    @Test(
        "Loads without a request fail immediately under any condition: a stored 404, and cacheOnly", .requirement("H9"))
    func withoutNetwork() async throws {
        let transport = ScriptedTransport { _, _ in .reply(404, [.cacheControl: "max-age=60"]) }
        let fixture = try LoaderFixture(transport: transport) { configuration in
            configuration.reachability = network
            configuration.heldBack = held
        }
        func status(_ request: ResourceRequest) async throws -> Int? {
            do throws(LoadError) {
                _ = try await fixture.loader.load(request)
            } catch .httpStatus(let error) {
                return error.status.code
            }
            return nil
        }
        // A loader stores no errors; a cache with the same store does.
        _ = try await fixture.cache.response(for: .to("/404")).bytes
        #expect(try await status(request("/404", .background)) == 404)
        #expect(transport.requestCount == 1)
        let stored = ResourceRequest(
            "https://example.com/unknown", policy: .init(mode: .cacheOnly), lane: .background)
        await #expect(throws: LoadError.self) { try await fixture.loader.load(stored) }
        #expect(transport.requestCount == 1)
    }

    @Test("A background revalidation held back for a minute is not a failure of its origin", .requirement("H9"))
    func heldRevalidation() async throws {
        let sleeper = ManualClock()
        let fields: HTTPFields = [.cacheControl: "max-age=10, stale-while-revalidate=86400", .eTag: "\"1\""]
        let transport = ScriptedTransport { _, _ in .reply(200, fields, "old") }
        let fixture = try LoaderFixture(transport: transport) { configuration in
            configuration.reachability = network
            configuration.heldBack = held
            configuration.sleep = sleeper.sleep
        }
        _ = try await fixture.loader.load(request("/a"))
        fixture.clock.advance(by: 20)
        #expect(try await fixture.loader.load(request("/a")).isStale)
        await sleeper.waitForSleeps(1)
        sleeper.advance(by: .seconds(60))
        await eventually { !fixture.cache.isRevalidating }
        #expect(transport.requestCount == 1)
        network.setConditions([])
        // Immediately, without a pause after a failure.
        #expect(try await fixture.loader.load(request("/a")).isStale)
        await eventually { transport.requestCount == 2 }
    }
}

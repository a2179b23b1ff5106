import CacheModels
import TestSupport

/// With a real loader, store and clock.
@Suite("ObservedResource and ResourceLoader", .timeLimit(.minutes(5)))
@MainActor
struct ObservedResourceLoadingTests {
    private let a = ResourceRequest("https://example.com/a")
    private let b = ResourceRequest("https://example.com/b")

    /// Answers with the path; requests for "/a" wait at the gate.
    private static func transport(_ gate: Gate) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            if request.path == "/a" { await gate.wait() }
            return .reply(200, [.cacheControl: "max-age=60"], request.path ?? "")
        }
    }

    private static func text(_ model: ObservedResource<Data>) -> String? {
        model.value.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func openGate() -> Gate {
        let gate = Gate()
        gate.open()
        return gate
    }

    // MARK: I4

    @Test("A stored stale value comes first, and survives a failed renewal", .requirement("I4"))
    func stale() async throws {
        let (gate, isFirst) = (Gate(), FirstTime())
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            if isFirst.isFirst() { return .reply(200, [.cacheControl: "max-age=60"], "one") }
            await gate.wait()
            return .reply(503)
        }
        _ = try await fixture.loader.load(a)
        fixture.clock.advance(by: 61)
        let model = ObservedResource(loader: fixture.loader)
        var states = model.states().makeAsyncIterator()
        model.bind(a)
        var log: [ResourceState<String>] = []
        while log.count < 4, let state = await states.next() {
            log.append(state.map { String(decoding: $0.value, as: UTF8.self) })
            if log.count == 3 { gate.open() }
        }
        #expect(
            log.map(\.brief) == [
                .idle, .loading(prior: nil), .loading(prior: "one"), .failed(.status(503, url: a.url), prior: "one"),
            ])
    }

    // MARK: I5

    @Test(
        "A then B from the network, A ends last; its abandonment decides whether its transfer continues",
        .requirement("I5", "E5"), arguments: [Abandonment.stop, .finishAndStore])
    func latestFromNetwork(abandonment: Abandonment) async throws {
        let gate = Gate()
        let fixture = try LoaderFixture(transport: Self.transport(gate))
        let model = ObservedResource(loader: fixture.loader)
        var a = a
        a.abandonment = abandonment
        model.bind(a)
        await gate.reached(1)
        model.bind(b)
        await model.settled()
        #expect(Self.text(model) == "/b")
        if abandonment == .stop {
            try await eventually { try !fixture.loader.isLoading(a) }
            gate.open()
        } else {
            #expect(try fixture.loader.isLoading(a))
            gate.open()
            try await eventually { try !fixture.loader.isLoading(a) }
        }
        #expect(try fixture.loader.contains(a) == (abandonment == .finishAndStore))
        #expect(Self.text(model) == "/b")
        #expect(model.state.value?.source == .network)
    }

    @Test(
        "A then B, either from the cache or from the network: the model ends with B", .requirement("I5"),
        arguments: [true, false], [true, false])
    func latest(isACached: Bool, isBCached: Bool) async throws {
        let fixture = try LoaderFixture(transport: Self.transport(Self.openGate()))
        if isACached { _ = try await fixture.loader.load(a) }
        if isBCached { _ = try await fixture.loader.load(b) }
        // Each round binds B at another point of A's load.
        for round in stride(from: 0, to: 50, by: 3) {
            let model = ObservedResource(loader: fixture.loader)
            let states = model.states()
            model.bind(a)
            for _ in 0..<round { await Task.yield() }
            model.bind(b)
            var log: [String?] = []
            for await state in states {
                log.append(state.value.map { String(decoding: $0.value, as: UTF8.self) })
                if log.last == "/b" { break }
            }
            // A's value may appear; it then disappears until B's.
            #expect([[nil, nil, nil, "/b"], [nil, nil, "/a", nil, "/b"]].contains(log))
            #expect(Self.text(model) == "/b")
            if !isACached { try await fixture.loader.remove(a) }
            if !isBCached { try await fixture.loader.remove(b) }
        }
    }

    // MARK: I7

    @Test(
        "Memory pressure releases a value without observers; observed again, it comes from disk, without a request",
        .requirement("I7"), arguments: MemoryPressure.allCases)
    func fromDisk(_ level: MemoryPressure) async throws {
        let transport = Self.transport(Self.openGate())
        let pressure = MemoryPressureSource()
        let fixture = try LoaderFixture(transport: transport) { $0.memoryPressure = pressure }
        let model = ObservedResource(loader: fixture.loader)
        model.beginObserving()
        model.bind(b)
        await model.settled()
        await Self.signal(level, of: pressure)
        #expect(Self.text(model) == "/b", "it has an observer")
        model.endObserving()
        #expect(Self.text(model) == "/b")
        await Self.signal(level, of: pressure)
        guard case .released = model.state else {
            Issue.record("released, not \(model.state)")
            return
        }
        #expect(model.value == nil)
        #expect(model.request == b)
        model.beginObserving()
        await model.settled()
        #expect(Self.text(model) == "/b")
        #expect(model.state.value?.source == .disk)
        #expect(transport.requestCount == 1)
    }

    @Test("A released value that the cache has lost comes back from the network", .requirement("I7"))
    func fromNetwork() async throws {
        let transport = Self.transport(Self.openGate())
        let pressure = MemoryPressureSource()
        let fixture = try LoaderFixture(transport: transport) { $0.memoryPressure = pressure }
        let model = ObservedResource(loader: fixture.loader)
        model.bind(b)
        await model.settled()
        await Self.signal(.warning, of: pressure)
        #expect(model.value == nil)
        #expect(try await fixture.loader.remove(b))
        let states = model.states()
        for await state in states { if case .loaded = state { break } }
        #expect(Self.text(model) == "/b")
        #expect(model.state.value?.source == .network)
        #expect(transport.requestCount == 2)
    }

    @Test("A released value in the loader's memory appears as soon as it is observed", .requirement("I7"))
    func fromMemory() async throws {
        let transport = Self.transport(Self.openGate())
        let pressure = MemoryPressureSource()
        let fixture = try LoaderFixture(transport: transport) {
            $0.memoryLimit = 1 << 20
            // The loader's memory keeps its values under pressure; the model does not.
            $0.memoryStress = StressLimits(warning: 1)
            $0.memoryPressure = pressure
        }
        let model = ObservedResource(loader: fixture.loader)
        model.bind(b)
        await model.settled()
        await Self.signal(.warning, of: pressure)
        #expect(model.value == nil)
        model.beginObserving()
        #expect(Self.text(model) == "/b")
        #expect(model.state.value?.source == .memory)
        #expect(model.presentation.shouldAnimate == false)
        #expect(transport.requestCount == 1)
    }

    @Test("A released model no longer listens to memory pressure", .requirement("I7"))
    func observation() throws {
        let pressure = MemoryPressureSource()
        let fixture = try LoaderFixture(transport: Self.transport(Self.openGate())) { $0.memoryPressure = pressure }
        let observers = pressure.observerCount
        var model: ObservedResource? = ObservedResource(loader: fixture.loader)
        #expect(pressure.observerCount == observers + 1)
        #expect(model?.value == nil)
        model = nil
        #expect(pressure.observerCount == observers)
    }

    /// Signals memory pressure, and returns after the models have responded, each in a task of the main actor.
    private static func signal(_ level: MemoryPressure, of source: MemoryPressureSource) async {
        source.signal(level)
        await Task { @MainActor in }.value
    }
}

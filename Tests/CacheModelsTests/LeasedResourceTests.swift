import CacheModels
import TestSupport

@Suite("LeasedResource", .timeLimit(.minutes(5))) struct LeasedResourceTests {
    private let request = ResourceRequest("https://example.com/a")

    private func states(_ resource: LeasedResource<Data>, _ count: Int) -> Task<[ResourceState<String>], Never> {
        let states = resource.states()
        return Task {
            await states.prefix(count).reduce(into: []) {
                $0.append($1.map { String(decoding: $0.value, as: UTF8.self) })
            }
        }
    }

    @Test("Two users, one request; the value stays when both are done", .requirement("E7"))
    func shared() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "no-store"], "body"))
        let fixture = try LoaderFixture(transport: transport)
        let resource = LeasedResource(request, loader: fixture.loader)
        let log = states(resource, 3)
        #expect(resource.leases == 0)
        resource.acquire()
        resource.acquire()
        await gate.reached(1)
        try resource.release()
        #expect(resource.state.isLoading)
        gate.open()
        #expect(await log.value == [.idle, .loading(prior: nil), .loaded("body")])
        try resource.release()
        #expect(resource.leases == 0)
        #expect(resource.value == Data("body".utf8))
        resource.acquire()
        #expect(resource.value == Data("body".utf8))
        #expect(transport.requestCount == 1)
    }

    @Test("The last release stops the transfer; acquiring again starts a new one", .requirement("E7", "E5"))
    func stopped() async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.scripted { _, _ throws(TransportError) in
            await gate.wait()
            if Task.isCancelled { throw TransportError(.cancelled) }
            return .reply(200, [.cacheControl: "max-age=60"], "body")
        }
        let resource = LeasedResource(request, loader: fixture.loader)
        let log = states(resource, 5)
        resource.acquire()
        resource.acquire()
        await gate.reached(1)
        try resource.release()
        #expect(resource.state.isLoading)
        try resource.release()
        #expect(resource.state.map(\.value) == .cancelled(prior: nil))
        // The transport has processed the cancellation: the gate holds no request.
        await eventually { gate.waiters == 0 }
        try await eventually { try !fixture.loader.isLoading(request) }
        #expect(try !fixture.loader.contains(request))
        gate.open()
        resource.acquire()
        #expect(
            await log.value == [
                .idle, .loading(prior: nil), .cancelled(prior: nil), .loading(prior: nil), .loaded("body"),
            ])
        #expect(transport.requestCount == 2)
    }

    @Test("A release without a lease throws, and changes nothing", .requirement("E7"))
    func unbalanced() throws {
        let resource = LeasedResource<Int>(ResourceRequest("a"), begin: { _ in AsyncStream { $0.finish() } })
        #expect(throws: LeaseError.notAcquired) { try resource.release() }
        resource.acquire()
        try resource.release()
        #expect(throws: LeaseError.notAcquired) { try resource.release() }
        #expect(resource.leases == 0)
        resource.acquire()
        #expect(resource.leases == 1)
    }

    @Test(
        "Memory pressure drops a value without leases; a new lease loads it again", .requirement("I7"),
        arguments: MemoryPressure.allCases)
    func pressure(_ level: MemoryPressure) async throws {
        let pressure = MemoryPressureSource()
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "body") }
        let fixture = try LoaderFixture(transport: transport) { $0.memoryPressure = pressure }
        let observers = pressure.observerCount
        var resource: LeasedResource? = LeasedResource(request, loader: fixture.loader)
        #expect(pressure.observerCount == observers + 1)
        let log = try states(#require(resource), 6)
        resource?.acquire()
        await eventually { resource?.value != nil }
        pressure.signal(level)
        #expect(resource?.value != nil, "a lease holds it")
        try resource?.release()
        #expect(resource?.value != nil)
        pressure.signal(level)
        #expect(resource?.value == nil)
        resource?.acquire()
        #expect(
            await log.value == [
                .idle, .loading(prior: nil), .loaded("body"), .released, .loading(prior: nil), .loaded("body"),
            ])
        // The store still has the content.
        #expect(transport.requestCount == 1)
        resource = nil
        await eventually { pressure.observerCount == observers }
    }

    @Test("A closure runs with the value and its lease, which keeps it under memory pressure", .requirement("E7"))
    func closure() async throws {
        let pressure = MemoryPressureSource()
        let transport = ScriptedTransport(.ok("body".utf8), .status(503))
        let fixture = try LoaderFixture(transport: transport) { $0.memoryPressure = pressure }
        let resource = LeasedResource(request, loader: fixture.loader)
        let count = try await resource.withValue { value in
            #expect(resource.leases == 1)
            pressure.signal(.critical)
            await Task.yield()
            #expect(resource.value == value)
            return value.count
        }
        #expect(count == 4)
        #expect(resource.leases == 0)
        await #expect(throws: CancellationError.self) {
            try await resource.withValue { _ in throw CancellationError() }
        }
        #expect(resource.leases == 0)
        pressure.signal(.critical)
        _ = try await fixture.loader.remove(request)
        // Throws the load's error, without calling the closure.
        let error = await #expect(throws: LoadError.self) {
            try await resource.withValue { _ in Issue.record("there is no value") }
        }
        #expect(error?.brief == .status(503, url: request.url))
        #expect(resource.leases == 0)
    }

    @Test("Cancelling a task that waits for the value ends its lease, and therefore the load", .requirement("E7"))
    func cancelledClosure() async throws {
        let gate = Gate()
        let fixture = try LoaderFixture(transport: ScriptedTransport.held(by: gate, .reply(200, [:], "body")))
        let resource = LeasedResource(request, loader: fixture.loader)
        let waiting = Task { try await resource.withValue { _ in Issue.record("there is no value") } }
        await gate.reached(1)
        waiting.cancel()
        await #expect(throws: LoadError.cancelled) { try await waiting.value }
        #expect(resource.leases == 0)
        #expect(resource.state.map(\.value) == .cancelled(prior: nil))
        gate.open()
    }

    @Test("Releasing a resource releases its load, and ends its states", .requirement("E7"))
    func deinitialisation() async throws {
        let script = LoadScript()
        var resource: LeasedResource? = LeasedResource(ResourceRequest("a"), begin: { script.begin($0) })
        let states = try #require(resource?.states())
        resource?.acquire()
        await eventually { !script.begun.isEmpty }
        resource = nil
        await script.hasStopped(0)
        let log = await states.reduce(into: []) { $0.append($1.map(\.value)) }
        #expect(log == [.idle, .loading(prior: nil)])
    }
}

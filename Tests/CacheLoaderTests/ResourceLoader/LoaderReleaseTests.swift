import CacheModels
import TestSupport

@Suite("ResourceLoader: release", .timeLimit(.minutes(5))) struct LoaderReleaseTests {
    private let request = ResourceRequest("https://example.com/a")

    /// Weak references to objects that must be released.
    private struct Witness {
        weak var loader: ResourceLoader?
        weak var store: ResponseStore?
        weak var transport: ScriptedTransport?

        var isGone: Bool { loader == nil && store == nil && transport == nil }
    }

    /// Creates a loader, begins an operation, and releases the loader.
    private func release<Kept>(
        _ transport: ScriptedTransport, _ configure: (inout ResourceLoader.Configuration) -> Void = { _ in },
        begin: (LoaderFixture) async throws -> Kept
    ) async throws -> (Witness, Kept) {
        let fixture = try LoaderFixture(transport: transport, configure: configure)
        let witness = Witness(loader: fixture.loader, store: fixture.store, transport: transport)
        return (witness, try await begin(fixture))
    }

    private func listeners(_ fixture: LoaderFixture, _ count: Int = 3) async -> [AsyncStream<LoadEvent<Data>>] {
        let streams = (0..<count).map { _ in fixture.loader.events(for: request) }
        await eventually { fixture.loader.waiterCount(of: request) == count }
        return streams
    }

    private func expectLast(_ streams: [AsyncStream<LoadEvent<Data>>], _ name: String) async {
        for stream in streams {
            let events = await stream.all
            expectGrammatical(events)
            #expect(events.last?.name == name)
        }
    }

    @Test("With a parked load: its waiters get an error, and nothing is left", .requirement("K6"))
    func parked() async throws {
        let reachability = ManualReachability(unreachable: ["example.com"])
        let (witness, streams) = try await release(
            ScriptedTransport { _, _ throws(TransportError) in throw TransportError(.cannotConnect) },
            { configuration in
                configuration.retry = RetryPolicy()
                configuration.reachability = reachability
            },
            begin: { fixture in
                let streams = await listeners(fixture)
                // Once before the load is parked, once after.
                await reachability.asked(2)
                return streams
            })
        await expectLast(streams, "cancelled")
        await eventually { witness.isGone }
    }

    @Test("With a load that waits in a closed lane", .requirement("K6"))
    func queued() async throws {
        let (witness, streams) = try await release(
            ScriptedTransport { _, _ in .reply(200) }, { $0.lanes.urgent = 0 }, begin: { await listeners($0) })
        await expectLast(streams, "cancelled")
        await eventually { witness.isGone }
    }

    @Test(
        "A transfer continues for its waiters after the loader is released, and leaks nothing", .requirement("K6"),
        arguments: [true, false])
    func running(finishes: Bool) async throws {
        let gate = Gate()
        let (witness, streams) = try await release(
            ScriptedTransport { _, _ in
                await gate.wait()
                return .reply(200, [:], "late")
            },
            begin: { fixture in
                let streams = await listeners(fixture)
                await gate.reached(1)
                if !finishes { fixture.loader.cancelAll() }
                return streams
            })
        gate.open()
        await expectLast(streams, finishes ? "completed network" : "cancelled")
        await eventually { witness.isGone }
    }

    @Test("cancelAll ends every waiter, even of a transport that ignores its cancellation", .requirement("K6"))
    func heedlessTransport() async throws {
        let body = FedBody("ha", heedsCancellation: false)
        let (witness, loads) = try await release(
            ScriptedTransport { _, _ in body.response() },
            begin: { fixture in
                let loads = (0..<10).map { _ in
                    Task { [request, loader = fixture.loader] in try await loader.load(request).text }
                }
                await eventually { fixture.loader.waiterCount(of: request) == 10 }
                await body.asked(2)
                fixture.loader.cancelAll()
                return loads
            })
        // Too late: each load has its result.
        body.feed("lf")
        body.end()
        for load in loads { await #expect(throws: LoadError.cancelled) { try await load.value } }
        await eventually { witness.isGone }
    }

    @Test("With running handlers, handles, leases, models and a prefetch", .requirement("K6"))
    func everything() async throws {
        let gate = Gate()
        let (witness, kept) = try await release(
            ScriptedTransport { request, _ in
                await gate.wait()
                return .reply(200, [.cacheControl: "max-age=60"], request.path ?? "")
            },
            begin: { fixture in
                let handle = fixture.loader.start(request, on: Home()) { _, _ in }
                let prefetch = fixture.loader.prefetch((0..<10).map { ResourceRequest("https://example.com/\($0)") })
                let resource = LeasedResource(request, loader: fixture.loader)
                resource.acquire()
                let states = resource.states()
                let model = await ObservedResource(loader: fixture.loader)
                await model.bind(request)
                await gate.reached(1)
                return (handle, prefetch, states)
            })
        gate.open()
        #expect(await kept.1.finished().completed == 10)
        // The scope has released both the model and the lease.
        for await _ in kept.2 {}
        kept.0.cancel()
        await eventually { witness.isGone }
    }

    private actor Home {}

    @Test("Loaders are independent: the operations of one do not affect the other", .requirement("K6"))
    func independent() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { request, _ in
            await gate.wait()
            return .reply(200, [.cacheControl: "max-age=60"], request.path ?? "")
        }
        let (first, second) = (try LoaderFixture(transport: transport), try LoaderFixture(transport: transport))
        second.loader.configuration.memoryLimit = 1 << 20
        let before = second.loader.configuration.lanes
        first.loader.configuration.lanes = LaneWidths(urgent: 1, background: 0, perHost: 1)
        first.loader.configuration.memoryLimit = 1
        async let kept = second.loader.load(request)
        await gate.reached(1)
        let cancelled = Task { try await first.loader.load(request) }
        await gate.reached(2)
        first.loader.cancelAll()
        await #expect(throws: LoadError.cancelled) { try await cancelled.value }
        gate.open()
        #expect(try await kept.text == "/a")
        try await first.loader.clear(.all)
        first.loader.evictMemory()
        first.store.close()
        #expect(second.loader.configuration.lanes == before)
        #expect(try await second.loader.load(request).source == .memory)
        #expect(try second.loader.contains(request))
    }
}

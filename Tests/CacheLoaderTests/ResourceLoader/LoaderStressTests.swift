import CacheModels
import TestSupport

@Suite("ResourceLoader: concurrent use of the whole interface", .timeLimit(.minutes(20))) struct LoaderStressTests {
    private static let taskCount = 50
    /// The number of operations of each task.
    private static let operationCount = Repetitions.count(1_000, debug: 200)

    /// The objects that must be released at the end.
    private struct Witness {
        weak var loader: ResourceLoader?
        weak var store: ResponseStore?
        weak var transport: BusyOrigin?
        weak var lease: LeasedResource<Data>?

        var isGone: Bool { loader == nil && store == nil && transport == nil && lease == nil }
    }

    @Test("50 tasks perform 1,000 operations each: no leak, a second loader is unaffected", .requirement("K6"))
    func everything() async throws {
        let seed = SeededGenerator()
        let neighbour = try LoaderFixture(
            transport: ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "neighbour") })
        _ = try await neighbour.loader.load("https://example.com/0")
        let lanes = neighbour.loader.configuration.lanes

        let pressure = MemoryPressureSource()
        let (witness, counts) = try await use(pressure, seed)
        await eventually { witness.isGone }
        #expect(pressure.observerCount == 0)
        // Every exchange has ended, and every body was released.
        #expect(counts.openExchanges == 0, "\(seed)")
        #expect(counts.openBodies == 0, "\(seed)")
        #expect(counts.exchanges > 0)

        #expect(neighbour.loader.configuration.lanes == lanes)
        #expect(try await neighbour.loader.load("https://example.com/0").source == .disk)
        #expect(try neighbour.store.statistics().entries == 1)
    }

    /// Runs all tasks on a loader, ends it, and releases it.
    private func use(
        _ pressure: MemoryPressureSource, _ seed: SeededGenerator
    ) async throws -> (Witness, BusyOrigin.Counts) {
        let counts = BusyOrigin.Counts()
        let origin = BusyOrigin(counts, seed: seed.seed)
        let fixture = try LoaderFixture(transport: origin, limits: Limits(maxBytes: 200_000, maxEntries: 45)) {
            $0.memoryLimit = 20_000
            $0.memoryPressure = pressure
            $0.retry = RetryPolicy(maxAttempts: 3)
            // Long enough for other tasks to progress.
            $0.sleep = { _ in
                await Task.yield()
                try Task.checkCancellation()
            }
        }
        let leases = (0..<4).map { LeasedResource(Self.request($0), loader: fixture.loader) }
        let witness = Witness(loader: fixture.loader, store: fixture.store, transport: origin, lease: leases.first)
        let performed = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<Self.taskCount {
                group.addTask {
                    var operations = LoaderOperations(SeededGenerator(seed: seed.seed &+ UInt64(task)))
                    for _ in 0..<Self.operationCount { try await operations.perform(on: fixture, pressure, leases) }
                    return operations.count
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(performed == Self.taskCount * Self.operationCount)
        #expect(leases.allSatisfy { $0.leases == 0 }, "\(seed)")
        fixture.loader.cancelAll()
        // The cancellation includes unattended prefetches, and reaches their origin.
        await eventually { counts.openExchanges == 0 }
        for number in 0..<LoaderOperations.urlCount {
            #expect(fixture.loader.waiterCount(of: Self.request(number)) == 0, "\(seed)")
        }
        try await fixture.store.flush()
        #expect(try await fixture.store.check(digests: true).problems == [], "\(seed)")
        #expect(try fixture.store.statistics().entries <= 45, "\(seed)")
        fixture.store.close()
        return (witness, counts)
    }

    private static func request(_ number: Int) -> ResourceRequest { ResourceRequest(LoaderOperations.url(number)) }
}

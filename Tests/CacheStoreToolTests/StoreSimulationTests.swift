import CacheReports
import TestSupport

@Suite("Simulated stores")
struct StoreSimulationTests {
    private func replay(
        _ requests: [(Int, Int64)], _ policy: EvictionPolicy, _ limits: Limits
    ) throws -> (hits: [Bool], result: StoreSimulation.Result) {
        let simulation = try StoreSimulation(policy, limits: limits)
        var hits: [Bool] = []
        for (name, byteCount) in requests {
            hits.append(try simulation.request(CacheKey(name: "\(name)"), byteCount: byteCount))
        }
        return (hits, try simulation.finish())
    }

    @Test("hits and misses equal those of the real store", arguments: EvictionPolicy.allCases)
    func sameAsStore(_ policy: EvictionPolicy) async throws {
        var generator = SeededGenerator()
        let directory = try TemporaryDirectory()
        let limits = Limits(maxBytes: 200_000, lowWaterMark: 1)
        var configuration = ResponseStore.Configuration()
        configuration.limits = limits
        configuration.evictionPolicy = policy
        let store = try ResponseStore(directory: directory.url.appending(path: "store"), configuration: configuration)
        let simulation = try StoreSimulation(policy, limits: limits)
        var (hits, same) = (0, 0)
        for _ in 0..<600 {
            // Lower numbers are requested more often. Each body has a different length, and some are too large.
            let name = Int.random(in: 0..<60, using: &generator) * .random(in: 0..<2, using: &generator)
            let byteCount = 100 + name * 450
            let key = try CacheKey(name: "\(name)")
            let isHit = try simulation.request(key, byteCount: Int64(byteCount))
            let isStored = try store.lookup(key) != nil
            if !isStored, byteCount <= 25_000 {
                var body = Data(repeating: 0, count: byteCount)
                body.replaceSubrange(0..<8, with: withUnsafeBytes(of: name) { Data($0) })
                let metadata = EntryMetadata(requestedAt: Date(), receivedAt: Date())
                try await store.insert(body, metadata: metadata, for: key)
                try await store.flush()
            }
            hits += isHit ? 1 : 0
            same += isHit == isStored ? 1 : 0
        }
        // Index pages count, and rows vary in length with keys and fields.
        #expect(same >= 570, "\(same) \(hits) \(generator)")
        #expect((100..<600).contains(hits), "\(same) \(hits) \(generator)")
    }

    @Test("a stored entry hits even if its length changed; bodies above the limits are not stored")
    func limits() throws {
        let (hits, result) = try replay(
            [(1, 101), (1, 101), (2, 100), (2, 0), (2, 500), (3, 0), (3, 0)], .valueAware, Limits(maxEntryBytes: 100))
        #expect(hits == [false, false, false, true, true, false, true])
        #expect(result.requests == 7)
        #expect(result.hits == 3)
        #expect(result.requestedBytes == 802)
        #expect(result.hitBytes == 500)
        #expect(result.evictedEntries == 0)
    }

    @Test("a simulation leaves no files")
    func end() throws {
        var simulation: StoreSimulation? = try StoreSimulation(.valueAware, limits: Limits())
        let directory = try #require(simulation?.directory)
        #expect(FileManager.default.fileExists(atPath: directory))
        simulation = nil
        #expect(!FileManager.default.fileExists(atPath: directory))
    }
}

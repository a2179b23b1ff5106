import CacheStore
import CacheStoreTool
import Foundation
import Synchronization
import Testing

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

    @Test("hits and misses are those of the store itself", arguments: EvictionPolicy.allCases)
    func sameAsStore(_ policy: EvictionPolicy) async throws {
        var generator = FixedSequence()
        let directory = FileManager.default.temporaryDirectory.appending(path: "CacheStoreTests-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        let clock = Seconds()
        let limits = Limits(maxBytes: 200_000, lowWaterMark: 1)
        var configuration = ResponseStore.Configuration()
        configuration.limits = limits
        configuration.evictionPolicy = policy
        configuration.clock = { clock.now }
        configuration.touchInterval = .seconds(3600)
        let store = try ResponseStore(directory: directory, configuration: configuration)
        defer { store.close() }
        let simulation = try StoreSimulation(policy, limits: limits)
        var (hits, same) = (0, 0)
        for _ in 0..<600 {
            // The lower, the more often; each with a length of its own, some of them too large.
            let name = Int.random(in: 0..<60, using: &generator) * .random(in: 0..<2, using: &generator)
            let byteCount = 100 + name * 450
            let key = try CacheKey(name: "\(name)")
            let isHit = try simulation.request(key, byteCount: Int64(byteCount))
            clock.advance()
            let isStored = try store.lookup(key) != nil
            if !isStored, byteCount <= 25_000 {
                try await store.insert(
                    Data(repeating: UInt8(name), count: byteCount),
                    metadata: EntryMetadata(requestedAt: clock.now, receivedAt: clock.now), for: key)
                try await store.flush()
            }
            hits += isHit ? 1 : 0
            same += isHit == isStored ? 1 : 0
        }
        // Pages of the index count, and keys and fields make rows of somewhat different lengths.
        #expect(same >= 570 && (100..<600).contains(hits), "\(same) \(hits)")
    }

    /// Numbers that look random and are the same in every run (Knuth, TAOCP 2, 3.3.4).
    private struct FixedSequence: RandomNumberGenerator {
        private var state: UInt64 = 1

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 32
        }
    }

    /// A clock that is advanced by hand.
    private final class Seconds: Sendable {
        private let count = Atomic(0)

        var now: Date { Date(timeIntervalSince1970: 1_700_000_000 + Double(count.load(ordering: .relaxed))) }

        func advance() {
            count.wrappingAdd(1, ordering: .relaxed)
        }
    }

    @Test("no policy writes more for the same hits and evictions")
    func writes() throws {
        // What is asked for once, of one size, among what is asked for always: both policies take the same.
        let requests = (0..<4_000).map { ($0 % 4 == 0 ? $0 : $0 % 4, Int64(2_000)) }
        let limits = Limits(maxEntries: 500)
        let least = try replay(requests, .leastRecentlyUsed, limits)
        let aware = try replay(requests, .valueAware, limits)
        #expect(least.hits == aware.hits && least.result.hits == 2_997)
        #expect(least.result.evictedEntries == aware.result.evictedEntries && least.result.evictedEntries > 400)
        // The age is in a row that a removal writes anyway: once for each transaction that evicts, and in the same pages.
        let evictions = aware.result.evictedEntries
        #expect(aware.result.rowsWritten - least.result.rowsWritten <= evictions)
        #expect(Double(aware.result.rowsWritten) <= 1.01 * Double(least.result.rowsWritten))
        #expect(Double(aware.result.pagesWritten) <= 1.01 * Double(least.result.pagesWritten))
    }

    @Test("what is there answers, whatever its length now; larger bodies than the limits allow are not stored")
    func limits() throws {
        let (hits, result) = try replay(
            [(1, 101), (1, 101), (2, 100), (2, 0), (2, 500), (3, 0), (3, 0)], .valueAware, Limits(maxEntryBytes: 100))
        #expect(hits == [false, false, false, true, true, false, true])
        #expect(result.requests == 7 && result.hits == 3 && result.requestedBytes == 802 && result.hitBytes == 500)
        #expect(result.evictedEntries == 0)
    }

    @Test("nothing of a simulation is left")
    func end() throws {
        var simulation: StoreSimulation? = try StoreSimulation(.valueAware, limits: Limits())
        let directory = try #require(simulation?.directory)
        #expect(FileManager.default.fileExists(atPath: directory))
        simulation = nil
        #expect(!FileManager.default.fileExists(atPath: directory))
    }
}

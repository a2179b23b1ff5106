import Logging
import MetricsTestKit
import TestSupport

@Suite("StoreCounters")
struct StoreCountersTests {
    let sandbox = Sandbox()
    let metrics = TestMetrics()
    let log = EventLog()

    private func open(
        logsEviction: Bool = true, _ configure: (inout ResponseStore.Configuration) -> Void = { _ in }
    ) throws -> ResponseStore {
        try sandbox.open { configuration in
            configuration.metrics = metrics
            configuration.logger = log.logger
            configuration.logsEviction = logsEviction
            configure(&configuration)
        }
    }

    private func fill(_ store: ResponseStore, _ count: Int, hasBodies: Bool = true) throws {
        for number in 0..<count {
            try store.insert(
                Data(hasBodies ? "body \(number)".utf8 : "".utf8), metadata: sandbox.metadata(), for: .path(number))
        }
    }

    @Test("evictions by limits are counted, and logged only on request", .requirement("I8"), arguments: [true, false])
    func limits(logsEviction: Bool) async throws {
        let store = try open(logsEviction: logsEviction) { $0.limits = Limits(maxEntries: 5) }
        try fill(store, 4)
        #expect(store.counters.evictedEntries == 0)
        try fill(store, 20)
        // Waits for the store's background evictions.
        try await store.flush()
        let left = try store.statistics().entries
        store.observation.wait()
        #expect(store.counters.evictedEntries == Int64(20 - left))
        #expect(metrics.counterTotal(label: "cachestore.evicted.entries") == Int64(20 - left))
        #expect(store.counters.evictedBytes == metrics.counterTotal(label: "cachestore.evicted.bytes"))
        #expect(store.counters.evictedBytes > 0)
        let told = log.entries.filter { $0.message == "evicted entries" }
        #expect(told.allSatisfy { $0.level == .debug && Set($0.metadata.keys) == ["entries", "bytes"] })
        let sum = told.reduce(0) { $0 + (Int($1.metadata["entries"]?.description ?? "") ?? 0) }
        #expect(sum == (logsEviction ? 20 - left : 0))
    }

    @Test("counts an eviction on request; not a dry run or a removal", .requirement("I8"))
    func onRequest() throws {
        let store = try open()
        try fill(store, 10)
        try store.evict(.maxEntries(2), dryRun: true)
        try store.remove(.path(9))
        #expect(store.counters.evictedEntries == 0)
        let report = try store.evict(.maxEntries(2))
        #expect(report.entries == 7)
        #expect(store.counters.evictedEntries == 7)
        #expect(store.counters.evictedBytes == report.bytes)
    }

    @Test("a damaged body is counted once", .requirement("I8"))
    func damage() throws {
        let store = try open()
        let entry = try store.insert(Data("body".utf8), metadata: sandbox.metadata(), for: .path("a"))
        try FileManager.default.removeItem(at: sandbox.file(of: #require(entry.digest)))
        for _ in 0..<2 { #expect(try store.openBody(of: entry) == nil) }
        #expect(store.counters.damagedBodies == 1)
        store.observation.wait()
        #expect(metrics.counterTotal(label: "cachestore.damaged.bodies") == 1)
    }

    @Test("Pending accesses reach the index in few transactions if no other writer waits")
    func accesses() throws {
        let store = try open()
        try fill(store, 600, hasBodies: false)
        try store.flush()
        store.observation.wait()
        let timer = try metrics.expectTimer("cachestore.transaction.duration")
        let count = timer.values.count
        for number in 0..<600 { #expect(try store.lookup(.path(number)) != nil) }
        try store.flush()
        store.observation.wait()
        // A flush also runs one transaction to delete files. Each other transaction writes at least 128 accesses.
        #expect((count + 2...count + 6).contains(timer.values.count))
        #expect(try store.statistics().hits == 600)
    }

    @Test("a removal of everything removes many failures in several transactions")
    func failures() throws {
        let store = try open()
        for number in 0..<300 { try store.recordFailure(for: .path(number), status: 500) }
        store.observation.wait()
        let timer = try metrics.expectTimer("cachestore.transaction.duration")
        let count = timer.values.count
        #expect(try store.removeAll(.everything).failures == 300)
        store.observation.wait()
        #expect(timer.values.count >= count + 300 / 64)
        #expect(try store.statistics().failingKeys == 0)
    }

    @Test("each transaction is timed, and counted as busy if another connection holds the lock", .requirement("I8"))
    func busy() throws {
        let store = try open { $0.busyTimeout = .zero }
        try fill(store, 1)
        store.observation.wait()
        let timer = try metrics.expectTimer("cachestore.transaction.duration")
        let count = timer.values.count
        #expect(count > 0)
        #expect(timer.values.allSatisfy { $0 > 0 })
        let hold = try metrics.expectTimer("cachestore.transaction.hold")
        #expect(hold.values.count == count)
        #expect(zip(hold.values, timer.values).allSatisfy { $0 > 0 && $0 <= $1 })
        let other = try RawIndex(sandbox.indexPath)
        try other.execute("BEGIN IMMEDIATE")
        #expect(throws: StoreError.self) { try fill(store, 1) }
        #expect(store.counters.busyTransactions == 1)
        store.observation.wait()
        #expect(metrics.counterTotal(label: "cachestore.transactions.busy") == 1)
        try other.execute("ROLLBACK")
        try fill(store, 1)
        #expect(store.counters.busyTransactions == 1)
        store.observation.wait()
        #expect(timer.values.count == count + 2)
    }
}

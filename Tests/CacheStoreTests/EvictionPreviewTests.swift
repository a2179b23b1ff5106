import CacheStore
import Foundation
import TestSupport
import Testing

/// A dry run of an eviction says what the eviction then does.
@Suite("Dry runs of evictions")
struct EvictionPreviewTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    /// Stores entries at random: some with the same body, some without, some expired, pinned or of the session, some used.
    private func fill(_ store: ResponseStore, _ count: Int, using generator: inout SeededGenerator) throws {
        for number in 0..<count {
            let byteCount = [0, 1, 700, 5_000].randomElement(using: &generator) ?? 0
            let body = Data.noise(byteCount, seed: .random(in: 0..<UInt64(count / 2 + 1), using: &generator))
            let lifetime = ([nil, 50, 5_000] as [TimeInterval?]).randomElement(using: &generator) ?? nil
            let options = EntryOptions(
                lifetime: .random(using: &generator) ? .session : .permanent,
                isPinned: Int.random(in: 0..<5, using: &generator) == 0)
            try store.insert(
                body, metadata: sandbox.metadata(expiresIn: lifetime), for: .path(number), options: options)
            sandbox.clock.advance(by: .random(in: 0...2, using: &generator))
        }
        for number in 0..<count where Bool.random(using: &generator) {
            _ = try store.lookup(.path(number))
            sandbox.clock.advance(by: .random(in: 0...2, using: &generator))
        }
        // A dry run reads what is in the index.
        try store.flush()
    }

    private func state() throws -> [[String?]] {
        try RawIndex(sandbox.indexPath).rows("SELECT * FROM entry ORDER BY id")
            + RawIndex(sandbox.indexPath).rows("SELECT * FROM blob ORDER BY digest")
            + RawIndex(sandbox.indexPath).rows("SELECT * FROM total")
    }

    @Test("what a dry run counts is what the eviction removes, and it changes nothing", arguments: 0..<24)
    func sameReport(_ round: Int) async throws {
        var generator = SeededGenerator()
        let store = try sandbox.open { $0.evictionPolicy = round < 12 ? .leastRecentlyUsed : .valueAware }
        // Up to one transaction of the eviction: the next ones look at the pages of the index anew.
        try fill(store, .random(in: 0...Connection.evictionBite, using: &generator), using: &generator)
        let held = try store.statistics()
        let rule: EvictionRule =
            switch round % 4 {
            case 0: .maxBytes(.random(in: 0...held.physicalBytes + held.indexBytes, using: &generator))
            case 1: .maxEntries(.random(in: 0...held.entries, using: &generator))
            case 2: .unusedFor(.seconds(.random(in: 0..<600, using: &generator)))
            default: .olderThan(.seconds(.random(in: 0..<600, using: &generator)))
            }
        let before = (try state(), sandbox.files())
        let dry = try await store.evict(rule, dryRun: true)
        #expect(try state() == before.0 && sandbox.files() == before.1, "\(generator)")
        let report = try await store.evict(rule)
        if case .maxBytes = rule {
            // Pages of the index become free later than the rows in them, so a few pages' entries more may have to go.
            #expect((dry.entries...dry.entries + 32).contains(report.entries), "\(rule) \(generator)")
        } else {
            #expect(report == dry, "\(rule) \(generator)")
        }
        #expect(try store.statistics().entries == held.entries - report.entries)
        #expect(try store.statistics().physicalBytes == held.physicalBytes - report.bytes)
        #expect(try await store.check(digests: true).problems == [], "\(generator)")
    }

    @Test("a rule that does not look at the pages of the index is exact in any number of transactions")
    func manyBites() throws {
        var generator = SeededGenerator()
        let store = try sandbox.open()
        try fill(store, 3 * Connection.evictionBite, using: &generator)
        for limit in [700, 300, 0] {
            let dry = try store.evict(maxEntries: limit, dryRun: true)
            #expect(try store.evict(maxEntries: limit) == dry, "\(generator)")
        }
        let dry = try store.evict(maxBytes: 0, dryRun: true)
        #expect(try store.evict(maxBytes: 0) == dry)
    }

    @Test("a shared body counts once, and only with the last entry that needs it")
    func shared() throws {
        let store = try sandbox.open()
        for number in 0..<4 {
            try store.insert(
                Data(repeating: 7, count: 100), metadata: sandbox.metadata(), for: .path(number),
                options: EntryOptions(isPinned: number == 3))
            sandbox.clock.advance(by: 1)
        }
        let others = try store.evict(maxEntries: 0, dryRun: true)
        #expect(others.entries == 3 && others.bytes == 0)
        try store.setOptions(EntryOptions(isPinned: false), for: .path(3))
        #expect(try store.evict(maxEntries: 1, dryRun: true).bytes == 0)
        let all = try store.evict(unusedFor: .zero, dryRun: true)
        #expect(all.entries == 4 && all.bytes == 100)
    }

    @Test("a store that is only read can be asked")
    func readOnly() throws {
        let store = try sandbox.open()
        try store.insert(Data("hello".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let reader = try sandbox.open { $0.isReadOnly = true }
        let report = try reader.evict(maxBytes: 0, dryRun: true)
        #expect(report.entries == 1 && report.bytes == 5)
        #expect(throws: StoreError.self) { try reader.evict(maxBytes: 0) }
        #expect(try store.statistics().entries == 1)
    }

    @Test("no dry run reads a table through, or sorts")
    func plans() throws {
        let store = try sandbox.open()
        try store.insert(Data("hello".utf8), metadata: sandbox.metadata(expiresIn: 1), for: .path("a"))
        store.close()
        let connection = try Connection(path: sandbox.indexPath, role: .reader, busyTimeout: .seconds(1))
        for rule in [EvictionRule.maxBytes(0), .maxEntries(0), .unusedFor(.zero), .olderThan(.zero)] {
            _ = try connection.preview(of: rule, now: .max)
        }
        let index = try RawIndex(sandbox.indexPath)
        let plans = try connection.preparedSQL.flatMap {
            try index.rows("EXPLAIN QUERY PLAN \($0)").compactMap { $0[3] }
        }
        for step in plans where !["SCAN total", "SCAN state"].contains(step) {
            #expect((!step.contains("SCAN") || step.contains(" USING ")) && !step.contains("TEMP B-TREE"), "\(plans)")
        }
        #expect(plans.count { $0.contains("INDEX") } >= 4)
    }
}

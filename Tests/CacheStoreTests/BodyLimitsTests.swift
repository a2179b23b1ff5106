import TestSupport

@Suite("Limits of bodies")
struct BodyLimitsTests {
    let sandbox = Sandbox()

    func open(_ limits: Limits) throws -> ResponseStore { try sandbox.open { $0.limits = limits } }

    @Test("limits have the given values, within their range")
    func values() {
        #expect(Limits(maxBytes: 8_000).maxEntryBytes == 1_000)
        #expect(Limits(maxBytes: 8_000, maxEntryBytes: 9_000).maxEntryBytes == 9_000)
        #expect(Limits(maxEntries: 5).maxEntryBytes == nil)
        #expect(Limits(maxBytes: .max).maxEntryBytes == .max / 8)
        #expect(Limits(maxBytes: -1, maxEntries: -1).maxBytes == 0)
        #expect(Limits(maxBytes: -1, maxEntries: -1).maxEntries == 0)
        #expect(Limits(maxBytes: .min).maxEntryBytes == 0)
        #expect(Limits().lowWaterMark == 0.9)
        for (given, kept) in [(-1, 0), (2, 1), (.infinity, 1), (-.infinity, 0), (0.25, 0.25)] as [(Double, Double)] {
            #expect(Limits(lowWaterMark: given).lowWaterMark == kept)
        }
        #expect((0...1).contains(Limits(lowWaterMark: .nan).lowWaterMark))
    }

    @Test("a body above its limit, in one chunk or many, is refused; the old entry stays", .requirement("J5"))
    func bodyTooLarge() throws {
        let store = try open(Limits(maxBytes: 80_000))
        let old = try store.insert(Data("old".utf8), metadata: sandbox.metadata(), for: .path("a"))
        #expect(throws: StoreError.bodyTooLarge(limit: 10_000)) {
            try store.insert(Data.noise(10_001, seed: 1), metadata: sandbox.metadata(), for: .path("a"))
        }
        do {
            let writer = store.makeBodyWriter()
            for _ in 0..<10 { try writer.write(Data(repeating: 1, count: 1_000)) }
            #expect(throws: StoreError.bodyTooLarge(limit: 10_000)) { try writer.write(Data([1])) }
            #expect(throws: StoreError.closed) { try writer.write(Data([1])) }
            #expect(throws: StoreError.closed) { try writer.commit(sandbox.metadata(), for: .path("a")) }
            #expect(try writer.written().data() == Data(repeating: 1, count: 10_000))
        }
        #expect(try store.peek(.path("a")) == old)
        #expect(sandbox.files().count == 1)
        try store.insert(Data.noise(10_000, seed: 1), metadata: sandbox.metadata(), for: .path("a"))
        #expect(try store.check(digests: true).isSound)
    }

    @Test(
        "a store works with limits of zero, with the largest limits and with edited sums",
        arguments: [
            (Limits(maxBytes: 0, maxEntryBytes: .max), 0), (Limits(maxEntries: 0), 0),
            (Limits(maxBytes: 0, maxEntries: 0, maxEntryBytes: 5, lowWaterMark: 0), 0),
            (Limits(maxBytes: .max, maxEntries: .max), 3),
            (Limits(maxBytes: .max, maxEntries: .max, maxEntryBytes: .max, lowWaterMark: 1), 3),
            (Limits(maxBytes: .max - 1, maxEntryBytes: .max, lowWaterMark: 0), 3),
        ])
    func extremes(_ limits: Limits, _ count: Int) async throws {
        let store = try open(limits)
        for number in 0..<3 {
            let body = Data(limits.maxBytes == 0 ? "".utf8 : "\(number)".utf8)
            // A put throws if the limits leave room for no entry.
            do {
                try await store.insert(body, metadata: sandbox.metadata(), for: .path(number))
            } catch StoreError.exceedsLimits {}
        }
        try await store.flush()
        #expect(try store.statistics().entries == (limits.maxBytes == 0 && limits.maxEntries == nil ? 3 : count))
        for sql in [
            "UPDATE total SET physical_bytes = \(Int64.max)",
            "UPDATE total SET physical_bytes = \(Int64.max), unused_id = \(Int64.max)",
            "UPDATE total SET physical_bytes = \(Int64.min), entry_count = \(Int64.min)",
            "UPDATE total SET entry_count = \(Int64.max)",
        ] {
            try RawIndex(sandbox.indexPath).execute(sql)
            _ = try? await store.insert(Data("x".utf8), metadata: sandbox.metadata(), for: .path("x"))
            try? await store.flush()
            _ = try await store.repair()
            #expect(try await store.check(digests: true).isSound)
        }
    }

    @Test("discarded bodies evict nothing", .requirement("J5"))
    func discarded() async throws {
        let store = try open(Limits(maxBytes: 300_000, maxEntryBytes: 100_000))
        try LimitsTests.fill(sandbox, store, (0..<17).map { "\($0 + 10)" }, 10_000)
        for number in 0..<7 {
            let writer = store.makeBodyWriter()
            try writer.write(Data.noise(90_000, seed: UInt64(number)))
            writer.discard()
        }
        try await store.flush()
        #expect(try sandbox.names().count == 17)
    }

    @Test("a body that does not fit with the WAL is refused before an eviction", .requirement("J5"))
    func besideWAL() async throws {
        let store = try open(Limits(maxBytes: 32 << 20, maxEntryBytes: 31 << 20))
        try LimitsTests.fill(sandbox, store, (0..<10).map { "\($0 + 10)" }, 10_000)
        let body = Data(repeating: 1, count: 29 << 20)
        #expect(throws: StoreError.bodyTooLarge(limit: 28 << 20)) {
            try store.insert(body, metadata: sandbox.metadata(), for: .path("large"))
        }
        #expect(try store.statistics().entries == 10)
    }

    @Test("a large body gets its space before its commit, in short transactions", .requirement("J5"))
    func largeBody() async throws {
        let store = try open(Limits(maxBytes: 6_000_000, maxEntryBytes: 4_000_000, lowWaterMark: 1))
        try LimitsTests.fill(sandbox, store, (0..<500).map { "\($0 + 1_000)" }, 10_000)
        try await store.insert(Data.noise(3_000_000, seed: 9_999), metadata: sandbox.metadata(), for: .path("large"))
        let names = try sandbox.names()
        #expect(names.contains("large"))
        // The newest entries stay, and no more than necessary are evicted.
        #expect(try sandbox.size().bytes <= 6_000_000)
        #expect(names.count > 200)
        #expect(!names.contains("1000"))
        #expect(names.contains("1499"))
        #expect(try await store.check(digests: true).isSound)
    }

    @Test("a partition has its own limit, and evicts only its own entries", .requirement("A5"))
    func partitions() async throws {
        let store = try open(Limits(maxBytes: 10_000_000, maxPartitionBytes: 100_000, lowWaterMark: 0.5))
        func put(_ number: Int, _ partition: String) throws {
            let key = try CacheKey(url: "https://example.com/\(number)", partition: partition)
            try store.insert(Data.noise(10_000, seed: UInt64(number)), metadata: sandbox.metadata(), for: key)
        }
        for number in 0..<30 { try put(number, "") }
        for number in 0..<8 { try put(number, "a") }
        for number in 0..<10 { try put(number, "b") }
        let first = try CacheKey(url: "https://example.com/0", partition: "b")
        #expect(try store.lookup(first) != nil)
        try put(10, "b")
        // The pass continues to the low-water mark.
        try await store.flush()
        func counts() throws -> [[SQLValue]] {
            try store.query("SELECT partition, entries, byte_size FROM cache_partitions ORDER BY partition").rows
        }
        #expect(
            try counts() == [
                [.text("a"), .integer(8), .integer(80_000)], [.text("b"), .integer(5), .integer(50_000)],
            ])
        // The accessed entry and the new one stay.
        #expect(try store.contains(first))
        #expect(try store.contains(CacheKey(url: "https://example.com/10", partition: "b")))
        #expect(try !store.contains(CacheKey(url: "https://example.com/1", partition: "b")))
        #expect(try store.statistics().entries == 43)
        try await store.removeAll(.partition("b"))
        #expect(try counts().count == 1)
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("a shared body counts once, and is deleted with the last of its entries")
    func shared() async throws {
        let store = try open(Limits(maxBytes: 148_000, maxEntryBytes: 100_000, lowWaterMark: 1))
        for number in 0..<20 {
            try await store.insert(Data.noise(50_000, seed: 1), metadata: sandbox.metadata(), for: .path(number))
            sandbox.clock.advance(by: 1)
        }
        try await store.flush()
        #expect(try store.statistics().entries == 20)
        try await store.insert(Data.noise(99_999, seed: 2), metadata: sandbox.metadata(), for: .path("other"))
        try await store.flush()
        #expect(try sandbox.names() == ["other"])
        #expect(sandbox.files().count == 1)
    }
}

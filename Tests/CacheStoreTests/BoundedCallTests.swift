import TestSupport

#if canImport(Glibc)
import Glibc
#endif

/// A lookup waits only for other lookups, a change waits for no maintenance, and suspending interrupts every call.
@Suite("Bounded calls")
struct BoundedCallTests {
    let sandbox = Sandbox()

    /// Takes many seconds, but ends: without an interruption the test fails instead of hanging.
    private static let endless = EntrySelection.matching(
        """
        (WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 100000000)
        SELECT max(n) FROM number) > 0
        """)

    @Test("a long read delays neither lookups nor changes, and suspending ends it", arguments: [false, true])
    func longRead(isDryRun: Bool) throws {
        let store = try sandbox.open { $0.readerCount = 1 }
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        store.writer.checkpointer.wait()
        let before = try sandbox.descriptorCount(of: "index.sqlite")
        let call = ThreadCall { _ = try store.removeAll(Self.endless, dryRun: isDryRun) }
        try spinWhile { try sandbox.descriptorCount(of: "index.sqlite") <= before }
        #expect(try store.bytes(.path("a")) == Data("a".utf8))
        try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        let time = ContinuousClock().measure { store.suspend() }
        #expect(time < .seconds(2))
        #expect(try call.error() == .suspended)
        try store.resume()
        #expect(try store.bytes(.path("b")) == Data("b".utf8))
    }

    @Test("the commit of a large body, or a durable one, does not wait for maintenance")
    func commitBesideMaintenance() async throws {
        let store = try sandbox.open { $0.durability = .durable }
        try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        store.writer.checkpointer.wait()
        let before = try sandbox.descriptorCount(of: "index.sqlite")
        let removal = Task { try await store.removeAll(Self.endless) }
        try await eventually { try sandbox.descriptorCount(of: "index.sqlite") > before }
        try await store.insert(Data.noise(2_000_000, seed: 1), metadata: sandbox.metadata(), for: .path("large"))
        #expect(try store.contains(.path("large")))
        store.suspend()
        await #expect(throws: StoreError.suspended) { try await removal.value }
    }

    @Test("without a free descriptor, a writer throws a typed error, and lookups continue")
    func noDescriptors() async throws {
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            try Self.exhaustDescriptors(path)
        }
    }

    private static func exhaustDescriptors(_ path: String) throws {
        var limit = rlimit(rlim_cur: 256, rlim_max: 256)
        #expect(setrlimit(Resource.fileCount, &limit) == 0)
        let store = try ResponseStore(directory: URL(filePath: path))
        try store.insert(Data("a".utf8), metadata: .now, for: .path("a"))
        var writers: [BodyWriter] = []
        var failure: StoreError?
        while failure == nil, writers.count < 300 {
            let writer = store.makeBodyWriter()
            do { try writer.write(Data("body \(writers.count)".utf8)) } catch { failure = error }
            writers.append(writer)
        }
        guard case .file(let error) = failure else { preconditionFailure("\(String(describing: failure))") }
        precondition(error.errno == EMFILE)
        // The concurrent lookups ask for more connections than exist.
        let missing = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 32) { _ in
            if (try? store.peek(CacheKey(url: "https://example.com/a"))) == nil {
                missing.add(1, ordering: .relaxed)
            }
        }
        precondition(missing.load(ordering: .relaxed) == 0)
        writers.removeAll()
        try store.insert(Data("b".utf8), metadata: .now, for: .path("b"))
        let body = try store.bytes(.path("b"))
        precondition(body == Data("b".utf8))
    }

    private func put(_ name: String, _ store: ResponseStore) throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path(name))
    }

    @Test("a dry run of an eviction takes no lock, and equals the eviction")
    func dryRun() throws {
        try sandbox.fillQuickly(200)
        let store = try sandbox.open()
        let other = try RawIndex(sandbox.indexPath)
        for rule in [EvictionRule.maxEntries(50), .maxBytes(20_000), .olderThan(.zero), .unusedFor(.zero)] {
            try other.execute("BEGIN IMMEDIATE")
            let expected = try dryRun(of: rule, store)
            try other.execute("ROLLBACK")
            #expect(expected.entries > 0, "\(rule)")
        }
        let expected = try store.evict(.maxEntries(50), dryRun: true)
        #expect(try store.evict(.maxEntries(50)) == expected)
        #expect(try store.evict(.olderThan(.zero), dryRun: true) == store.evict(.olderThan(.zero)))
        #expect(try store.statistics().entries == 0)
    }

    private func dryRun(of rule: EvictionRule, _ store: ResponseStore) throws -> EvictionReport {
        switch rule {
        case .maxBytes(let count): try store.evict(maxBytes: count, dryRun: true)
        case .maxEntries(let count): try store.evict(.maxEntries(count), dryRun: true)
        case .unusedFor(let age): try store.evict(.unusedFor(age), dryRun: true)
        case .olderThan(let age): try store.evict(.olderThan(age), dryRun: true)
        }
    }

    @Test("ids without entries cost nothing, in any number", .timeLimit(.minutes(1)))
    func gapsBetweenIDs() throws {
        try sandbox.fillQuickly(10)
        let index = try RawIndex(sandbox.indexPath)
        try index.execute("UPDATE entry SET id = 1 << 37 WHERE id = 10; UPDATE total SET last_id = 1 << 37")
        let store = try sandbox.open()
        #expect(try store.removeAll(.host("example.com"), dryRun: true).entries == 10)
        for rule in [EvictionRule.maxEntries(0), .olderThan(.zero), .unusedFor(.zero)] {
            #expect(try dryRun(of: rule, store).entries == 10, "\(rule)")
        }
        #expect(try store.removeAll(.matching("url LIKE '%/9'")).entries == 1)
        #expect(try store.evict(.olderThan(.zero)).entries == 9)
    }

    @Test("the first commit over a lowered limit evicts a few entries; a pass evicts the rest", .requirement("J5"))
    func loweredLimit() async throws {
        try sandbox.fillQuickly(3_000)
        let connection = try Connection(path: sandbox.indexPath, role: .writer, busyTimeout: .seconds(5))
        let transaction = WriteTransaction(connection)
        try connection.execute("BEGIN IMMEDIATE")
        let entry = try transaction.store(sandbox.metadata(), for: .path("new"), digest: nil, byteCount: 0, at: 0)
        let room = try LimitEnforcer(Limits(maxEntries: 100)).makeRoom(for: entry, in: transaction)
        #expect(room == .afterPass)
        #expect((64..<1_000).contains(transaction.evicted.entries))
        try connection.execute("ROLLBACK")

        let store = try sandbox.open { $0.limits = Limits(maxEntries: 100) }
        try put("new", store)
        try await store.flush()
        #expect(try store.statistics().entries <= 100)
        #expect(try store.contains(.path("new")))
    }

    @Test("at the limit, each pinned entry is skipped once, and not by each failing commit")
    func pinned() async throws {
        try sandbox.fillQuickly(5_000, isPinned: true)
        let store = try sandbox.open { $0.limits = Limits(maxEntries: 5_000) }
        #expect(throws: StoreError.self) { for number in 0..<100 { try put("new-\(number)", store) } }
        try await store.flush()
        let position = try RawIndex(sandbox.indexPath).value("SELECT unused_id FROM total").flatMap { Int($0) }
        #expect(try #require(position) > 5_000)
        #expect(try store.statistics().entries <= 5_001)
    }

    @Test("a query cannot make texts or blobs longer than any column, nor match long patterns")
    func largeValues() throws {
        let store = try sandbox.open()
        let queries = [
            "SELECT instr(zeroblob(2000000), zeroblob(1000000) || x'01')", "SELECT length(zeroblob(600000))",
            "SELECT hex(zeroblob(300000))", "SELECT 'a' LIKE printf('%.*c', 2000, '%')",
        ]
        for sql in queries {
            for query: (String) throws -> SQLRows in [
                { try store.query($0) }, { try ResponseStore.query($0, inStoreAt: sandbox.url) },
            ] {
                let error = #expect(throws: StoreError.self, "\(sql)") { try query(sql) }
                #expect(error?.sqlite != nil)
            }
        }
        #expect(try store.query("SELECT length(zeroblob(500000))").rows == [[.integer(500_000)]])
    }
}

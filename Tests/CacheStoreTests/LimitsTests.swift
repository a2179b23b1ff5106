import MetricsTestKit
import TestSupport

@Suite("Limits")
struct LimitsTests {
    let sandbox = Sandbox()

    func open(_ limits: Limits) throws -> ResponseStore { try sandbox.open { $0.limits = limits } }

    /// Names of the numbers that sort like the numbers.
    static func numbers(_ range: Range<Int>) -> [String] { range.map { String($0 + 10_000) } }

    // MARK: Keeping the limits

    @Test(
        "filling a store to 150 % exceeds the limit at no commit, and the newest entries stay", .requirement("J5"),
        arguments: [
            (Limits(maxBytes: 200_000), 1_000, 300), (Limits(maxBytes: 400_000, lowWaterMark: 0.5), 30_000, 20),
            (Limits(maxBytes: 200_000, lowWaterMark: 1), 10, 900), (Limits(maxEntries: 100), 10, 150),
            (Limits(maxEntries: 60, lowWaterMark: 0.5), 0, 90), (Limits(maxEntries: 20, lowWaterMark: 0), 10, 30),
            (Limits(maxBytes: 100_000, maxEntries: 30), 1_000, 45), (Limits(maxEntries: 100, lowWaterMark: 1), 10, 150),
        ])
    func fillToOneAndAHalf(_ limits: Limits, _ byteCount: Int, _ count: Int) async throws {
        let store = try open(limits)
        let names = Self.numbers(0..<count)
        var hasReached = false
        var before = Int64(0)
        for (number, name) in names.enumerated() {
            try Self.fill(sandbox, store, [name], byteCount)
            let size = try sandbox.size()
            #expect(size.bytes <= limits.maxBytes ?? .max, "\(number)")
            #expect(size.entries <= limits.maxEntries ?? .max, "\(number)")
            if size.entries <= before { hasReached = true }
            if !hasReached { #expect(size.entries == Int64(number + 1)) }
            before = size.entries
        }
        #expect(hasReached)
        try await store.flush()
        let left = try sandbox.names()
        #expect(left == Array(names.suffix(left.count)))
        #expect(try await store.check(digests: true).isSound)
    }

    /// The synchronous method, for asynchronous tests.
    static func fill(
        _ sandbox: Sandbox, _ store: ResponseStore, _ names: [String], _ byteCount: Int = 1_000
    ) throws {
        try sandbox.fill(store, names, byteCount: byteCount)
    }

    @Test("at a limit, evicts down to the low-water mark", .requirement("J5"), arguments: [0, 0.1, 0.5, 0.9, 0.99, 1])
    func lowWaterMark(_ mark: Double) async throws {
        for limits in [
            Limits(maxEntries: 50, lowWaterMark: mark), Limits(maxBytes: 200_000, lowWaterMark: mark),
        ] {
            let store = try open(limits)
            try Self.clear(store)
            var number = 0
            var (before, entries) = (Int64(-1), Int64(0))
            while entries > before {
                before = entries
                try Self.fill(sandbox, store, ["\(number)"], 2_000)
                entries = try sandbox.size().entries
                number += 1
            }
            try await store.flush()
            let size = try sandbox.size()
            // The entry that exceeds a limit is stored after the pass that makes room for it.
            let most = max(1, Double(limits.maxEntries ?? .max) * mark)
            let bytes = max(2_000, Double(limits.maxBytes ?? .max) * mark)
            #expect(Double(size.entries) <= most, "\(limits) \(size)")
            #expect(Double(size.bytes) <= bytes, "\(limits) \(size)")
            // One more entry would exceed the mark, except for some pages of the index
            let isNear = Double(size.entries + 1) > most || Double(size.bytes) + 2_000 + 40_000 > bytes
            #expect(isNear, "\(limits) \(size)")
            store.close()
        }
    }

    static func clear(_ store: ResponseStore) throws { try store.clear() }

    @Test("evicts the least recently used entry first, regardless of staleness and lifetime", .requirement("J5"))
    func order() throws {
        let store = try open(Limits(maxEntries: 6, lowWaterMark: 1))
        try sandbox.fill(store, ["pinned"], options: EntryOptions(isPinned: true))
        try sandbox.fill(store, ["permanent"])
        try sandbox.fill(store, ["session-1", "session-2"], options: EntryOptions(lifetime: .session))
        try sandbox.fill(store, ["expired-2"], expiresIn: 20)
        try sandbox.fill(store, ["expired-1"], expiresIn: 10)
        sandbox.clock.advance(by: 30)
        for name in ["session-1", "expired-1"] {
            _ = try store.lookup(.path(name))
            sandbox.clock.advance(by: 1)
        }
        var gone: [String] = []
        for number in 0..<7 {
            let before = try sandbox.names()
            try sandbox.fill(store, ["x\(number)"])
            gone += Set(before).subtracting(try sandbox.names())
        }
        #expect(gone == ["permanent", "session-2", "expired-2", "session-1", "expired-1", "x0", "x1"])
        #expect(try store.peek(.path("pinned")) != nil)
    }

    // MARK: Pins

    @Test("pinned entries stay; a put without room beside them throws", .requirement("J5"), arguments: [true, false])
    func pinned(countsBytes: Bool) async throws {
        let store = try sandbox.open {
            $0.limits =
                countsBytes
                ? Limits(maxBytes: 8_000, maxEntryBytes: 8_000, lowWaterMark: 1)
                : Limits(maxEntries: 5, lowWaterMark: 1)
        }
        let fitting = countsBytes ? 8 : 5
        try Self.fillPinned(sandbox, store, Self.numbers(0..<fitting))
        #expect(throws: StoreError.exceedsLimits(limit: countsBytes ? 8_000 : nil)) {
            try Self.fillPinned(sandbox, store, ["one-more"])
        }
        #expect(throws: StoreError.exceedsLimits(limit: countsBytes ? 8_000 : nil)) {
            try Self.fill(sandbox, store, ["other"])
        }
        #expect(try sandbox.names() == Self.numbers(0..<fitting))
        #expect(try store.bytes(.path("other")) == nil)
        #expect(try store.lookup(.path(10_000)) != nil)
        try await store.setOptions(EntryOptions(isPinned: false), for: .path(10_003))
        try Self.fill(sandbox, store, ["other"])
        #expect(try sandbox.names() == Self.numbers(0..<fitting).filter { $0 != "10003" } + ["other"])
        #expect(try await store.remove(.path(10_004)))
        #expect(try await store.check(digests: true).isSound)
    }

    static func fillPinned(_ sandbox: Sandbox, _ store: ResponseStore, _ names: [String]) throws {
        try sandbox.fill(store, names, options: EntryOptions(isPinned: true))
    }

    @Test("files that cannot be deleted do not keep the store busy")
    func undeletable() async throws {
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            try await Self.evictUndeletable(path)
        }
        Unprivileged.restore(sandbox.path)
    }

    private static func evictUndeletable(_ path: String) async throws {
        var configuration = ResponseStore.Configuration()
        configuration.limits = Limits(maxBytes: 40_000, maxEntryBytes: 30_000, lowWaterMark: 1)
        let metrics = TestMetrics()
        configuration.metrics = metrics
        let store = try ResponseStore(directory: URL(filePath: path), configuration: configuration)
        let old = try await store.insert(Data.noise(30_000, seed: 1), metadata: .now, for: .path("old"))
        let shard = path + "/blobs/" + (old.digest?.description.prefix(2) ?? "")
        for name in ["", "/blobs", "/index.sqlite", "/index.sqlite-wal", "/index.sqlite-shm"] {
            try #require(chmod(path + name, 0o777) == 0)
        }
        // The folder does not exist if bodies are written without a name.
        chmod(path + "/staging", 0o777)
        try #require(chmod(shard, 0o555) == 0)
        Unprivileged.giveUpRoot()
        try await store.insert(Data.noise(30_000, seed: 2), metadata: .now, for: .path("new"))
        for _ in 0..<3 { try await store.flush() }
        store.observation.wait()
        let timer = try metrics.expectTimer("cachestore.transaction.duration")
        let before = timer.values.count
        for _ in 0..<10 { try await store.flush() }
        store.observation.wait()
        // Each flush tries once.
        #expect(timer.values.count - before == 10)
    }

    // MARK: Opening

    @Test("opening a store below its limits loses nothing; opening one above them evicts to the low-water mark")
    func opening() async throws {
        try Self.fill(sandbox, try sandbox.open(), Self.numbers(0..<100))
        for (limits, left) in [
            (Limits(maxEntries: 101), 100), (Limits(maxEntries: 100), 100), (Limits(maxEntries: 99), 89),
            (Limits(maxBytes: 10_000_000), 89), (Limits(maxEntries: 10, lowWaterMark: 0), 0),
        ] {
            let store = try open(limits)
            try await store.flush()
            #expect(try sandbox.names().count == left, "\(limits)")
            store.close()
        }
    }

    @Test("a resumed store enforces its limits again")
    func resume() async throws {
        let store = try open(Limits(maxEntries: 20, lowWaterMark: 0.5))
        for round in 0..<3 {
            try Self.fill(sandbox, store, (0..<21).map { "\(round)-\($0)" })
            store.suspend()
            try store.resume()
            try Self.fill(sandbox, store, (21..<42).map { "\(round)-\($0)" })
            try await store.flush()
            #expect(try sandbox.names().count <= 20)
        }
        var (number, before) = (0, Int64(-1))
        while try sandbox.size().entries > before {
            before = try sandbox.size().entries
            try Self.fill(sandbox, store, ["last-\(number)"])
            number += 1
        }
        try await store.flush()
        #expect(try sandbox.names().count == 10)
    }
}

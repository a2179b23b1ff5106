import TestSupport

@Suite("Limits of time and of free space")
struct TimeLimitsTests {
    let sandbox = Sandbox()

    /// Looks at the limits as often as it can.
    private func open(
        _ limits: Limits, policy: EvictionPolicy? = nil, interval: Duration? = .milliseconds(1)
    ) throws -> ResponseStore {
        try sandbox.open {
            $0.limits = limits
            $0.evictionPolicy = policy
            $0.limitCheckInterval = interval
        }
    }

    private func fill(_ store: ResponseStore, _ paths: String...) throws {
        for path in paths { try store.insert(Data(path.utf8), metadata: sandbox.metadata(), for: .path(path)) }
    }

    private func paths(_ store: ResponseStore) throws -> [String] {
        try store.query("SELECT substr(key, 21) FROM cache_entries ORDER BY id").rows.compactMap { row in
            if case .text(let text) = row[0] { text } else { nil }
        }
    }

    @Test("an idle entry leaves without a call", arguments: [EvictionPolicy.leastRecentlyUsed, .valueAware])
    func idle(_ policy: EvictionPolicy) async throws {
        let store = try open(Limits(maxIdleTime: .seconds(100)), policy: policy)
        try fill(store, "a", "b", "c")
        sandbox.clock.advance(by: .seconds(60))
        #expect(try store.lookup(.path("b")) != nil)
        try await store.flush()
        sandbox.clock.advance(by: .seconds(40))
        #expect(try paths(store).count == 3)
        sandbox.clock.advance(by: .seconds(1))
        try await eventually { try paths(store) == ["b"] }
        sandbox.clock.advance(by: .seconds(60))
        try await eventually { try paths(store).isEmpty }
        #expect(sandbox.files().isEmpty)
    }

    @Test("an entry leaves when its body was stored longer ago, although it is used and validated")
    func age() async throws {
        let store = try open(Limits(maxAge: .seconds(100)))
        try fill(store, "a")
        sandbox.clock.advance(by: .seconds(90))
        try fill(store, "b")
        let entry = try #require(try store.lookup(.path("a")))
        #expect(try await store.freshen(entry, with: sandbox.metadata()))
        try await store.flush()
        sandbox.clock.advance(by: .seconds(11))
        try await eventually { try paths(store) == ["b"] }
    }

    @Test("pinned entries stay")
    func pinned() async throws {
        let store = try open(Limits(maxIdleTime: .seconds(100), maxAge: .seconds(100)))
        try await store.insert(
            Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"), options: EntryOptions(isPinned: true))
        try fill(store, "b")
        sandbox.clock.advance(by: .seconds(1000))
        try await eventually { try paths(store) == ["a"] }
    }

    @Test("an opening looks at the limits, too")
    func opening() async throws {
        var store = try open(Limits())
        try fill(store, "a")
        store.close()
        sandbox.clock.advance(by: .seconds(101))
        store = try open(Limits(maxIdleTime: .seconds(100)), interval: nil)
        try await eventually { try paths(store).isEmpty }
    }

    @Test("an unused entry far behind used ones leaves, too")
    func farBehind() async throws {
        let store = try open(Limits(maxIdleTime: .seconds(100)), interval: .milliseconds(50))
        for number in 0..<5000 { try await store.insert(Data(), metadata: sandbox.metadata(), for: .path(number)) }
        try fill(store, "last")
        sandbox.clock.advance(by: .seconds(90))
        for number in 0..<5000 { _ = try store.lookup(.path(number)) }
        try await store.flush()
        sandbox.clock.advance(by: .seconds(50))
        try await eventually { try store.peek(.path("last")) == nil }
        #expect(try store.statistics().entries == 5000)
    }

    @Test("a suspended store looks again after it was resumed")
    func suspended() async throws {
        let store = try open(Limits(maxAge: .seconds(100)))
        try fill(store, "a")
        store.suspend()
        sandbox.clock.advance(by: .seconds(101))
        try store.resume()
        try await eventually { try paths(store).isEmpty }
    }

    @Test("released, the store leaves nothing behind that looks at its limits")
    func release() throws {
        weak var released: ResponseStore?
        do {
            let store = try open(Limits(maxAge: .seconds(100)), interval: .seconds(3600))
            released = store
        }
        // A job of the opening may still hold the store.
        try spinWhile { released != nil }
    }

    @Test(
        "looks each sixteenth of the shortest time, between a minute and an hour",
        arguments: [
            (Limits(maxBytes: 1, maxEntries: 1), nil), (Limits(maxIdleTime: .seconds(1600)), 100),
            (Limits(maxIdleTime: .seconds(16_000), maxAge: .seconds(3200)), 200), (Limits(maxAge: .zero), 60),
            (Limits(maxAge: .seconds(1 << 62)), 3600), (Limits(maxAge: .seconds(1 << 40), minFreeBytes: 1), 60),
        ] as [(Limits, Int?)])
    func interval(_ limits: Limits, _ seconds: Int?) {
        #expect(limits.checkInterval == seconds.map { .seconds($0) })
    }

    @Test("negative limits count as zero")
    func values() {
        let limits = Limits(maxIdleTime: .seconds(-1), maxAge: .seconds(-1), minFreeBytes: -1)
        #expect((limits.maxIdleTime, limits.maxAge) == (.zero, .zero))
        #expect(limits.minFreeBytes == 0)
    }

    @Test("nothing is evicted while enough bytes are free, and everything but pinned entries otherwise")
    func freeSpace() async throws {
        let store = try open(Limits(minFreeBytes: 1))
        try fill(store, "a", "b")
        try await store.flush()
        #expect(try paths(store).count == 2)
        store.close()
        let full = try open(Limits(minFreeBytes: .max))
        try await eventually { try paths(full).isEmpty }
    }

    @Test(
        "evicts as many bytes as the volume lacks, not more",
        .enabled(if: SmallDisk.isPossible, "needs Linux, and the right to mount a file system"))
    func smallVolume() async throws {
        let volume = try #require(try SmallDisk(byteCount: 64 << 20))
        let floor: Int64 = 24 << 20
        var configuration = sandbox.configuration { $0.limits = nil }
        let directory = volume.url.appending(path: "store")
        var store = try ResponseStore(directory: directory, configuration: configuration)
        for number in 0..<20 {
            try await store.insert(
                Data.noise(1 << 20, seed: UInt64(number)), metadata: sandbox.metadata(), for: .path(number))
        }
        store.close()
        // Another program fills the volume.
        let filling = try freeBytes(volume) - floor + 9 << 20
        try Data(count: Int(filling)).write(to: volume.url.appending(path: "other"))
        let missing = try floor - freeBytes(volume)
        #expect(missing > 8 << 20)
        configuration.limits = Limits(minFreeBytes: floor, lowWaterMark: 0.5)
        store = try ResponseStore(directory: directory, configuration: configuration)
        try await eventually { try freeBytes(volume) >= floor }
        try await store.flush()
        let evicted = try 20 - store.statistics().entries
        #expect(abs(evicted - Int(missing >> 20)) <= 2, "evicted \(evicted) MiB, where \(missing) bytes are missing")
        #expect(try store.peek(.path(19)) != nil)
        #expect(try store.peek(.path(0)) == nil)
    }

    private func freeBytes(_ volume: SmallDisk) throws -> Int64 {
        let values = try FileManager.default.attributesOfFileSystem(forPath: volume.url.path(percentEncoded: false))
        return try Int64(truncating: #require(values[.systemFreeSize] as? NSNumber))
    }

    @Test("a share of a volume is a limit of bytes")
    func fraction() throws {
        let directory = sandbox.url.appending(path: "not/yet/there")
        let whole = try #require(try Limits.fraction(of: directory, 1).maxBytes)
        let values = try FileManager.default.attributesOfFileSystem(forPath: sandbox.directory.path)
        #expect(try Int64(truncating: #require(values[.systemSize] as? NSNumber)) == whole)
        #expect(try Limits.fraction(of: directory, 0.25).maxBytes == Int64(Double(whole) * 0.25))
        for (share, bytes) in [(-1, 0), (.nan, 0), (2, whole)] as [(Double, Int64)] {
            #expect(try Limits.fraction(of: directory, share).maxBytes == bytes)
        }
    }
}

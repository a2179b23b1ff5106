import TestSupport

@Suite("StoreGeneration")
struct GenerationTests {
    let sandbox = Sandbox()
    let store: ResponseStore

    init() throws { store = try sandbox.open() }

    enum Removal: String, CaseIterable, CustomTestStringConvertible {
        case key, otherKey, sameKeyElsewhere, clear, partition, otherPartition, tag, prefixInPartition, eviction,
            replacement
        case entry, lapse

        var testDescription: String { rawValue }

        func callAsFunction(_ store: ResponseStore, _ entry: StoredEntry) throws {
            switch self {
            case .key: try store.remove(entry.key)
            case .otherKey: try store.remove(.path("other"))
            case .sameKeyElsewhere: try store.remove(CacheKey(url: entry.key.text, partition: "q"))
            case .clear: try store.clear()
            case .partition: try store.removeAll(.partition("p"))
            case .otherPartition: try store.removeAll(.partition(""))
            case .tag: try store.removeAll(.tag("nobody has it"))
            case .prefixInPartition: try store.removeAll(EntrySelection(partition: "p", prefix: "nothing"))
            case .eviction: try store.evict(.maxEntries(0))
            case .replacement:
                try store.insert(Data("newer".utf8), metadata: entry.metadata, for: entry.key)
            case .entry: try store.setOptions(.init(lifetime: .session), for: entry.key)
            case .lapse: try store.sweep()
            }
        }

        /// Whether the change refuses an earlier load of the key.
        ///
        /// A selection by an attribute of entries may mean any key.
        var refuses: Bool { [.key, .clear, .partition, .tag, .prefixInPartition].contains(self) }
    }

    @Test(
        "a load that began before the removal of its key stores nothing, and its failure is not counted",
        .requirement("J4"),
        arguments: Removal.allCases)
    func removed(_ removal: Removal) throws {
        let key = try CacheKey(url: "https://example.com/a", partition: "p")
        for isThere in [true, false] {
            let entry = try store.insert(Data("old".utf8), metadata: sandbox.metadata(), for: key)
            if !isThere { try store.remove(key) }
            let generation = try store.generation()
            let writer = store.makeBodyWriter()
            try writer.write(Data("new".utf8))
            try removal(store, entry)
            let present = try store.bytes(key)
            if removal.refuses {
                #expect(throws: StoreError.removedMeanwhile(key)) {
                    try writer.commit(sandbox.metadata(), for: key, unlessRemovedSince: generation)
                }
                #expect(try store.bytes(key) == present)
                #expect(present == nil || [.tag, .prefixInPartition].contains(removal))
                #expect(try writer.written().data() == Data("new".utf8))
                #expect(try store.recordFailure(for: key, status: 500, unlessRemovedSince: generation) == 0)
                #expect(try store.failure(for: key) == nil)
                // A load without a generation, or with a new one, is not refused.
                #expect(try store.recordFailure(for: key, status: 500) == 1)
                let next = store.makeBodyWriter()
                try next.write(Data("new".utf8))
                try next.commit(sandbox.metadata(), for: key, unlessRemovedSince: store.generation())
            } else {
                #expect(present != nil || !isThere || removal == .eviction)
                #expect(try store.recordFailure(for: key, status: 500, unlessRemovedSince: generation) == 1)
                try writer.commit(sandbox.metadata(), for: key, unlessRemovedSince: generation)
            }
            #expect(try store.bytes(key) == Data("new".utf8))
            try store.flush()
            #expect(sandbox.files().count == 1)
            #expect(try store.check(digests: true).isSound)
        }
    }

    @Test("a refused commit leaves no file of its own, and keeps a shared one", .requirement("J4"))
    func refusedLeavesNothing() async throws {
        let generation = try store.generation()
        let writer = store.makeBodyWriter()
        try writer.write(Data.noise(5_000, seed: 1))
        try await store.remove(.path("a"))
        await #expect(throws: StoreError.removedMeanwhile(try .path("a"))) {
            try await writer.commit(sandbox.metadata(), for: .path("a"), unlessRemovedSince: generation)
        }
        #expect(sandbox.files() == [])
        #expect(try store.statistics().entries == 0)
        // A body that another entry shares keeps its file.
        try await store.insert(Data.noise(5_000, seed: 1), metadata: sandbox.metadata(), for: .path("b"))
        let second = store.makeBodyWriter()
        try second.write(Data.noise(5_000, seed: 1))
        await #expect(throws: StoreError.removedMeanwhile(try .path("a"))) {
            try await second.commit(sandbox.metadata(), for: .path("a"), unlessRemovedSince: generation)
        }
        #expect(try store.bytes(.path("b")) == .noise(5_000, seed: 1))
        #expect(try await store.check(digests: true).isSound)
    }

    @Test("after more removals than the store records, a load of any key is refused", .requirement("J4"))
    func forgotten() throws {
        let generation = try store.generation()
        for number in 0..<1_000 { try store.remove(.path(number)) }
        #expect(try store.recordFailure(for: .path("a"), status: 500, unlessRemovedSince: generation) == 1)
        #expect(try store.recordFailure(for: .path(0), status: 500, unlessRemovedSince: generation) == 0)
        #expect(try store.recordFailure(for: .path(999), status: 500, unlessRemovedSince: generation) == 0)
        try store.remove(.path("x"))
        #expect(try store.recordFailure(for: .path("a"), status: 500, unlessRemovedSince: generation) == 0)
        #expect(try RawIndex(sandbox.indexPath).value("SELECT count(*) FROM removal") == "1000")
    }

    @Test("a generation with a later number than the index's refuses the load")
    func laterNumber() throws {
        for number in 0..<5 { try store.remove(.path(number)) }
        let generation = try store.generation()
        try RawIndex(sandbox.indexPath).execute("UPDATE state SET generation = generation - 1; DELETE FROM removal")
        #expect(try store.recordFailure(for: .path("a"), status: 500, unlessRemovedSince: generation) == 0)
    }

    @Test("a generation of an earlier index refuses the load, even after as many removals from the new index")
    func equalNumbers() throws {
        for number in 0..<5 { try store.remove(.path(number)) }
        let generation = try store.generation()
        for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
            try FileManager.default.removeItem(at: sandbox.url.appending(path: name))
        }
        for number in 0..<5 { try store.remove(.path(number)) }
        #expect(try store.recordFailure(for: .path("a"), status: 500, unlessRemovedSince: generation) == 0)
    }

    @Test("a removal in another process counts, even if the process has since been killed", .requirement("J4"))
    func otherProcess() async throws {
        let keys = try ["a", "b", "c"].map { try CacheKey(url: "https://example.com/", partition: $0) }
        let generation = try store.generation()
        await #expect(processExitsWith: .signal(9)) { [path = sandbox.path as String] in
            let store = try ResponseStore(directory: URL(filePath: path))
            try await store.remove(CacheKey(url: "https://example.com/", partition: "a"))
            try await store.removeAll(.partition("b"))
            kill(getpid(), SIGKILL)
        }
        for key in keys {
            let writer = store.makeBodyWriter()
            try writer.write(Data("new".utf8))
            do {
                try await writer.commit(sandbox.metadata(), for: key, unlessRemovedSince: generation)
                #expect(key == keys[2])
            } catch StoreError.removedMeanwhile(let refused) {
                #expect(refused == key)
                #expect(key != keys[2])
            }
        }
        #expect(try store.statistics().entries == 1)
        #expect(try await store.check(digests: true).isSound)
    }
}

import CSQLite
import TestSupport

@Suite("Hot keys")
struct HotKeysTests {
    let sandbox = Sandbox()

    /// A change of the key `a` or of one of its rows, and whether the key `b` stays hot.
    struct Change: CustomTestStringConvertible {
        let name: String
        let keepsOthers: Bool
        /// Whether a transaction was committed. Then the key `c`, which has no entry, may have got one, a failure or a
        /// related key.
        let commits: Bool
        let run: @Sendable (ResponseStore, Sandbox) async throws -> Void

        var testDescription: String { name }

        init(
            _ name: String, keepsOthers: Bool = true, commits: Bool = true,
            _ run: @escaping @Sendable (ResponseStore, Sandbox) async throws -> Void
        ) {
            self.name = name
            self.keepsOthers = keepsOthers
            self.commits = commits
            self.run = run
        }
    }

    /// The search base of all keys.
    private static let base = "https://example.com/"[...]

    static let changes = [
        Change("nothing", commits: false) { _, _ in },
        Change("accesses are written") { store, _ in
            for _ in 0..<3 { _ = try store.lookup(.path("a")) }
            try await store.flush()
        },
        Change("the entry is replaced") { store, sandbox in
            try await store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("a"))
        },
        Change("a variant is added") { store, sandbox in
            try await store.insert(Data("new".utf8), metadata: sandbox.metadata(variant: "v"), for: .path("a"))
        },
        Change("another key is stored") { store, sandbox in
            try await store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("c"))
        },
        Change("a related key is stored") { store, sandbox in
            var metadata = sandbox.metadata()
            metadata.searchBase = String(base)
            try await store.insert(Data("new".utf8), metadata: metadata, for: .path("d"))
        },
        Change("a load of the absent key fails") { store, _ in
            try store.recordFailure(for: .path("c"), request: "GET", status: 500)
        },
        Change("a validation changes the metadata") { store, sandbox in
            guard let entry = try store.peek(.path("a")) else { return }
            _ = try await store.freshen(entry, with: sandbox.metadata(etag: "\"2\""))
        },
        Change("a validation changes the variant") { store, sandbox in
            guard let entry = try store.peek(.path("a")) else { return }
            _ = try await store.freshen(entry, with: sandbox.metadata(variant: "w"))
        },
        Change("the options change") { store, _ in
            _ = try await store.setOptions(EntryOptions(isPinned: true, tags: ["t"]), for: .path("a"))
        },
        Change("the key is removed") { store, _ in try await store.remove(.path("a")) },
        Change("the entry is removed") { store, _ in
            guard let entry = try store.peek(.path("a")) else { return }
            try await store.remove(entry)
        },
        Change("a prefix is removed") { store, _ in
            try await store.removeAll(EntrySelection(prefix: "https://example.com/a"))
        },
        Change("the key is invalidated") { store, _ in _ = try await store.invalidate([.path("a")]) },
        Change("the least recently used is evicted") { store, sandbox in
            sandbox.clock.advance(by: 1)
            _ = try store.lookup(.path("b"))
            try await store.flush()
            try await store.evict(.maxEntries(1))
        },
        Change("its damaged body is found") { store, sandbox in
            guard let entry = try store.peek(.path("a")), let digest = entry.digest else { return }
            try FileManager.default.removeItem(at: sandbox.file(of: digest))
            #expect(try store.openBody(of: entry) == nil)
        },
        Change("a repair") { store, sandbox in
            guard let digest = try store.peek(.path("a"))?.digest else { return }
            try FileManager.default.removeItem(at: sandbox.file(of: digest))
            try await store.repair()
        },
        Change("another store of the directory", keepsOthers: false) { _, sandbox in
            try await sandbox.open().remove(.path("a"))
        },
        Change("another program", keepsOthers: false) { _, sandbox in
            try RawIndex(sandbox.indexPath).execute("UPDATE entry SET status = 500")
        },
        Change("another program, then this one", keepsOthers: false) { store, sandbox in
            try RawIndex(sandbox.indexPath).execute("UPDATE entry SET status = 500")
            try await store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("c"))
        },
        Change("a new index", keepsOthers: false) { store, sandbox in
            store.suspend()
            try FileManager.default.removeItem(atPath: sandbox.indexPath)
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: sandbox.indexPath + suffix) }
            try store.resume()
        },
        Change("another index has the path", keepsOthers: false) { store, sandbox in
            try FileManager.default.removeItem(atPath: sandbox.indexPath)
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: sandbox.indexPath + suffix) }
            try await store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("c"))
        },
    ]

    @Test("a hot key answers like the index after any change; other keys with entries stay hot", arguments: changes)
    func change(_ change: Change) async throws {
        let store = try sandbox.open()
        let keys = try ["a", "b", "c"].map { try CacheKey.path($0) }
        for key in keys.prefix(2) {
            try await store.insert(Data(key.text.utf8), metadata: sandbox.metadata(), for: key)
            sandbox.clock.advance(by: 1)
        }
        // The first commit registers the writer, and the checkpointer changes the header when it empties the WAL.
        store.writer.checkpointer.wait()
        for key in keys { _ = try store.snapshot(of: key, searchBase: Self.base) }
        #expect(keys.map(store.isHot) == [true, true, true])
        try await change.run(store, sandbox)
        #expect(keys.dropFirst().map(store.isHot) == [change.keepsOthers, !change.commits])
        try expectTruth(store, keys)
    }

    /// Expects that each key has the same state as in a store without hot keys.
    private func expectTruth(_ store: ResponseStore, _ keys: [CacheKey], _ comment: Comment? = nil) throws {
        let truth = try sandbox.open {
            $0.isReadOnly = true
            $0.hotKeyCount = 0
        }
        for key in keys {
            let expected = try truth.snapshot(of: key, searchBase: Self.base)
            for _ in 0..<2 {
                let found = try store.snapshot(of: key, searchBase: Self.base)
                #expect(found.entries.map(\.id).sorted() == expected.entries.map(\.id).sorted(), comment)
                #expect(Set(found.entries) == Set(expected.entries), comment)
                #expect(found.generation == expected.generation, comment)
                guard found.entries.isEmpty else { continue }
                #expect(found.hasFailures == expected.hasFailures, comment)
                #expect(found.relatedKeys == expected.relatedKeys, comment)
            }
        }
    }

    @Test("a key is hot after a read of its entries, and the next read takes no row from SQLite", arguments: [0, 512])
    func capacity(_ count: Int) throws {
        let store = try sandbox.open { $0.hotKeyCount = count }
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        #expect(try !store.isHot(.path("a")))
        #expect(try store.peek(.path("a")) != nil)
        #expect(try store.isHot(.path("a")) == (count > 0))
        #expect(try store.bytes(.path("a")) == Data("a".utf8))
        store.suspend()
        #expect(try !store.isHot(.path("a")))
        #expect(throws: StoreError.suspended) { try store.peek(.path("a")) }
        try store.resume()
        #expect(try store.bytes(.path("a")) == Data("a".utf8))
        store.close()
        #expect(throws: StoreError.closed) { try store.peek(.path("a")) }
    }

    @Test("the first use after an opening is written after a hundredth of the interval; until then no key is hot")
    func firstUse() throws {
        let former = try sandbox.open()
        try former.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        former.close()
        let store = try sandbox.open { $0.accessInterval = .seconds(100) }
        #expect(try store.lookup(.path("a")) != nil)
        #expect(try !store.isHot(.path("a")))
        try spinWhile {
            _ = try store.peek(.path("a"))
            return try !store.isHot(.path("a"))
        }
    }

    @Test("A key is not hot with unknown failures, more than eight entries, or a head of more than 16 KiB")
    func bounds() throws {
        let store = try sandbox.open()
        for number in 0..<9 {
            try store.insert(Data("a".utf8), metadata: sandbox.metadata(variant: "\(number)"), for: .path("many"))
        }
        for (path, length) in [("short", 16_384), ("long", 16_385)] {
            let head = "a: " + String(repeating: "b", count: length - 4) + "\n"
            try store.insert(Data("a".utf8), metadata: sandbox.metadata(head: head), for: .path(path))
        }
        for (path, isHot) in [("many", false), ("short", true), ("long", false), ("absent", false)] {
            _ = try store.responses(for: .path(path))
            #expect(try store.isHot(.path(path)) == isHot, "\(path)")
        }
    }

    @Test("while the entries are hot, the reader's value of them is made once")
    func reading() throws {
        final class Made: Sendable {}
        let store = try sandbox.open()
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        func make() throws -> Made { try store.snapshot(of: .path("a"), searchBase: nil).hot.reading { _ in Made() } }
        let first = try make()
        #expect(try make() === first)
        try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("a"))
        #expect(try make() !== first)
    }

    @Test("random changes by two stores and another program: each read finds the state of the index", arguments: 0..<3)
    func random(_: Int) async throws {
        var generator = SeededGenerator()
        let seed = Comment(rawValue: generator.description)
        let stores = [try sandbox.open(), try sandbox.open { $0.hotKeyCount = 8 }]
        let raw = try RawIndex(sandbox.indexPath)
        let keys = try (0..<12).map { try CacheKey.path($0) }
        for _ in 0..<Repetitions.count(2_000, debug: 300) {
            sandbox.clock.advance(by: 1)
            let key = keys.randomElement(using: &generator) ?? keys[0]
            let store = stores.randomElement(using: &generator) ?? stores[0]
            switch Int.random(in: 0..<17, using: &generator) {
            case ..<6:
                var metadata = sandbox.metadata(variant: Bool.random(using: &generator) ? "" : "v")
                metadata.searchBase = Bool.random(using: &generator) ? String(Self.base) : nil
                try await store.insert(Data("\(generator.next())".utf8), metadata: metadata, for: key)
            case 6: try await store.remove(key)
            case 7: try await store.evict(.maxEntries(Int.random(in: 4...12, using: &generator)))
            case 8:
                if let entry = try store.peek(key) {
                    _ = try await store.freshen(entry, with: sandbox.metadata(etag: "\"\(generator.next())\""))
                }
            case 9: _ = try await store.setOptions(EntryOptions(isPinned: Bool.random(using: &generator)), for: key)
            case 10: try raw.execute("UPDATE entry SET status = status + 1 WHERE key = '\(key.text)'")
            case 11: _ = try raw.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            case 12:
                store.suspend()
                try store.resume()
            case 13: try await store.flush()
            case 15: try await store.recordFailure(for: key, request: "GET", status: 500)
            case 14: try raw.execute("BEGIN IMMEDIATE; UPDATE entry SET status = 500; ROLLBACK")
            default: _ = try await store.removeAll(EntrySelection(prefix: key.text))
            }
            for store in stores { try expectTruth(store, keys, seed) }
        }
    }

    @Test("a lookup finds every earlier commit while other threads write")
    func concurrent() async throws {
        let store = try sandbox.open()
        let other = try sandbox.open()
        let keys = try (0..<4).map { try CacheKey.path($0) }
        // The latest status of each key whose commit has returned.
        let committed = keys.map { _ in Latest() }
        for key in keys { try await store.insert(Data("0".utf8), metadata: sandbox.metadata(), for: key) }
        let isOver = Latest()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, key) in keys.enumerated() {
                group.addTask { [sandbox] in
                    for status in 1...Repetitions.count(2_000, debug: 300) {
                        var metadata = sandbox.metadata()
                        metadata.status = 1_000 + status
                        try await (number % 2 == 0 ? store : other).insert(Data("0".utf8), metadata: metadata, for: key)
                        committed[number].value.store(metadata.status, ordering: .sequentiallyConsistent)
                    }
                }
            }
            for _ in 0..<2 {
                group.addTask {
                    while isOver.value.load(ordering: .relaxed) == 0 {
                        for (number, key) in keys.enumerated() {
                            let least = committed[number].value.load(ordering: .sequentiallyConsistent)
                            for _ in 0..<20 {
                                let found = try store.peek(key)?.metadata.status ?? 0
                                guard found >= least || found == 200 && least == 0 else {
                                    Issue.record("\(key): \(found) after \(least)")
                                    return
                                }
                            }
                        }
                        await Task.yield()
                    }
                }
            }
            for _ in keys { try await group.next() }
            isOver.value.store(1, ordering: .relaxed)
            try await group.waitForAll()
        }
    }

    @Test("a commit of another program right after a commit of this process, even an empty one, drops all hot keys")
    func commitAfterCommit() async throws {
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            try await Self.runCommits(path)
        }
    }

    /// The index in which another program commits after the next COMMIT of this process.
    private static let target = Mutex<String?>(nil)

    private static func runCommits(_ path: String) async throws {
        // SQLite calls the function for each connection that it opens, and its callback when a statement has ended.
        typealias Extension = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Int32
        let trace: Extension = { connection, _, _ in
            sqlite3_trace_v2(
                connection, UInt32(SQLITE_TRACE_PROFILE),
                { _, _, statement, _ in
                    guard let statement, String(cString: sqlite3_sql(OpaquePointer(statement))) == "COMMIT",
                        let path = HotKeysTests.target.withLock({ $0.take() })
                    else { return 0 }
                    try? RawIndex(path).execute("UPDATE entry SET status = status + 1")
                    return 0
                }, nil)
        }
        #expect(sqlite3_auto_extension(unsafeBitCast(trace, to: (@convention(c) () -> Void).self)) == SQLITE_OK)
        let store = try ResponseStore(directory: URL(filePath: path))
        let key = try CacheKey.path("a")
        let metadata = EntryMetadata.now
        try await store.insert(Data("a".utf8), metadata: metadata, for: key)
        for status in [201, 202] {
            #expect(try store.peek(key)?.metadata.status == status - 1)
            #expect(store.isHot(key))
            target.withLock { $0 = path + "/index.sqlite" }
            if status == 201 {
                try await store.insert(Data("b".utf8), metadata: metadata, for: .path("b"))
            } else {
                // Changes nothing.
                #expect(try await !store.setOptions(EntryOptions(isPinned: true), for: .path("absent")))
            }
            #expect(target.withLock { $0 } == nil)
            #expect(try store.peek(key)?.metadata.status == status)
        }
    }

    private final class Latest: Sendable {
        let value = Atomic(0)
    }
}

extension ResponseStore {
    /// Whether a lookup of the key needs no statement.
    fileprivate func isHot(_ key: CacheKey) -> Bool { hotKeys.find(key) != nil }
}

import TestSupport

@Suite("KeySnapshot")
struct KeySnapshotTests {
    let sandbox = Sandbox()
    let store: ResponseStore

    init() throws { store = try sandbox.open() }

    static let changes =
        HotKeysTests.changes + [
            HotKeysTests.Change("lookups, and accesses in memory", commits: false) { store, _ in
                for _ in 0..<3 { _ = try store.lookup(.path("a")) }
                _ = try store.query("SELECT count(*) FROM cache_entries")
            },
            HotKeysTests.Change("a rollback of another program", commits: false) { _, sandbox in
                try RawIndex(sandbox.indexPath).execute("BEGIN IMMEDIATE; UPDATE entry SET status = 500; ROLLBACK")
            },
            HotKeysTests.Change("a copy of the WAL that all readers use", commits: false) { _, sandbox in
                try RawIndex(sandbox.indexPath).execute("PRAGMA wal_checkpoint(PASSIVE)")
            },
            HotKeysTests.Change("another program, whose commit is copied and whose WAL is emptied") { _, sandbox in
                let index = try RawIndex(sandbox.indexPath)
                try index.execute("UPDATE entry SET status = 500")
                _ = try index.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            },
            HotKeysTests.Change("another program while the store is suspended") { store, sandbox in
                // Its connection keeps the WAL.
                let index = try RawIndex(sandbox.indexPath)
                _ = try index.rows("SELECT 1 FROM entry")
                store.suspend()
                try index.execute("UPDATE entry SET status = 500")
                try store.resume()
            },
        ]

    @Test("a snapshot is current until any process commits", arguments: changes)
    func isCurrent(_ change: HotKeysTests.Change) async throws {
        for name in ["a", "b"] {
            try await store.insert(Data(name.utf8), metadata: sandbox.metadata(), for: .path(name))
            sandbox.clock.advance(by: 1)
        }
        // Nothing else commits or checkpoints during the test.
        store.writer.checkpointer.wait()
        let snapshot = try store.snapshot(of: .path("a"), searchBase: nil)
        #expect(snapshot.entries.count == 1)
        try await change.run(store, sandbox)
        #expect(store.isCurrent(snapshot) == !change.commits)
    }

    @Test("in a copied store without a WAL, snapshots are never current, and no file is created")
    func readOnly() throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let copy = Sandbox()
        try store.snapshot(to: copy.url)
        let names = try FileManager.default.contentsOfDirectory(atPath: copy.path).sorted()
        let opened = try copy.open { $0.isReadOnly = true }
        let snapshot = try opened.snapshot(of: .path("a"), searchBase: nil)
        #expect(snapshot.entries.count == 1)
        #expect(!opened.isCurrent(snapshot))
        #expect(try FileManager.default.contentsOfDirectory(atPath: copy.path).sorted() == names)
    }

    @Test("a snapshot is not current in a closed store")
    func closed() throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let snapshot = try store.snapshot(of: .path("a"), searchBase: nil)
        store.close()
        #expect(!store.isCurrent(snapshot))
    }

    @Test("the snapshot of an absent key has the generation, whether loads failed, and related keys, latest first")
    func absentKey() throws {
        func key(_ query: String, partition: String = "") throws -> CacheKey {
            try CacheKey(url: "https://example.com/a\(query)", partition: partition)
        }
        for (query, partition) in [("?x=1", ""), ("?x=2", ""), ("?x=3", "p")] {
            var metadata = sandbox.metadata()
            metadata.searchBase = "https://example.com/a"
            try store.insert(Data("a".utf8), metadata: metadata, for: key(query, partition: partition))
        }
        let base = "https://example.com/a"[...]
        let snapshot = try store.snapshot(of: key("?y=1"), searchBase: base)
        #expect(snapshot.entries.isEmpty)
        #expect(try snapshot.relatedKeys == [key("?x=2"), key("?x=1")])
        #expect(try snapshot.generation == store.generation())
        #expect(snapshot.hasFailures == false)
        try store.recordFailure(for: key("?y=1"), request: "HEAD", status: 500)
        #expect(try store.snapshot(of: key("?y=1"), searchBase: nil).hasFailures == true)
        #expect(try store.snapshot(of: key("?y=1"), searchBase: nil).relatedKeys == [])
        #expect(try store.snapshot(of: key("?y=1"), searchBase: "https://example.com/"[...]).relatedKeys == [])
        // A key with entries needs no related keys.
        #expect(try store.snapshot(of: key("?x=1"), searchBase: base).relatedKeys == [])
    }
}

import CacheStore
import CacheStoreTesting
import Foundation
import TestSupport
import Testing

@Suite("KeySnapshot")
struct KeySnapshotTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    struct Change: CustomTestStringConvertible {
        let name: String
        /// Whether the snapshot is still current afterwards.
        let isCurrent: Bool
        let run: @Sendable (ResponseStore, Sandbox) throws -> Void

        var testDescription: String { name }

        init(_ name: String, isCurrent: Bool, _ run: @escaping @Sendable (ResponseStore, Sandbox) throws -> Void) {
            self.name = name
            self.isCurrent = isCurrent
            self.run = run
        }
    }

    static let changes = [
        Change("nothing", isCurrent: true) { _, _ in },
        Change("lookups, and accesses in memory", isCurrent: true) { store, _ in
            for _ in 0..<3 { _ = try store.lookup(.path("a")) }
            _ = try store.query("SELECT count(*) FROM cache_entries")
        },
        Change("a rollback of another program", isCurrent: true) { _, sandbox in
            try RawIndex(sandbox.indexPath).execute("BEGIN IMMEDIATE; UPDATE entry SET status = 500; ROLLBACK")
        },
        Change("a copy of the WAL that all readers use", isCurrent: true) { _, sandbox in
            try RawIndex(sandbox.indexPath).execute("PRAGMA wal_checkpoint(PASSIVE)")
        },
        Change("the same key", isCurrent: false) { store, sandbox in
            try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("a"))
        },
        Change("another key", isCurrent: false) { store, sandbox in
            try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        },
        Change("a removal", isCurrent: false) { store, _ in try store.remove(.path("a")) },
        Change("an eviction", isCurrent: false) { store, _ in try store.evict(maxEntries: 0) },
        Change("another store of the directory", isCurrent: false) { _, sandbox in
            try sandbox.open().remove(.path("a"))
        },
        Change("another program", isCurrent: false) { _, sandbox in
            try RawIndex(sandbox.indexPath).execute("UPDATE entry SET status = 500")
        },
        Change("another program, whose commit is copied and whose WAL is emptied", isCurrent: false) { _, sandbox in
            let index = try RawIndex(sandbox.indexPath)
            try index.execute("UPDATE entry SET status = 500")
            _ = try index.rows("PRAGMA wal_checkpoint(TRUNCATE)")
        },
        Change("another program while the store is suspended", isCurrent: false) { store, sandbox in
            // Its connection keeps the WAL.
            let index = try RawIndex(sandbox.indexPath)
            _ = try index.rows("SELECT 1 FROM entry")
            store.suspend()
            try index.execute("UPDATE entry SET status = 500")
            try store.resume()
        },
        Change("a new index", isCurrent: false) { store, sandbox in
            store.suspend()
            try FileManager.default.removeItem(atPath: sandbox.indexPath)
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: sandbox.indexPath + suffix) }
            try store.resume()
        },
    ]

    @Test("a snapshot is current until any process commits", arguments: changes)
    func isCurrent(_ change: Change) throws {
        let store = try sandbox.open()
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        // Nothing else commits or checkpoints during the test.
        store.writer.checkpointer.wait()
        let snapshot = try store.snapshot(of: .path("a"), searchBase: nil)
        #expect(snapshot.entries.count == 1)
        try change.run(store, sandbox)
        #expect(store.isCurrent(snapshot) == change.isCurrent)
    }

    @Test(
        "in a copied store without a WAL, snapshots are never current, and no file is created")
    func readOnly() throws {
        let store = try sandbox.open()
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let copy = try Sandbox()
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
        let store = try sandbox.open()
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let snapshot = try store.snapshot(of: .path("a"), searchBase: nil)
        store.close()
        #expect(!store.isCurrent(snapshot))
    }

    @Test(
        "the snapshot of an absent key has the generation, whether loads failed, and the related keys, the latest first"
    )
    func absentKey() throws {
        let store = try sandbox.open()
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

import CacheStore
import Foundation
import Migrations
import TestSupport
import Testing

@Suite("A store of schema version 1")
struct FirstSchemaTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        let fixture = try #require(Bundle.module.url(forResource: "Fixtures/v001", withExtension: nil))
        try FileManager.default.copyItem(at: fixture, to: sandbox.url)
    }

    @Test("A migration keeps the cache warm: entries, bodies, uses and failures are as they were")
    func warm() async throws {
        #expect(try RawIndex(sandbox.indexPath).value("PRAGMA user_version") == "1")
        let before = try RawIndex(sandbox.indexPath).rows("SELECT * FROM cache_entries ORDER BY key")
        for _ in 0..<2 {
            let store = try sandbox.open { $0.verification = .everyRead }
            #expect(try RawIndex(sandbox.indexPath).value("PRAGMA user_version") == "\(migrations.count)")
            let large = Data(repeating: UInt8(ascii: "a"), count: 5_000)
            for (url, body) in [
                ("https://example.com/feed.json", Data("{\"feed\": 1}\n".utf8)), ("https://example.com/big", large),
                ("https://cdn.example.net/copy-of-big", large), ("https://example.com/empty", Data()),
            ] {
                let entry = try #require(try store.peek(CacheKey(url: url)))
                #expect(try store.openBody(of: entry)?.data() == body)
                #expect(entry.options == EntryOptions(lifetime: .permanent, isPinned: false, tags: []))
            }
            #expect(try await store.check(digests: true).problems == [])
            let statistics = try store.statistics()
            #expect(statistics.entries == 4 && statistics.files == 2 && statistics.physicalBytes == 5_012)
            #expect(statistics.damagedBodies == 0)
            let after = try RawIndex(sandbox.indexPath).rows("SELECT * FROM cache_entries ORDER BY key")
            #expect(after.map { Array($0.prefix(before[0].count)) } == before)
            #expect(before.contains { row in Int(row[18] ?? "") ?? 0 > 0 })
            #expect(!(try store.query("SELECT * FROM cache_errors").rows.isEmpty))
            store.close()
        }
    }

    @Test(
        "What somebody has added to an older store, or damaged in it, does not keep it from being opened",
        arguments: [
            ("CREATE VIEW mine AS SELECT count(*) FROM blob", 4),
            ("CREATE VIEW mine AS SELECT priority FROM access", 4),
            ("CREATE TRIGGER mine AFTER DELETE ON failure BEGIN DELETE FROM blob WHERE 0; END", 4),
            ("DROP TRIGGER entry_tagged", 4),
            ("PRAGMA ignore_check_constraints = ON; UPDATE blob SET reference_count = -1", 4),
            // Beyond what a migration can do: begun afresh.
            ("CREATE INDEX mine ON access (priority)", 0),
        ])
    func alteredBeforeSchemaSix(_ sql: String, _ entries: Int) throws {
        do {
            let index = try RawIndex(sandbox.indexPath)
            for step in migrations where (2...5).contains(step.version) { try index.execute(step.sql) }
            try index.execute("PRAGMA user_version = 5; " + sql)
        }
        let store = try sandbox.open()
        #expect(try store.statistics().entries == entries)
        try store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("new"))
        try store.repair(digests: true)
        #expect(try store.check(digests: true).problems == [])
        #expect(try store.bytes(.path("new")) == Data("new".utf8))
    }

    @Test("A store that was migrated is a store: new options, removals, limits and replacements work on old entries")
    func use() async throws {
        let key = try CacheKey(url: "https://example.com/feed.json")
        let unlimited = try sandbox.open()
        #expect(try await unlimited.setOptions(.init(isPinned: true, tags: ["x"]), for: key))
        let old = try #require(try unlimited.peek(key))
        #expect(try await unlimited.insertDerived(Data("form".utf8), name: "form", of: old))
        #expect(try unlimited.openDerived(name: "form", of: old)?.data() == Data("form".utf8))
        // Only now: with limits, the background might be faster than the pin.
        unlimited.close()
        let store = try sandbox.open { $0.limits = Limits(maxEntries: 3, lowWaterMark: 1) }
        try await store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("new"))
        try await store.flush()
        #expect(try store.statistics().entries == 3)
        #expect(try store.contains(key))
        #expect(try await store.removeAll(.tag("x")).entries == 1)
        #expect(try await store.check(digests: true).isSound)
        #expect(try await store.clear().entries == 2)
        #expect(sandbox.files() == [])
    }

    @Test("What is only read is not migrated")
    func readOnly() throws {
        let error = #expect(throws: StoreError.self) { try sandbox.open { $0.isReadOnly = true } }
        guard case .olderSchema(_, 1, migrations.count) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try RawIndex(sandbox.indexPath).value("PRAGMA user_version") == "1")
    }

    /// Every column of every view of version 1 by its name, and the queries of the article on the format.
    static let queries = [
        """
        SELECT partition, key, url, host, kind, variant, status, content_type, etag, last_modified, byte_size, sha256,
            file_path, freshness, expires_at, created_at, validated_at, accessed_at, hit_count, error_count
        FROM cache_entries ORDER BY key
        """,
        """
        SELECT entries, files, logical_bytes, physical_bytes, unreferenced_bytes, hits, failing_keys FROM cache_stats
        """,
        "SELECT host, entries, byte_size, hits, error_responses, accessed_at FROM cache_hosts ORDER BY host",
        "SELECT partition, key, status, error_count, failed_at FROM cache_errors ORDER BY key",
        "SELECT host, entries, byte_size, hits FROM cache_hosts ORDER BY byte_size DESC LIMIT 10",
        """
        SELECT url, byte_size, created_at FROM cache_entries WHERE hit_count = 0 ORDER BY byte_size DESC, url LIMIT 10
        """,
        "SELECT logical_bytes - physical_bytes AS saved FROM cache_stats",
        """
        SELECT url, expires_at FROM cache_entries
        WHERE freshness = 'fresh' AND expires_at < strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+1 hour')
        ORDER BY expires_at
        """,
        """
        SELECT e.key, e.status, e.error_count, e.failed_at, c.created_at AS content_from
        FROM cache_errors AS e LEFT JOIN cache_entries AS c
            ON c.partition = e.partition AND c.key = e.key AND c.kind = 'content'
        """,
    ]

    @Test("An old query keeps working, and answers the same", arguments: queries)
    func oldQuery(_ sql: String) throws {
        let before = try RawIndex(sandbox.indexPath).rows(sql)
        try sandbox.open().close()
        #expect(try RawIndex(sandbox.indexPath).rows(sql) == before)
        #expect(try ResponseStore.query(sql, inStoreAt: sandbox.url).count == before.count)
        #expect(sql.contains("freshness = 'fresh'") || !before.isEmpty)
    }

    @Test("A kill during a migration leaves one schema or another, whole", arguments: 0..<12)
    func killed(_ round: Int) async throws {
        let delay = UInt32(round * round * 60)
        await #expect(processExitsWith: .signal(9)) { [path = sandbox.path as String, delay = delay as UInt32] in
            Thread.detachNewThread {
                usleep(delay)
                kill(getpid(), SIGKILL)
            }
            _ = try ResponseStore(directory: URL(filePath: path))
            while true { pause() }
        }
        let connection = try Connection(path: sandbox.indexPath, role: .inspector, busyTimeout: .seconds(5))
        let version = try #require(try RawIndex(sandbox.indexPath).value("PRAGMA user_version").flatMap { Int64($0) })
        #expect((1...Int64(migrations.count)).contains(version))
        #expect(try connection.schema() == Connection.schema(ofVersion: version))
        #expect(try RawIndex(sandbox.indexPath).value("SELECT count(*) FROM cache_entries") == "4")
        let store = try sandbox.open()
        #expect(try await store.check(digests: true).isSound)
        #expect(try store.statistics().entries == 4)
    }
}

import CacheStore
import Foundation
import Migrations
import TestSupport
import Testing

/// Who chooses the policy, and what becomes of what is there.
@Suite("The choice of an eviction policy")
struct EvictionPolicyChoiceTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    private func value(_ sql: String) throws -> String? { try RawIndex(sandbox.indexPath).value(sql) }

    /// The names in the order of eviction.
    private func order() throws -> [String] {
        try RawIndex(sandbox.indexPath).rows(
            """
            SELECT replace(key, 'https://example.com/', '') FROM access JOIN entry ON id = entry_id
            ORDER BY rank, priority, entry_id
            """
        ).compactMap { $0[0] }
    }

    @Test("It is kept with the store; who does not choose follows it")
    func persistence() throws {
        for (choice, policy, name) in [
            (nil, .leastRecentlyUsed, "least-recently-used"), (.valueAware, .valueAware, "value-aware"),
            (nil, .valueAware, "value-aware"), (.leastRecentlyUsed, .leastRecentlyUsed, "least-recently-used"),
            (nil, .leastRecentlyUsed, "least-recently-used"),
        ] as [(EvictionPolicy?, EvictionPolicy, String)] {
            let store = try sandbox.open { $0.evictionPolicy = choice }
            #expect(try store.evictionPolicy() == policy)
            #expect(try store.query("SELECT eviction_policy FROM cache_stats").rows == [[.text(name)]])
            store.close()
        }
        let reader = try sandbox.open {
            $0.isReadOnly = true
            $0.evictionPolicy = .valueAware
        }
        #expect(try reader.evictionPolicy() == .leastRecentlyUsed)
    }

    @Test("It holds for who has the store open already, in this process and in another")
    func sharing() async throws {
        let store = try sandbox.open()
        try sandbox.fill(store, ["before"])
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            var configuration = ResponseStore.Configuration()
            configuration.evictionPolicy = .valueAware
            let other = try ResponseStore(directory: URL(filePath: path), configuration: configuration)
            try await other.flush()
            other.close()
        }
        #expect(try store.evictionPolicy() == .valueAware)
        try sandbox.fill(store, ["after"])
        _ = try store.lookup(.path("before"))
        try await store.flush()
        #expect(try value("SELECT count(*) FROM access WHERE age = 0") == "2")
        #expect(try order() == ["after", "before"])
        let other = try sandbox.open { $0.evictionPolicy = .leastRecentlyUsed }
        try await other.flush()
        _ = try store.lookup(.path("before"))
        try await store.flush()
        #expect(try value("SELECT count(*) FROM access WHERE age IS NULL AND priority = accessed_at") == "2")
    }

    @Test("Entries go over in bites, there and back, and nothing is lost")
    func switching() async throws {
        let count = Int(2 * Connection.reorderingBite + 10)
        try sandbox.open().close()
        let connection = try Connection(path: sandbox.indexPath, role: .writer, busyTimeout: .seconds(5))
        try connection.execute("BEGIN")
        // The larger, the younger.
        for number in 0..<count {
            _ = try connection.store(
                sandbox.metadata(), for: .path(number), digest: ContentDigest(of: Data("\(number)".utf8)),
                byteCount: Int64(number) + 1, at: Int64(number) + 1)
        }
        try connection.execute("UPDATE access SET accessed_at = 9999 WHERE byte_count = 1; COMMIT")
        let byUse = try order()
        #expect(byUse.prefix(2) == ["1", "2"] && byUse.last == "0")

        let second = try sandbox.open { $0.evictionPolicy = .valueAware }
        try await second.flush()
        #expect(try order() == (0..<count).reversed().map(String.init))
        #expect(try value("SELECT reordered_id IS NULL FROM state") == "1")
        try second.evict(maxEntries: count - 1)
        #expect(try !second.contains(.path(count - 1)))
        second.close()

        let third = try sandbox.open { $0.evictionPolicy = .leastRecentlyUsed }
        try await third.flush()
        #expect(try order() == byUse.filter { $0 != "\(count - 1)" })
        #expect(try value("PRAGMA integrity_check") == "ok")
    }

    @Test("A change of policy that was interrupted is finished by who opens the store next; evictions go on meanwhile")
    func interrupted() async throws {
        let first = try sandbox.open { $0.evictionPolicy = .valueAware }
        try sandbox.fill(first, (0..<100).map { "\($0)" }, byteCount: 10)
        try first.evict(maxEntries: 90)
        first.close()
        let age = try #require(try value("SELECT eviction_age FROM total").flatMap { Int64($0) })
        #expect(age > 0)
        try RawIndex(sandbox.indexPath).execute(
            "UPDATE access SET age = NULL WHERE entry_id > 50; UPDATE state SET reordered_id = 50")
        let connection = try Connection(path: sandbox.indexPath, role: .writer, busyTimeout: .seconds(5))
        _ = try connection.evictBite(.maxEntries(80), now: 0)
        _ = try connection.evictBite(.unusedFor(.zero), now: 0)
        // Times are no ages.
        #expect(try value("SELECT eviction_age FROM total") == "\(age)")
        let second = try sandbox.open()
        try await second.flush()
        #expect(try value("SELECT count(*) FROM access WHERE age IS NULL") == "0")
        #expect(try value("SELECT reordered_id IS NULL FROM state") == "1")
        #expect(try value("SELECT max(age) FROM access") == "\(age)")
    }

    @Test("An index that is begun afresh has the policy that was chosen")
    func fresh() throws {
        let store = try sandbox.open { $0.evictionPolicy = .valueAware }
        try sandbox.fill(store, ["a"])
        store.close()
        try Data(repeating: 7, count: 5_000).write(to: URL(filePath: sandbox.indexPath))
        let second = try sandbox.open { $0.evictionPolicy = .valueAware }
        try sandbox.fill(second, ["b"])
        #expect(try second.evictionPolicy() == .valueAware)
        #expect(try value("SELECT age FROM access") == "0")
    }

    @Test("A repair knows the policy from the entries, and leaves a present age in place")
    func repair() async throws {
        let store = try sandbox.open { $0.evictionPolicy = .valueAware }
        try sandbox.fill(store, (0..<20).map { "\($0)" })
        try store.evict(maxEntries: 10)
        try sandbox.fill(store, (20..<30).map { "\($0)" })
        let lowest = try value("SELECT min(priority) FROM access")
        try RawIndex(sandbox.indexPath).execute(
            "DELETE FROM state; DELETE FROM total; UPDATE access SET byte_count = 7 WHERE entry_id = 20")
        #expect(try await !store.repair().isSound)
        #expect(try await store.check().problems == [])
        #expect(try store.evictionPolicy() == .valueAware)
        #expect(try value("SELECT eviction_age FROM total") == lowest)
        #expect(try value("SELECT count(*) FROM access WHERE byte_count <> 1000") == "0")
    }

    @Test("A store of schema 4 keeps its entries, and their order")
    func migration() throws {
        try FileManager.default.createDirectory(at: sandbox.url, withIntermediateDirectories: true)
        let index = try RawIndex(sandbox.indexPath)
        try index.execute("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
        for step in migrations where step.version <= 4 { try index.execute(step.sql) }
        try index.execute("PRAGMA application_id = \(0x4361_5374); PRAGMA user_version = 4")
        let times = [30, 10, 50, 20, 40]
        for (number, time) in times.enumerated() {
            try index.execute(
                """
                INSERT INTO entry (
                    partition, key, kind, variant, host, status, requested_at, received_at, created_at, is_body_decoded,
                    byte_count, head
                ) VALUES ('', 'https://example.com/\(time)', 0, '', 'example.com', 200, 0, 0, 0, 0, 0, '');
                UPDATE access SET accessed_at = \(time), hit_count = \(number) WHERE entry_id = \(number + 1);
                """)
        }
        let before = try index.rows("SELECT * FROM cache_entries ORDER BY key")
        let store = try sandbox.open()
        #expect(try index.rows("SELECT * FROM cache_entries ORDER BY key") == before)
        #expect(try order() == ["10", "20", "30", "40", "50"])
        #expect(try store.evictionPolicy() == .leastRecentlyUsed)
        for (left, expected) in [(4, ["20", "30", "40", "50"]), (2, ["40", "50"]), (0, [])] {
            try store.evict(maxEntries: left)
            #expect(try order() == expected)
        }
    }
}

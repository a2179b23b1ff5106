import Migrations
import TestSupport

/// The choice of the policy, and its effect on existing entries.
@Suite("The choice of an eviction policy")
struct EvictionPolicyChoiceTests {
    let sandbox = Sandbox()

    private func value(_ sql: String) throws -> String? { try RawIndex(sandbox.indexPath).value(sql) }

    /// The names in the order of eviction.
    private func order() throws -> [String] {
        try RawIndex(sandbox.indexPath).rows(
            """
            SELECT replace(key, 'https://example.com/', '') FROM entry
            LEFT JOIN access ON access.entry_id = id LEFT JOIN priority ON priority.entry_id = id
            ORDER BY priority, coalesce(recency, id << 24), id
            """
        ).compactMap { $0[0] }
    }

    @Test("The store keeps its policy, which applies to an opener that chooses none")
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

    @Test("A new policy applies to open stores, in this process and in another")
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
        #expect(try value("SELECT count(*) FROM priority") == "2")
        #expect(try order() == ["after", "before"])
        let other = try sandbox.open { $0.evictionPolicy = .leastRecentlyUsed }
        try await other.flush()
        _ = try store.lookup(.path("before"))
        try await store.flush()
        #expect(try value("SELECT count(*) FROM priority") == "0")
    }

    @Test("A change of policy and its reversal reorder the entries in batches, and lose none")
    func switching() async throws {
        let count = Int(2 * WriteTransaction.reorderingBatchSize + 10)
        try sandbox.open().close()
        let connection = try Connection(path: sandbox.indexPath, role: .writer, busyTimeout: .seconds(5))
        try connection.execute("BEGIN")
        let transaction = WriteTransaction(connection)
        // Later entries are larger.
        for number in 0..<count {
            let digest = ContentDigest(of: Data("\(number)".utf8))
            _ = try transaction.store(
                sandbox.metadata(), for: .path(number), digest: digest, byteCount: Int64(number) + 1, at: 0)
        }
        let accesses = AccessLog()
        accesses.follow(try connection.lastEntryID(), 0)
        _ = accesses.note(1, at: 0)
        try transaction.write(accesses.take())
        try connection.execute("COMMIT")
        let byUse = try order()
        #expect(byUse.prefix(2) == ["1", "2"])
        #expect(byUse.last == "0")

        let second = try sandbox.open { $0.evictionPolicy = .valueAware }
        try await second.flush()
        #expect(try order() == (1..<count).reversed().map(String.init) + ["0"])
        #expect(try value("SELECT reordered_id IS NULL FROM state") == "1")
        try await second.evict(.maxEntries(count - 1))
        #expect(try !second.contains(.path(count - 1)))
        second.close()

        let third = try sandbox.open { $0.evictionPolicy = .leastRecentlyUsed }
        try await third.flush()
        #expect(try order() == byUse.filter { $0 != "\(count - 1)" })
        #expect(try value("PRAGMA integrity_check") == "ok")
    }

    @Test("The next opener finishes an interrupted change of policy; evictions continue during the change")
    func interrupted() async throws {
        let first = try sandbox.open { $0.evictionPolicy = .valueAware }
        try sandbox.fill(first, (0..<100).map { "\($0)" }, byteCount: 10)
        try await first.evict(.maxEntries(90))
        first.close()
        let age = try #require(try value("SELECT eviction_age FROM total").flatMap { Int64($0) })
        #expect(age > 0)
        try RawIndex(sandbox.indexPath).execute(
            "DELETE FROM priority WHERE entry_id > 50; UPDATE state SET reordered_id = 50")
        let connection = try Connection(path: sandbox.indexPath, role: .writer, busyTimeout: .seconds(5))
        _ = try WriteTransaction(connection).evict(while: EvictionRule.maxEntries(80).isTooMuch)
        // The recency of an evicted entry does not become the eviction age.
        #expect(try value("SELECT eviction_age FROM total") == "\(age)")
        let second = try sandbox.open()
        try await second.flush()
        #expect(try value("SELECT count(*) FROM entry WHERE id NOT IN (SELECT entry_id FROM priority)") == "0")
        #expect(try value("SELECT reordered_id IS NULL FROM state") == "1")
    }

    @Test("A new index has the chosen policy")
    func fresh() throws {
        let store = try sandbox.open { $0.evictionPolicy = .valueAware }
        try sandbox.fill(store, ["a"])
        store.close()
        try Data(repeating: 7, count: 5_000).write(to: URL(filePath: sandbox.indexPath))
        let second = try sandbox.open { $0.evictionPolicy = .valueAware }
        try sandbox.fill(second, ["b"])
        #expect(try second.evictionPolicy() == .valueAware)
        #expect(try value("SELECT count(*) FROM priority") == "1")
    }

    @Test("A repair derives the policy from the entries, and keeps the current eviction age")
    func repair() async throws {
        let store = try sandbox.open { $0.evictionPolicy = .valueAware }
        try sandbox.fill(store, (0..<20).map { "\($0)" })
        try await store.evict(.maxEntries(10))
        try sandbox.fill(store, (20..<30).map { "\($0)" })
        let lowest = try value("SELECT min(priority) FROM priority")
        try RawIndex(sandbox.indexPath).execute("DELETE FROM state; DELETE FROM total")
        #expect(try await !store.repair().isSound)
        #expect(try await store.check().problems == [])
        #expect(try store.evictionPolicy() == .valueAware)
        #expect(try value("SELECT eviction_age FROM total") == lowest)
    }
}

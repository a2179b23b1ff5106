import Dispatch
import TestSupport

@Suite("Concurrent use of a ResponseStore")
struct ConcurrencyTests {
    let sandbox = Sandbox()

    @Test("synchronous and asynchronous writers all finish, even if they outnumber the threads")
    func mixedWriters() async throws {
        let store = try sandbox.open()
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    switch number % 4 {
                    case 0: try Self.insert(number, sandbox, store)
                    case 1:
                        try await store.insert(Data("\(number)".utf8), metadata: sandbox.metadata(), for: .path(number))
                    case 2: try await store.remove(.path(number))
                    default: try await store.flush()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.statistics().entries == 100)
    }

    private static func insert(_ number: Int, _ sandbox: Sandbox, _ store: ResponseStore) throws {
        try store.insert(Data("\(number)".utf8), metadata: sandbox.metadata(), for: .path(number))
    }

    @Test("a change that fails alone loses nothing: accesses stay noted, and the next change deletes unneeded files")
    func failingAlone() throws {
        let store = try sandbox.open()
        for number in [1, 2] { try Self.insert(number, sandbox, store) }
        // Leaves the earlier body for the next transaction to delete.
        try store.insert(Data("other".utf8), metadata: sandbox.metadata(), for: .path(2))
        #expect(try store.lookup(.path(1)) != nil)
        try RawIndex(sandbox.indexPath).execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON failure BEGIN SELECT RAISE(ABORT, 'refused'); END")
        #expect(throws: StoreError.self) { try store.recordFailure(for: .path(3), status: 500) }
        try store.flush()
        let statistics = try store.statistics()
        #expect(statistics.entries == 2)
        #expect(statistics.hits == 1)
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("rolls back the effect of a failed statement, even though SQLite does not count it as a change")
    func halfAStatement() throws {
        let store = try sandbox.open()
        try store.insert(Data("1".utf8), metadata: sandbox.metadata(expiresIn: -1), for: .path(1))
        let index = try RawIndex(sandbox.indexPath)
        // Only the last step changes a row. Its sum overflows the column, and SQLite does not end the transaction for
        // that.
        try index.execute(
            "DELETE FROM access; DELETE FROM blob; UPDATE total SET logical_bytes = -9223372036854775807 - 1")
        #expect(throws: StoreError.self) { try store.evict(.maxEntries(0)) }
        #expect(try index.value("SELECT count(*) FROM entry") == "1")
    }

    @Test("writers that wait for the lock share one transaction, and the failure of one affects no other")
    func groupCommit() async throws {
        // Holds the lock until all writers wait, which takes time on a busy machine.
        let store = try sandbox.open { $0.busyTimeout = .seconds(600) }
        // A key that is removed while its body is written is not stored.
        let generation = try store.generation()
        try await store.remove(.path(5))
        let other = try RawIndex(sandbox.indexPath)
        try other.execute("BEGIN IMMEDIATE")
        let inserts = await store.startChanges(10) { (number) -> String? in
            let writer = store.makeBodyWriter()
            try writer.write(Data("\(number)".utf8))
            try await writer.commit(
                sandbox.metadata(), for: .path(number), unlessRemovedSince: number == 5 ? generation : nil)
            return try RawIndex(sandbox.indexPath).value("SELECT count(*) FROM entry")
        }
        try other.execute("ROLLBACK")
        var seen: [String?] = []
        for (number, insert) in inserts.enumerated() {
            let result = await insert.result
            if number == 5 {
                #expect(throws: StoreError.self) { try result.get() }
            } else {
                seen.append(try result.get())
            }
        }
        // The first writer commits alone. Each of the other writers saw all entries.
        #expect(seen.dropFirst().allSatisfy { $0 == "9" }, "\(seen)")
        #expect(try store.statistics().entries == 9)
    }

    @Test(
        "a writer that fails after a change affects no other: their shared transaction is rolled back and repeated",
        arguments: ["ABORT", "FAIL", "ROLLBACK"])
    func groupUndone(_ action: String) async throws {
        let store = try sandbox.open { $0.busyTimeout = .seconds(600) }
        let other = try RawIndex(sandbox.indexPath)
        try other.execute("CREATE TRIGGER refuse AFTER INSERT ON failure BEGIN SELECT RAISE(\(action), 'refused'); END")
        try other.execute("BEGIN IMMEDIATE")
        let changes = await store.startChanges(10) { number in
            if number == 5 {
                try await store.recordFailure(for: .path(number), status: 500)
            } else {
                let writer = store.makeBodyWriter()
                try writer.write(Data("\(number)".utf8))
                let inode = try writer.written().descriptor?.status().inode
                let entry = try await writer.commit(sandbox.metadata(), for: .path(number))
                #expect(try store.openBody(of: entry)?.descriptor?.status().inode == inode, "no body is copied")
            }
        }
        try other.execute("ROLLBACK")
        for (number, change) in changes.enumerated() {
            let result = await change.result
            if number == 5 {
                #expect(throws: StoreError.self) { try result.get() }
            } else {
                try result.get()
                #expect(try store.bytes(.path(number)) == Data("\(number)".utf8))
            }
        }
        #expect(try store.statistics().entries == 9)
        #expect(try store.statistics().failingKeys == 0)
        #expect(try await store.check(digests: true).problems == [])
    }
}

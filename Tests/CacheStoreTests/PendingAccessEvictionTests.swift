import TestSupport

/// An eviction among entries with accesses that are only in memory.
@Suite("Eviction with pending accesses")
struct PendingAccessEvictionTests {
    /// Runs evictions in one transaction of a store with `count` entries. Ids start at 1, times of storing at 0 ms.
    private func transact(among count: Int, _ body: (WriteTransaction, AccessLog) throws -> Void) throws {
        let sandbox = Sandbox()
        try sandbox.fillQuickly(count)
        let connection = try Connection(path: sandbox.indexPath, role: .writer, busyTimeout: .seconds(5))
        let accesses = AccessLog()
        accesses.follow(try connection.lastEntryID(), try connection.largestRecency())
        try connection.execute("BEGIN IMMEDIATE")
        try body(WriteTransaction(connection, accessLog: accesses), accesses)
        try connection.execute("ROLLBACK")
    }

    private func evict(_ rule: EvictionRule, _ transaction: WriteTransaction, now: Int64) throws -> Int {
        var batch = try transaction.evict(rule, now: now)
        var count = batch.report.entries
        while !batch.isDone {
            batch = try transaction.evict(rule, after: batch, now: now)
            count += batch.report.entries
        }
        return count
    }

    @Test("a pending access protects an entry from a rule by last use, but not from a rule by age", .requirement("J1"))
    func rulesByTime() throws {
        try transact(among: 3) { transaction, accesses in
            _ = accesses.note(2, at: 4)
            let unused = try evict(.unusedFor(.milliseconds(5)), transaction, now: 8)
            #expect(unused == 2)
            _ = accesses.note(2, at: 5)
            let old = try evict(.olderThan(.milliseconds(5)), transaction, now: 8)
            #expect(old == 1)
            #expect(accesses.isEmpty)
        }
    }

    @Test("pending accesses move their entries behind unused ones, in the order of the accesses", .requirement("J5"))
    func order() throws {
        try transact(among: 6) { transaction, accesses in
            for id in [1, 3, 2, 5, 1] as [Int64] { _ = accesses.note(id, at: 10) }
            var order: [String] = []
            for limit in (0..<6).reversed() {
                let before = try ids(transaction)
                let evicted = try evict(.maxEntries(limit), transaction, now: 10)
                #expect(evicted == 1)
                order += Set(before).subtracting(try ids(transaction))
            }
            #expect(order == ["4", "6", "3", "2", "5", "1"])
        }
    }

    private func ids(_ transaction: WriteTransaction) throws -> [String] {
        try (1...6).compactMap { number in
            try transaction.connection.entries(for: .path(number - 1)).first.map { "\($0.id)" }
        }
    }

    @Test("the cost of pending accesses of all entries is linear")
    func cost() throws {
        func steps(_ count: Int) throws -> Int64 {
            var sum: Int64 = 0
            try transact(among: count) { transaction, accesses in
                for id in 1...Int64(count) { _ = accesses.note(id, at: 10_000) }
                let before = transaction.connection.stepCount
                let evicted = try evict(.maxEntries(count - 1), transaction, now: 10_000)
                #expect(evicted == 1)
                sum = transaction.connection.stepCount - before
            }
            return sum
        }
        let (few, many) = (try steps(50), try steps(1_000))
        #expect(many < 3 * 20 * few, "\(few) steps, then \(many)")
    }

    @Test("a transaction that spends its time on accesses evicts later")
    func bounded() throws {
        try transact(among: 5_000) { transaction, accesses in
            for id in 1...5_000 as ClosedRange<Int64> { _ = accesses.note(id, at: 10_000) }
            let batch = try transaction.evict(.maxEntries(4_999), now: 10_000)
            #expect(batch.report.entries == 0)
            #expect(!batch.isDone)
            #expect(!accesses.isEmpty)
            let evicted = try evict(.maxEntries(4_999), transaction, now: 10_000)
            #expect(evicted == 1)
        }
    }

    @Test("a commit without time left writes one access, although it may still remove many entries")
    func commitWithoutTime() throws {
        try transact(among: 100) { transaction, accesses in
            for id in 1...100 as ClosedRange<Int64> { _ = accesses.note(id, at: 10_000) }
            while !transaction.isOutOfTime {}
            let batch = try transaction.evict(atLeast: 64) { _ in true }
            let written = try transaction.connection.prepare("SELECT count(*) FROM access").integers()
            #expect(batch.report.entries == 0)
            #expect(!batch.isDone)
            #expect(written == [1])
        }
    }
}

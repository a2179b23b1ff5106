import TestSupport

@Suite("Access log")
struct AccessLogTests {
    @Test("sets one timer at a time, even if the accesses are taken in between")
    func oneTimer() {
        let log = AccessLog()
        #expect(log.note(1, at: 10) == .setTimer)
        #expect(log.note(2, at: 10) == .none)
        #expect(log.take().accesses.count == 2)
        #expect(log.note(1, at: 20) == .none)
        #expect(log.timerFired())
        #expect(log.take().accesses.count == 1)
        #expect(log.note(1, at: 30) == .setTimer)
        _ = log.take()
        #expect(!log.timerFired())
    }

    @Test("accesses of one entry become one, with the latest time and their number")
    func merged() throws {
        let log = AccessLog()
        for time in [5, 9, 7] as [Int64] { _ = log.note(1, at: time) }
        let access = try #require(log.take().accesses[1])
        #expect(access.accessedAt == 9)
        #expect(access.recency == 3)
        #expect(access.counts.hits == 3)
    }

    @Test("failed accesses merge with later ones, and the next access sets a timer")
    func restored() throws {
        let log = AccessLog()
        _ = log.note(1, at: 10)
        #expect(log.timerFired())
        let taken = log.take()
        log.restore(taken)
        #expect(log.note(1, at: 20) == .setTimer)
        let access = try #require(log.take().accesses[1])
        #expect(access.accessedAt == 20)
        #expect(access.counts.hits == 2)
    }

    @Test("a failed access also merges with a pending one when the log is full")
    func restoredAtCapacity() throws {
        let log = AccessLog()
        _ = log.note(1, at: 10)
        let taken = log.take()
        for entry in 1...Int64(AccessLog.capacity) { _ = log.note(entry, at: 20) }
        log.restore(taken)
        #expect(log.take().accesses[1]?.counts.hits == 2)
    }

    @Test("memory is bounded, even while writes fail")
    func bounded() {
        let log = AccessLog()
        var asked = 0
        for round in 0..<4 {
            for entry in 0..<Int64(20_000) where log.note(entry, at: Int64(round)) == .writeNow { asked += 1 }
            let taken = log.take()
            #expect(taken.accesses.count <= 2 * AccessLog.capacity)
            log.restore(taken)
        }
        #expect(asked >= 1)
        #expect(log.take().accesses.count <= 2 * AccessLog.capacity)
    }

    @Test("requests without an entry are counted by host, in bounded memory, and restored after a failed write")
    func requests() throws {
        let log = AccessLog()
        var miss = RequestCounts()
        miss.misses = 1
        #expect(log.note(miss, host: "a", at: 10) == .setTimer)
        #expect(log.note(miss, host: "a", at: 20) == .none)
        let taken = log.take()
        #expect(taken.requests["a"]?.misses == 2)
        #expect(taken.requestedAt == 20)
        _ = log.note(miss, host: "a", at: 15)
        log.restore(taken)
        let restored = log.take()
        #expect(restored.requests["a"]?.misses == 3)
        #expect(restored.requestedAt == 20)
        var asked = 0
        for host in 0..<40_000 where log.note(miss, host: "\(host)", at: 0) == .writeNow { asked += 1 }
        #expect(asked == 1)
        #expect(log.take().requests.count <= 2 * AccessLog.capacity)
    }

    @Test("an access is later than earlier insertions and accesses")
    func recency() throws {
        let log = AccessLog()
        log.advance(to: 7)
        _ = log.note(1, at: 0)
        _ = log.note(2, at: 0)
        log.advance(to: 8)
        _ = log.note(3, at: 0)
        let taken = log.take().accesses
        let order = [1, 2, 3].compactMap { taken[$0]?.recency }
        #expect(order == order.sorted())
        try #require(Set(order).count == 3)
        #expect(order[0] > Recency.ofUnused(7))
        #expect(order[1] < Recency.ofUnused(8))
        #expect(order[2] > Recency.ofUnused(8))
    }

    @Test("accesses since the last reading of the clock follow the insertions of other processes, in order")
    func rebased() {
        let log = AccessLog()
        log.advance(to: 7)
        for entry in [1, 2] as [Int64] { _ = log.note(entry, at: 0) }
        log.follow(1_000, Recency.ofUnused(1_000) + 9)
        let taken = log.take().accesses
        let (first, second) = (taken[1]?.recency ?? 0, taken[2]?.recency ?? 0)
        #expect(first > Recency.ofUnused(1_000) + 9)
        #expect(first < second)
        #expect(second < Recency.ofUnused(1_001))
        _ = log.note(3, at: 0)
        #expect(log.take().accesses[3]?.recency ?? 0 > second)
    }

    @Test("a batch has at most the requested number of accesses, and none is lost")
    func groups() {
        let log = AccessLog()
        for entry in 0..<Int64(1_000) { _ = log.note(entry, at: 0) }
        var taken: Set<Int64> = []
        while !log.isEmpty {
            let batch = log.take(limit: 256)
            #expect(batch.accesses.count <= 256)
            #expect(!batch.isEmpty)
            taken.formUnion(batch.accesses.keys)
        }
        #expect(taken.count == 1_000)
    }
}

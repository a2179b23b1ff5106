import TestSupport

@Suite("LaneQueue") struct LaneQueueTests {
    private var queue = LaneQueue()
    private var lastNumber: UInt64 = 0

    private mutating func append(_ loads: ClosedRange<UInt64>, host: String) {
        for id in loads {
            lastNumber += 1
            queue.append(id, host: host, number: lastNumber)
        }
    }

    @Test("First come, first served, except for hosts at their limit")
    mutating func order() {
        append(1...2, host: "a")
        append(3...4, host: "b")
        append(5...5, host: "a")
        #expect(queue.next { $0 == "b" } == 3)
        #expect(queue.next { _ in false } == nil)
        queue.unblock("a")
        #expect(queue.next { _ in true } == 1)
        #expect(queue.next { _ in true } == nil, "a has had room for one")
        queue.unblockAll()
        #expect([queue.next { _ in true }, queue.next { _ in true }, queue.next { _ in true }] == [2, 4, 5])
        #expect(queue.isEmpty)
    }

    @Test("When a load leaves the free slot of its host, the next gets it", .requirement("H8"), arguments: [1, 2, 3])
    mutating func leaving(id: UInt64) {
        append(1...3, host: "a")
        #expect(queue.next { _ in false } == nil)
        queue.unblock("a")
        queue.remove(id)
        #expect(queue.next { _ in true } == (id == 1 ? 2 : 1))
    }

    @Test("a load that leaves and returns has its earlier place, and takes no other load's turn")
    mutating func comingBack() {
        append(1...3, host: "a")
        for _ in 0..<2 {
            queue.remove(1)
            queue.append(1, host: "a", number: 1)
        }
        #expect(queue.next { _ in false } == nil)
        queue.unblock("a")
        queue.unblock("a")
        #expect([queue.next { _ in true }, queue.next { _ in true }] == [1, 2])
    }

    @Test(
        "Loads that leave free their memory soon, wherever they waited", .requirement("H8"), arguments: [true, false])
    mutating func memory(isBlocked: Bool) {
        append(1...10, host: "a")
        for id in UInt64(100)...10_000 {
            append(id...id, host: "b")
            if isBlocked { #expect(queue.next { _ in false } == nil) }
            queue.remove(id)
            #expect(queue.heldCount <= 20)
        }
        for id in UInt64(1)...10 { queue.remove(id) }
        #expect(queue.heldCount == 0)
        queue.remove(1)
        #expect(queue.heldCount == 0, "leaving twice is leaving once")
    }

    @Test(
        "10,000 places of 1,000 hosts, or of one, are checked at most about 3 times each", .requirement("H1"),
        arguments: [1000, 1])
    mutating func work(hostCount: UInt64) {
        let (count, width) = (UInt64(10_000), 6)
        var asked = 0
        var running: [UInt64] = []
        var runningPerHost: [UInt64: Int] = [:]
        for id in 1...count { append(id...id, host: "\(id % hostCount)") }
        var order: [UInt64] = []
        while order.count < count {
            while running.count < width {
                let next = queue.next { host in
                    asked += 1
                    return UInt64(host).map { runningPerHost[$0, default: 0] < 2 } ?? false
                }
                guard let next else { break }
                order.append(next)
                running.append(next)
                runningPerHost[next % hostCount, default: 0] += 1
            }
            guard !running.isEmpty else { break }
            let ended = running.removeFirst() % hostCount
            runningPerHost[ended, default: 0] -= 1
            queue.unblock("\(ended)")
        }
        #expect(order == Array(1...count))
        #expect(asked <= 3 * count)
        #expect(queue.heldCount == 0)
    }
}

import CacheTier
import Synchronization
import TestSupport
import Testing

@Suite("Writes after the delivery")
struct WriteBehindTests {
    /// A queue of one write at a time, whose first write waits at a gate.
    private func queue(jobLimit: Int = 100) async -> (writes: WriteBehind, gate: Gate) {
        let writes = WriteBehind(byteLimit: 1000, jobLimit: jobLimit, width: 1)
        let gate = Gate()
        #expect(writes.add(byteCount: 0) { await gate.wait() })
        await gate.reached(1)
        return (writes, gate)
    }

    @Test("removals precede all writes, and ends of leases alternate with other writes", .requirement("T8"))
    func order() async {
        let (writes, gate) = await queue()
        let order = Mutex<[String]>([])
        func note(_ name: String) -> @Sendable () async -> Void { { order.withLock { $0.append(name) } } }
        for name in ["write 1", "write 2", "write 3"] { #expect(writes.add(byteCount: 0, note(name))) }
        for name in ["end 1", "end 2"] { writes.addEnd(note(name)) }
        writes.addUrgent(note("removal"))
        gate.open()
        await writes.drain()
        #expect(order.withLock { $0 } == ["removal", "end 1", "write 1", "end 2", "write 2", "write 3"])
    }

    @Test("writes beyond the bound are refused, and release their bytes", .requirement("T6"))
    func bounds() async {
        let (writes, gate) = await queue(jobLimit: 2)
        let runCount = Mutex(0)
        let run = { @Sendable () async in runCount.withLock { $0 += 1 } }
        #expect(writes.reserve(1000))
        #expect(!writes.reserve(1))
        #expect(writes.add(byteCount: 400, run))
        #expect(writes.add(byteCount: 400, run))
        #expect(!writes.add(byteCount: 200, run))
        #expect(writes.reserve(200))
        #expect(!writes.reserve(1))
        for _ in 0..<3 { writes.addEnd(run) }
        gate.open()
        await writes.drain()
        #expect(runCount.withLock { $0 } == 4)
        #expect(writes.reserve(800))
        #expect(!writes.reserve(1))
    }

    @Test("a drain waits for earlier writes only", .requirement("T6"), .timeLimit(.minutes(20)))
    func drain() async {
        let (writes, gate) = await queue()
        let isDrained = Mutex(false)
        // The queue is never empty before the drain returns.
        @Sendable func addNext() {
            _ = writes.add(byteCount: 0) { if !isDrained.withLock({ $0 }) { addNext() } }
        }
        let hasRun = Mutex(false)
        #expect(writes.add(byteCount: 0) { hasRun.withLock { $0 = true } })
        addNext()
        gate.open()
        await writes.drain()
        isDrained.withLock { $0 = true }
        #expect(hasRun.withLock { $0 })
        await writes.drain()
    }
}

import CacheTier
import TestSupport

@Suite("Writes after the delivery") struct WriteBehindTests {
    /// A queue of one write at a time, whose first write waits at a gate.
    private func queue() async -> (writes: WriteBehind, gate: Gate) {
        let writes = WriteBehind(byteLimit: 10_000, width: 1)
        let gate = Gate()
        writes.add(reserved: 0) { await gate.wait() }
        await gate.reached(1)
        return (writes, gate)
    }

    @Test("removals precede all writes", .requirement("T8"))
    func order() async {
        let (writes, gate) = await queue()
        let order = Mutex<[String]>([])
        func note(_ name: String) -> @Sendable () async -> Void { { order.withLock { $0.append(name) } } }
        for name in ["write 1", "write 2"] { writes.add(reserved: 0, note(name)) }
        writes.addUrgent(note("removal"))
        gate.open()
        await writes.drain()
        #expect(order.withLock { $0 } == ["removal", "write 1", "write 2"])
    }

    @Test("writes beyond the bound in bytes are refused, and ended writes release their bytes", .requirement("T6"))
    func bounds() async {
        let (writes, gate) = await queue()
        let runCount = Mutex(0)
        let run = { @Sendable () async in runCount.withLock { $0 += 1 } }
        // The first write counts for 1024 bytes.
        #expect(writes.reserve(8000))
        #expect(!writes.reserve(977))
        #expect(writes.add(reserved: 8000, run))
        // A write without a body counts, too.
        #expect(!writes.add(run))
        // Its 900 reserved bytes are too few, and are released again.
        #expect(writes.reserve(900))
        #expect(!writes.add(reserved: 900, run))
        gate.open()
        await writes.drain()
        #expect(writes.add(run))
        await writes.drain()
        #expect(runCount.withLock { $0 } == 2)
        #expect(writes.reserve(10_000))
        #expect(!writes.reserve(1))
    }

    @Test("the bound in bytes also bounds the number of writes with empty bodies", .requirement("T6"))
    func emptyBodies() async {
        let (writes, gate) = await queue()
        #expect((0..<100).count { _ in writes.add(reserved: 0) {} } == 8)
        gate.open()
        await writes.drain()
        #expect(writes.reserve(10_000))
    }

    @Test("dropping the waiting writes ends a drain, and leaves the running one", .requirement("T6"))
    func dropping() async {
        let (writes, gate) = await queue()
        for _ in 0..<3 { writes.add(reserved: 0) { Issue.record("a dropped write ran") } }
        #expect(writes.dropWaiting() == 3)
        gate.open()
        await writes.drain()
    }

    @Test("a drain waits for earlier writes only", .requirement("T6"), .timeLimit(.minutes(5)))
    func drain() async {
        let (writes, gate) = await queue()
        let isDrained = Mutex(false)
        // The queue is never empty before the drain returns.
        @Sendable func addNext() {
            writes.add(reserved: 0) {
                if !isDrained.withLock({ $0 }) { addNext() }
            }
        }
        let hasRun = Mutex(false)
        writes.add(reserved: 0) { hasRun.withLock { $0 = true } }
        addNext()
        gate.open()
        await writes.drain()
        isDrained.withLock { $0 = true }
        #expect(hasRun.withLock { $0 })
        await writes.drain()
    }
}

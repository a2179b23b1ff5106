import CacheStore
import Testing

@Suite("Touches")
struct TouchesTests {
    @Test("one timer at a time, however often the notes are taken")
    func oneTimer() {
        let touches = Touches()
        #expect(touches.note(1, at: 10) == .setTimer)
        #expect(touches.note(2, at: 10) == .none)
        #expect(touches.take().touches.count == 2)
        #expect(touches.note(1, at: 20) == .none)
        #expect(touches.timerFired())
        #expect(touches.take().touches.count == 1)
        #expect(touches.note(1, at: 30) == .setTimer)
        _ = touches.take()
        #expect(!touches.timerFired())
    }

    @Test("notes of one entry become one, with the latest time and their number")
    func merged() throws {
        let touches = Touches()
        for time in [5, 9, 7] as [Int64] { _ = touches.note(1, at: time) }
        let touch = try #require(touches.take().touches[1])
        #expect(touch.accessedAt == 9)
        #expect(touch.counts.hits == 3)
    }

    @Test("what could not be written comes back, next to what was noted meanwhile, and sets a timer with its next use")
    func restored() throws {
        let touches = Touches()
        _ = touches.note(1, at: 10)
        #expect(touches.timerFired())
        let taken = touches.take()
        touches.restore(taken)
        #expect(touches.note(1, at: 20) == .setTimer)
        let touch = try #require(touches.take().touches[1])
        #expect(touch.accessedAt == 20)
        #expect(touch.counts.hits == 2)
    }

    @Test("memory is bounded, even while nothing can be written")
    func bounded() {
        let touches = Touches()
        var asked = 0
        for round in 0..<4 {
            for entry in 0..<Int64(20_000) where touches.note(entry, at: Int64(round)) == .writeNow { asked += 1 }
            let taken = touches.take()
            #expect(taken.touches.count <= 2 * Touches.capacity)
            touches.restore(taken)
        }
        #expect(asked >= 1)
        #expect(touches.take().touches.count <= 2 * Touches.capacity)
    }

    @Test(
        "requests that no entry answered are counted by host, in bounded memory, and come back if they cannot be written"
    )
    func requests() throws {
        let touches = Touches()
        var miss = RequestCounts()
        miss.misses = 1
        #expect(touches.note(miss, host: "a", at: 10) == .setTimer)
        #expect(touches.note(miss, host: "a", at: 20) == .none)
        let taken = touches.take()
        #expect(taken.requests["a"]?.misses == 2)
        #expect(taken.requestedAt == 20)
        _ = touches.note(miss, host: "a", at: 15)
        touches.restore(taken)
        let restored = touches.take()
        #expect(restored.requests["a"]?.misses == 3)
        #expect(restored.requestedAt == 20)
        var asked = 0
        for host in 0..<40_000 where touches.note(miss, host: "\(host)", at: 0) == .writeNow { asked += 1 }
        #expect(asked == 1)
        #expect(touches.take().requests.count <= 2 * Touches.capacity)
    }
}

import CacheTier
import TestSupport
import Testing

@Suite("The bound on waiting for another machine")
struct WaitScheduleTests {
    @Test("pauses grow and fill the bound; slow requests shorten them", .requirement("T10"))
    func schedule() {
        var schedule = WaitSchedule(bound: .milliseconds(100), firstPause: .milliseconds(10))
        var pauses: [Duration] = []
        while let pause = schedule.pause(after: .zero) { pauses.append(pause) }
        #expect(pauses.reduce(.zero, +) == .milliseconds(100))
        #expect(pauses.prefix(3) == [.milliseconds(10), .milliseconds(15), .milliseconds(22.5)])
        #expect(pauses.count == 5)
        var busy = WaitSchedule(bound: .milliseconds(100))
        #expect(busy.pause(after: .milliseconds(95)) == .milliseconds(5))
        #expect(busy.pause(after: .milliseconds(100)) == nil)
    }

    @Test(
        "a wait takes at most twice the origin's time and four requests to the tier, and at most its bound",
        .requirement("T10"))
    func longestWait() {
        var plan = HedgingPlan()
        #expect(plan.longestWait(atMost: .seconds(1)) == .seconds(1))
        plan.noteOrigin(.milliseconds(100))
        plan.noteTier(.milliseconds(10), isHit: false)
        #expect(abs(plan.longestWait(atMost: .seconds(1)) / .milliseconds(1) - 240) < 0.001)
        #expect(plan.longestWait(atMost: .milliseconds(50)) == .milliseconds(50))
    }
}

import TestSupport

@Suite("MemoryCache under pressure") struct MemoryPressureTests {
    let clock = ManualClock()
    let source = MemoryPressureSource()

    private func cache(_ costLimit: Int?, duration: Duration = .seconds(10)) -> MemoryCache<Int, Int> {
        let stress = StressLimits(warning: 0.5, critical: 0.1, duration: duration)
        return MemoryCache(costLimit: costLimit, stress: stress, pressure: source, clock: clock.date)
    }

    /// Inserts values of cost 10 up to the limit. Returns their total cost.
    @discardableResult
    private func fill(_ cache: MemoryCache<Int, Int>) -> Int {
        for number in 0..<20 { cache.insert(number, for: number, cost: 10) }
        return cache.totalCost
    }

    @Test("Two signals 5 s apart, and a new limit at 7 s that applies at 20 s", .requirement("G4"))
    func timeline() {
        let cache = cache(100)
        #expect(fill(cache) == 100)
        source.signal(.warning)
        #expect(cache.totalCost == 50)
        clock.advance(by: 5)
        source.signal(.warning)
        #expect(cache.totalCost == 50, "half of the limit, not of the half")
        clock.advance(by: 2)
        cache.costLimit = 80
        #expect(cache.totalCost == 40)
        #expect(cache.costLimit == 80, "as configured")
        clock.advance(by: 5)
        #expect(fill(cache) == 40, "at 12 s the second signal still lasts")
        clock.advance(by: 2.9)
        #expect(fill(cache) == 40)
        clock.advance(by: 0.1)
        #expect(fill(cache) == 80, "at 15 s it is over")
        clock.advance(by: 5)
        #expect(fill(cache) == 80)
        #expect(!cache.insert(0, for: 99, cost: 81))
        #expect(cache.insert(0, for: 99, cost: 80))
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let signals: [(MemoryPressure, at: TimeInterval)]
        let limit: Int?
        let at: TimeInterval
        let expect: Int?

        init(
            _ name: String, _ signals: [(MemoryPressure, at: TimeInterval)], limit: Int?, at: TimeInterval, expect: Int?
        ) {
            (testDescription, self.signals, self.limit, self.at, self.expect) = (name, signals, limit, at, expect)
        }
    }

    @Test(
        "The current limit", .requirement("G4"),
        arguments: [
            Case("no pressure", [], limit: 100, at: 0, expect: 100),
            Case("no pressure, no limit", [], limit: nil, at: 0, expect: nil),
            Case("warning", [(.warning, 0)], limit: 100, at: 9, expect: 50),
            Case("critical", [(.critical, 0)], limit: 100, at: 9, expect: 10),
            Case("over at the end", [(.critical, 0)], limit: 100, at: 10, expect: 100),
            Case("critical within a warning", [(.warning, 0), (.critical, 5)], limit: 100, at: 9, expect: 10),
            Case("critical outlasts it", [(.warning, 0), (.critical, 5)], limit: 100, at: 14, expect: 10),
            Case("warning within critical", [(.critical, 0), (.warning, 5)], limit: 100, at: 9, expect: 10),
            Case("warning outlasts it", [(.critical, 0), (.warning, 5)], limit: 100, at: 10, expect: 50),
            Case("both are over", [(.critical, 0), (.warning, 5)], limit: 100, at: 15, expect: 100),
            Case(
                "a signal again and again", (0...9).map { (.warning, at: Double($0)) }, limit: 100, at: 18, expect: 50),
            Case("and over", (0...9).map { (.warning, at: Double($0)) }, limit: 100, at: 19, expect: 100),
            Case("without a limit, of what was held", [(.warning, 0)], limit: nil, at: 1, expect: 500),
            Case("when the pressure began", [(.warning, 0), (.warning, 5)], limit: nil, at: 14, expect: 500),
            Case("at whatever level", [(.warning, 0), (.critical, 5)], limit: nil, at: 14, expect: 100),
            Case("not before it began", [(.warning, -20), (.critical, 5)], limit: nil, at: 14, expect: 75),
            Case("and then there is none again", [(.warning, 0)], limit: nil, at: 10, expect: nil),
            Case("the largest limit", [(.warning, 0)], limit: .max, at: 0, expect: 1 << 62),
            Case("a clock set back a little", [(.warning, 0)], limit: 100, at: -10, expect: 50),
            Case("a clock set back far", [(.warning, 0)], limit: 100, at: -11, expect: 100),
        ])
    func clamp(_ c: Case) {
        var clamp = StressClamp(StressLimits(warning: 0.5, critical: 0.1, duration: .seconds(10)))
        var held = 1000
        for (pressure, at) in c.signals {
            clamp.note(pressure, totalCost: held, at: clock.now + at)
            held -= 250
        }
        #expect(clamp.limit(for: c.limit, at: clock.now + c.at) == c.expect)
    }

    @Test("A share of 1 is the limit, a share of 0 keeps nothing", .requirement("G4"))
    func wholeShares() {
        var clamp = StressClamp(StressLimits(warning: 1, critical: 0))
        clamp.note(.warning, totalCost: 0, at: clock.now)
        #expect(clamp.limit(for: .max, at: clock.now) == .max)
        clamp.note(.critical, totalCost: 0, at: clock.now)
        #expect(clamp.limit(for: .max, at: clock.now) == 0)
    }

    @Test(
        "Expired values are removed first, which may suffice", .requirement("G4"),
        arguments: [
            (MemoryPressure.warning, left: [1, 3, 5, 7, 9]), (.critical, [9]),
        ])
    func expiredFirst(pressure: MemoryPressure, left: [Int]) {
        let cache = cache(100)
        for number in 0..<10 {
            // The most recently used values expire.
            cache.insert(number, for: number, cost: 10, expiresAt: number % 2 == 0 ? clock.now + 60 : nil)
        }
        for number in [0, 2, 4, 6, 8] { _ = cache.value(for: number) }
        clock.advance(by: 60)
        #expect(cache.respond(to: pressure) == FreedMemory(count: 10 - left.count, cost: 100 - 10 * left.count))
        #expect((0..<10).filter { cache.contains($0) } == left)
    }

    @Test("While the limit is low, a value above it is not admitted and evicts nothing", .requirement("G4"))
    func oversizeUnderPressure() {
        let cache = cache(100)
        fill(cache)
        source.signal(.critical)
        #expect(!cache.insert(0, for: 99, cost: 11))
        #expect(cache.totalCost == 10)
    }

    @Test("A cache without a limit shrinks too, and grows again", .requirement("G4"))
    func unlimited() {
        let cache = cache(nil)
        #expect(fill(cache) == 200)
        source.signal(.warning)
        #expect(cache.totalCost == 100)
        source.signal(.critical)
        #expect(cache.totalCost == 20)
        #expect(fill(cache) == 20)
        clock.advance(by: 10)
        #expect(fill(cache) == 200)
    }

    @Test("A cache observes its source as long as it lives")
    func observing() {
        var one: MemoryCache<Int, Int>? = cache(100)
        let other = cache(100)
        #expect(source.observerCount == 2)
        fill(other)
        one = nil
        #expect(one == nil)
        #expect(source.observerCount == 1)
        source.signal(.warning)
        #expect(other.totalCost == 50)
    }
}

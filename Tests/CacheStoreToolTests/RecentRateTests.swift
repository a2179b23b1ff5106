import CacheStoreTool
import TestSupport

@Suite("RecentRate")
struct RecentRateTests {
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        /// Seconds since the start, and the count at that time.
        let samples: [(Double, Int64)]
        let expected: Double?

        init(_ name: String, _ samples: [(Double, Int64)], _ expected: Double?) {
            testDescription = name
            self.samples = samples
            self.expected = expected
        }
    }

    @Test(
        "The rate is the growth within the last ten seconds",
        arguments: [
            Case("nothing noted", [], nil),
            Case("too early to tell", [(0.1, 5), (0.4, 20)], nil),
            Case("from the beginning on", [(0.5, 10)], 20),
            Case("the whole span", [(5, 10), (10, 20)], 2),
            Case("a quick beginning is forgotten", [(1, 1000), (6, 1000), (11, 1005), (16, 1010)], 1),
            Case("one sample for all that is old", [(1, 0), (2, 0), (3, 0), (20, 17)], 1),
            Case("nothing comes any more", [(1, 50), (12, 50), (24, 50)], 0),
            Case("what was removed", [(1, 50), (2, 0)], 0),
        ])
    func rate(_ c: Case) {
        var rate = RecentRate()
        for (seconds, count) in c.samples { rate.note(count, at: .seconds(seconds)) }
        #expect(rate.perSecond == c.expected)
    }

    @Test("The number of samples is bounded for any number of calls", arguments: [0.1, 1, 100])
    func memory(milliseconds: Double) {
        var rate = RecentRate()
        for number in 1...100_000 {
            rate.note(Int64(number), at: .microseconds(Int64(1_000 * milliseconds) * Int64(number)))
        }
        #expect(abs((rate.perSecond ?? 0) * milliseconds - 1_000) < 1)
        #expect(rate.sampleCount <= 103)
    }
}

import CacheStoreTool
import TestSupport

@Suite("ProgressBar")
struct ProgressBarTests {
    struct Case: CustomTestStringConvertible {
        let bar: ProgressBar
        let width: Int
        let expected: String

        var testDescription: String { expected }

        init(
            _ completed: Int, of total: Int?, _ perSecond: Double?, bytes: Int64 = 0, at bytesPerSecond: Double? = nil,
            width: Int = 79, _ expected: String
        ) {
            bar = ProgressBar(
                completed: completed, total: total, perSecond: perSecond, byteCount: bytes,
                bytesPerSecond: bytesPerSecond)
            self.width = width
            self.expected = expected
        }
    }

    @Test(
        "The text of a progress bar",
        arguments: [
            Case(0, of: 200, nil, "[..............................]  0%  0/200  0 B"),
            Case(
                100, of: 200, 2, bytes: 1_234_567, at: 350_000,
                "[#############.............]  50%  100/200  2.0/s  1.2 MB  350.0 kB/s  ETA 0:50"),
            Case(
                199, of: 200, 10, bytes: 999, at: 12.9,
                "[#############################.]  99%  199/200  10.0/s  999 B  12 B/s  ETA 0:01"),
            Case(200, of: 200, 10, "[##############################]  100%  200/200  10.0/s  0 B"),
            Case(0, of: 0, nil, "[##############################]  100%  0/0  0 B"),
            Case(7, of: 5, nil, "[##############################]  100%  7/7  0 B"),
            Case(1, of: 2, 0, at: 0, "[###############...............]  50%  1/2  0.0/s  0 B  0 B/s"),
            Case(12, of: nil, 3.25, bytes: 5, at: 1, "12 done  3.3/s  5 B  1 B/s"),
            Case(1, of: 2, nil, width: 25, "[####....]  50%  1/2  0 B"),
            Case(1, of: 2, nil, width: 20, "50%  1/2  0 B"),
        ])
    func text(_ c: Case) {
        let text = c.bar.text(width: c.width)
        #expect(text == c.expected)
        #expect(text.count <= max(c.width, c.expected.count))
    }

    @Test("The largest numbers leave room for a bar")
    func width() {
        let bar = ProgressBar(
            completed: 999_999, total: 1_000_000, perSecond: 1e-9, byteCount: 999_949_999_999,
            bytesPerSecond: 999_949_999)
        let text = bar.text(width: 79)
        #expect(text.hasPrefix("[#"))
        #expect(text.count <= 79)
        #expect(bar.secondsLeft == 1_000_000_000)
    }

    @Test(
        "The remaining time",
        arguments: [
            (0, 10, 2, 5), (9, 10, 4, 1), (10, 10, 4, nil), (0, 10, 0, nil), (0, 10, nil, nil), (0, nil, 3, nil),
        ] as [(Int, Int?, Double?, Int64?)])
    func secondsLeft(completed: Int, total: Int?, perSecond: Double?, expected: Int64?) {
        let bar = ProgressBar(
            completed: completed, total: total, perSecond: perSecond, byteCount: 0, bytesPerSecond: nil)
        #expect(bar.secondsLeft == expected)
    }

    @Test(
        "A duration has hours, minutes and seconds",
        arguments: [
            (0, "0:00"), (9, "0:09"), (42, "0:42"), (60, "1:00"), (754, "12:34"), (3_600, "1:00:00"),
            (3_723, "1:02:03"), (45_296, "12:34:56"), (360_000, "100:00:00"),
        ] as [(Int64, String)])
    func clock(seconds: Int64, text: String) {
        #expect(ProgressBar.clockText(seconds) == text)
    }
}

import CacheStoreTool
import TestSupport

@Suite("Text on a terminal")
struct TextTests {
    @Test(
        "Aligns columns of text",
        arguments: [
            ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("字", 2), ("한글", 4), ("🎉", 2), ("…", 1), ("a\u{200B}b", 2),
        ])
    func columns(text: String, count: Int) {
        #expect(text.columnCount == count)
    }

    @Test(
        "Truncates a wide text with an ellipsis, at either end",
        arguments: [
            ("abcdef", 6, "abcdef", "abcdef"), ("abcdef", 5, "abcd…", "ab…ef"), ("abcdef", 4, "abc…", "ab…f"),
            ("abcdef", 1, "…", "…"), ("字字字", 5, "字字…", "字…字"), ("字字字", 4, "字…", "字…"),
        ])
    func cut(text: String, limit: Int, end: String, inside: String) {
        #expect(text.cut(toColumns: limit) == end)
        #expect(text.cutInside(toColumns: limit) == inside)
        #expect(inside.columnCount <= limit)
    }

    @Test(
        "The nearest name differs in few letters",
        arguments: [
            ("lsit", "list"), ("stat", "stats"), ("STATS", "stats"), ("ulr", "url"), ("url", "url"), ("xyz", nil),
            ("", nil), ("accesed_at", "accessed_at"), ("listing", nil),
        ])
    func nearest(text: String, expected: String?) {
        #expect(text.nearest(of: ["list", "stats", "url", "accessed_at"]) == expected)
    }

    @Test(
        "A relative time uses its largest unit",
        arguments: [
            (0, "now"), (1, "in 1s"), (59, "in 59s"), (60, "in 1m"), (7_199, "in 1h"), (86_400, "in 1d"),
            (-1, "1s ago"), (-31_536_000, "1y ago"), (Int64.min, "292471208677y ago"),
        ])
    func time(seconds: Int64, text: String) {
        #expect(seconds.asRelativeTime == text)
    }

    @Test("Long work shows its percentage, its rate and the remaining time")
    func work() {
        let meter = WorkMeter("checking", .bytes)
        #expect(meter.text(done: 0, total: 4_000_000, after: .zero) == "checking  0%  0 B of 4.0 MB")
        #expect(
            meter.text(done: 1_000_000, total: 4_000_000, after: .seconds(2))
                == "checking  25%  1.0 MB of 4.0 MB  500.0 kB/s  ETA 0:06")
        #expect(
            meter.text(done: 3_999_999, total: 4_000_000, after: .seconds(8))
                == "checking  99%  4.0 MB of 4.0 MB  500.0 kB/s  ETA 0:01")
        #expect(meter.text(done: 5_000_000, total: nil, after: .seconds(10)) == "checking  5.0 MB  500.0 kB/s")
        let counter = WorkMeter("evicting", .count("entry", "entries"))
        #expect(counter.text(done: 1, total: 1, after: .zero) == "evicting  100%  1 of 1 entry")
    }

    @Test(
        "The remaining time has hours, minutes and seconds",
        arguments: [
            (9, "0:09"), (42, "0:42"), (60, "1:00"), (754, "12:34"), (3_600, "1:00:00"), (3_723, "1:02:03"),
            (45_296, "12:34:56"), (360_000, "100:00:00"), (.max - 1, "277777:46:40"),
        ] as [(Int64, String)])
    func clock(seconds: Int64, text: String) {
        let meter = WorkMeter("loading", .count("URL", "URLs"))
        // One in a second.
        #expect(meter.text(done: 1, total: 1 + seconds, after: .seconds(1)).hasSuffix("  1.0/s  ETA \(text)"))
    }
}

import CacheReports
import CacheStoreTool
import TestSupport

@Suite("WatchLine")
struct WatchLineTests {
    private let first = WatchedCounters(time: .seconds(1), ["entries": 10, "bytes": 5_000, "hits": 3, "misses": 10])
    private let date = Date(timeIntervalSince1970: 1_700_000_000.25)

    @Test("A rate is the growth of a counter per second; without elapsed time, no rate")
    func rates() {
        let second = WatchedCounters(time: .seconds(3), ["entries": 15, "bytes": 4_000, "hits": 4, "misses": 10])
        let rates = second.perSecond(since: first)
        #expect(rates == ["entries": 2.5, "bytes": -500, "hits": 0.5, "misses": 0])
        #expect(first.perSecond(since: first) == nil)
        let third = WatchedCounters(time: .seconds(4), ["entries": 11])
        #expect(third.perSecond(since: first)?["entries"] == 0.333)
    }

    @Test("Text is in columns, at most 80 wide")
    func text() {
        let second = WatchedCounters(time: .seconds(3), ["entries": 15, "bytes": 4_000, "hits": 4, "misses": 10])
        let (one, other) = (
            WatchLine(first, since: nil, date: date).text, WatchLine(second, since: first, date: date).text
        )
        #expect(
            [WatchLine.header, one, other] == [
                "UTC      entries      /s    bytes       /s     hits      /s   misses      /s",
                "22:13:20      10       -   5.0 kB        -        3       -       10       -",
                "22:13:20      15     2.5   4.0 kB   -500 B        4     0.5       10     0.0",
            ])
    }

    @Test("JSON has all counters, and the rates after the first interval")
    func json() throws {
        struct Line: Decodable, Equatable {
            var time: String
            var entries: Int
            var bytes: Int
            var hits: Int
            var misses: Int
            var per_second: [String: Double]?
        }
        let expected = Line(
            time: "2023-11-14T22:13:20.250Z", entries: 10, bytes: 5_000, hits: 3, misses: 10, per_second: nil)
        let one = WatchLine(first, since: nil, date: date).json.bytes(.line)
        #expect(try JSONDecoder().decode(Line.self, from: Data(one)) == expected)
        #expect(String(decoding: one, as: UTF8.self).contains("\"per_second\":null"))
        let second = WatchedCounters(time: .seconds(2), ["entries": 10, "bytes": 5_000, "hits": 103, "misses": 10])
        let other = WatchLine(second, since: first, date: date).json.bytes(.line)
        let rates = try JSONDecoder().decode(Line.self, from: Data(other)).per_second
        #expect(rates?["hits"] == 100)
        #expect(rates?.count == 4)
    }
}

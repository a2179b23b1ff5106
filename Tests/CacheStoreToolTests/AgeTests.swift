import CacheStoreTool
import TestSupport

@Suite("Age")
struct AgeTests {
    @Test(
        "A length of time is a number with s, m, h or d",
        arguments: [
            ("0s", 0), ("90s", 90), ("15m", 900), ("12h", 43_200), ("30d", 2_592_000), ("9223372036854775807s", .max),
            ("106751991167300d", 9_223_372_036_854_720_000), ("106751991167301d", nil), ("9223372036854775808s", nil),
            ("30", nil), ("d", nil), ("", nil), ("-1d", nil), ("+1d", nil), ("1.5h", nil), ("1w", nil), ("1D", nil),
            ("1h30m", nil), ("１d", nil),
        ] as [(String, Int64?)])
    func times(text: String, seconds: Int64?) {
        #expect(Age(argument: text)?.duration == seconds.map { .seconds($0) })
    }
}

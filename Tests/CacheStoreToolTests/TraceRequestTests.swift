import CacheReports
import TestSupport

@Suite("TraceRequest")
struct TraceRequestTests {
    private func request(_ text: String) throws -> (key: String, byteCount: Int64)? {
        try TraceRequest(URLListLine(number: 7, .url(text))).map { ($0.key.text, $0.byteCount) }
    }

    @Test(
        "A line is a time, a key and a size",
        arguments: [
            ("1 a 5", "name=a", 5), ("0.25\tb\t0", "name=b", 0),
            ("-1e3  http://c/?q \t9223372036854775807", "name=http://c/?q", .max), ("1 ä 007", "name=ä", 7),
        ] as [(String, String, Int64)])
    func good(_ line: String, _ key: String, _ byteCount: Int64) throws {
        let found = try #require(try request(line))
        #expect(found == (key, byteCount))
    }

    @Test(
        "Reports a malformed request with its line",
        arguments: [
            ("1 a", "not the three words"), ("1 a 5 6", "not the three words"), ("x a 5", "the time"),
            ("nan a 5", "the time"), ("inf a 5", "the time"), ("1 a -5", "the size"), ("1 a +5", "the size"),
            ("1 a 5.0", "the size"), ("1 a 9223372036854775808", "the size"), ("1 a ５", "the size"),
            ("1 a\u{0} 5", "NUL"), ("1 \(String(repeating: "k", count: 40_000)) 5", "more than 32768 bytes"),
        ])
    func malformed(_ line: String, _ reason: String) throws {
        let error = try #require(throws: TraceRequest.Malformed.self) { try request(line) }
        #expect(error.line == 7)
        #expect(error.reason.contains(reason))
        #expect(error.description == "line 7: \(error.reason)")
    }

    @Test("Skips blank lines; rejects lines that are not text")
    func others() throws {
        #expect(try TraceRequest(URLListLine(number: 1, .blank)) == nil)
        #expect(throws: TraceRequest.Malformed(line: 2, reason: "not UTF-8")) {
            try TraceRequest(URLListLine(number: 2, .malformed("not UTF-8")))
        }
    }
}

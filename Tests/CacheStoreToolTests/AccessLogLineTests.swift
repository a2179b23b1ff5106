import CacheReports
import TestSupport

@Suite("AccessLogLine")
struct AccessLogLineTests {
    private static let start = "192.0.2.1 - - [10/Oct/2026:13:55:36 -0700] "

    @Test(
        "Parses the Common and the Combined Log Format",
        arguments: [
            ("GET /a HTTP/1.1\" 200 5", "GET", "/a", 200, 5),
            ("GET /a?b=c%20d HTTP/2.0\" 304 -", "GET", "/a?b=c%20d", 304, 0),
            ("GET /a\" 404 0", "GET", "/a", 404, 0),
            ("HEAD /a HTTP/1.0\" 200 0 \"-\" \"-\"", "HEAD", "/a", 200, 0),
            ("GET /a HTTP/1.1\" 200 7 \"http://b/\" \"A \\\" [x] \\\\\" 0.123 extra", "GET", "/a", 200, 7),
            ("GET /\\\"q\\\" HTTP/1.1\" 200 9", "GET", "/\\\"q\\\"", 200, 9),
            ("GET /\\x22 HTTP/1.1\" 200 9", "GET", "/\\x22", 200, 9),
            ("VERSION-CONTROL http://b/ HTTP/1.1\" 501 9223372036854775807", "VERSION-CONTROL", "http://b/", 501, .max),
            ("GET /ä HTTP/1.1\" 200 1", "GET", "/ä", 200, 1),
        ] as [(String, String, String, Int, Int64)])
    func good(_ end: String, _ method: String, _ target: String, _ status: Int, _ byteCount: Int64) throws {
        let line = try #require(AccessLogLine("\(Self.start)\"\(end)"))
        #expect(line.method == method)
        #expect(line.target == target)
        #expect(line.status == status)
        #expect(line.byteCount == byteCount)
    }

    @Test(
        "The text before the time may be anything",
        arguments: [
            "- - - [] ", "example.com:443 2001:db8::1 - - [t] ", "a - two words [t] ", "a - [name [t] ", "[] ",
            "a - [x] y [t] ",
        ])
    func prefixes(_ start: String) {
        #expect(AccessLogLine("\(start)\"GET /a HTTP/1.1\" 200 5")?.target == "/a")
    }

    @Test(
        "Rejects lines that are not requests",
        arguments: [
            "", " ", "\"", "[", "] \"", "] \"GET / HTTP/1.1\" 200 5", "[t] \"", "[t] \"\" 200 5", "[t] \"-\" 400 0",
            "[t] \"GET\" 200 5", "[t] \" / HTTP/1.1\" 200 5", "[t] \"GET  HTTP/1.1\" 200 5",
            "[t] \"GET /a b HTTP/1.1\" 200 5", "[t] \"GET /a FTP\" 200 5", "[t] \"GET /a HTTP/1.1 200 5",
            "[t] \"GET /a HTTP/1.1\\\" 200 5", "[t] \"GET /a HTTP/1.1\"", "[t] \"GET /a HTTP/1.1\"200 5",
            "[t] \"GET /a HTTP/1.1\" 200", "[t] \"GET /a HTTP/1.1\" 20 5", "[t] \"GET /a HTTP/1.1\" 2000 5",
            "[t] \"GET /a HTTP/1.1\" +20 5", "[t] \"GET /a HTTP/1.1\" 200 -5", "[t] \"GET /a HTTP/1.1\" 200 5x",
            "[t] \"GET /a HTTP/1.1\" 200 9223372036854775808", "[t] \"GET /a HTTP/1.1\" 200 ５",
            "[t] \"\\x16\\x03\\x01\" 400 0", "[t] \"G€T /a HTTP/1.1\" 200 5", "[t] \"GET /a HTTP/1.1\" abc 5",
            "1 key 5", "\u{0}\u{0}",
        ])
    func bad(_ line: String) {
        #expect(AccessLogLine(line) == nil)
    }

    @Test("Changed and truncated lines never crash")
    func fuzz() {
        var random = SeededGenerator()
        let line = Array("\(Self.start)\"GET /\\\"a HTTP/1.1\" 200 5 \"-\" \"x\"".utf8)
        for _ in 0..<20_000 {
            var bytes = line
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = AccessLogLine(
                String(decoding: bytes.prefix(Int.random(in: 0...bytes.count, using: &random)), as: UTF8.self))
        }
    }

    @Test(
        "The first line decides the format",
        arguments: [
            ("1 key 5", .trace), ("\(Self.start)\"GET /a HTTP/1.1\" 200 5", .accessLog), ("garbage", .trace),
        ] as [(String, TraceFormat)])
    func guess(_ line: String, _ format: TraceFormat) {
        #expect(TraceFormat(guessing: line) == format)
    }
}

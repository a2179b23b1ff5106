internal import HTTPCaching
internal import HTTPTypes
internal import Testing

@Suite struct QueryKeyTests {
    private static let json = ["Content-Type: application/json"]

    private static func key(
        _ lines: [String], _ content: String, method: HTTPRequest.Method = .query, ignoresFormat: Bool = false
    ) -> QueryKey? {
        var request = Sample.request(method: method)
        request.headerFields = Sample.fields(lines)
        return QueryKey(request, content: Array(content.utf8), ignoresFormat: ignoresFormat)
    }

    struct Pair: Sendable, CustomTestStringConvertible {
        let name: String
        let first: ([String], String)
        let second: ([String], String)
        var testDescription: String { name }

        init(_ name: String, _ first: ([String], String), _ second: ([String], String)) {
            (self.name, self.first, self.second) = (name, first, second)
        }
    }

    @Test(
        "Q11: content and its metadata distinguish queries",
        arguments: [
            Pair("the content", (json, "{}"), (json, "[]")),
            Pair("whitespace of the content", (json, "{}"), (json, "{ }")),
            Pair("the media type", (json, "{}"), (["Content-Type: application/sql"], "{}")),
            Pair("a parameter", (json, "{}"), (["Content-Type: application/json; a=1"], "{}")),
            Pair("the coding", (json, "{}"), (json + ["Content-Encoding: gzip"], "{}")),
            Pair("the language", (json, "{}"), (json + ["Content-Language: de"], "{}")),
            Pair(
                "one language or two", (json + ["Content-Language: de"], "{}"),
                (json + ["Content-Language: de", "Content-Language: en"], "{}")),
            Pair(
                "the field that a value belongs to", (json + ["Content-Encoding: a"], "{}"),
                (json + ["Content-Language: a"], "{}")),
            Pair(
                "content that looks like metadata", (json, "content-language:de\n\n{}"),
                (json + ["Content-Language: de"], "{}")),
        ])
    func different(_ pair: Pair) throws {
        let keys = try [pair.first, pair.second].map { try #require(Self.key($0.0, $0.1)) }
        #expect(keys[0] != keys[1])
    }

    @Test(
        "Q11: other fields, and the order of fields, do not",
        arguments: [
            ["Accept: text/plain", "Content-Type: application/json", "Content-Language: de"],
            ["Content-Language: de", "Content-Type: application/json", "Content-Length: 2"],
            ["content-language: de", "CONTENT-TYPE: application/json", "Cache-Control: no-cache"],
        ])
    func equal(lines: [String]) {
        #expect(Self.key(lines, "{}") == Self.key(Self.json + ["Content-Language: de"], "{}"))
    }

    @Test(
        "Q12: no key, so no stored response",
        arguments: [
            ("QUERY", [String](), "{}"),
            ("QUERY", ["Content-Type: "], "{}"),
            ("QUERY", ["Content-Type: text/plain"], String(repeating: "a", count: QueryKey.maxContentByteCount + 1)),
            ("query", ["Content-Type: text/plain"], "{}"),
            ("POST", ["Content-Type: text/plain"], "{}"),
            ("GET", ["Content-Type: text/plain"], ""),
        ])
    func none(name: String, lines: [String], content: String) throws {
        let method = try #require(HTTPRequest.Method(name))
        #expect(Self.key(lines, content, method: method) == nil)
    }

    @Test("Q12: 64 KiB of content have a key, and so has none")
    func bounds() {
        #expect(QueryKey.maxContentByteCount == 65_536)
        #expect(Self.key(Self.json, String(repeating: "a", count: QueryKey.maxContentByteCount)) != nil)
        #expect(Self.key(Self.json, "") != nil)
    }

    // MARK: Format

    @Test(
        "Q13: insignificant whitespace is ignored where the policy says so",
        arguments: ["application/json", "Application/JSON ; charset=utf-8", "application/problem+json"])
    func ignored(type: String) {
        let lines = ["Content-Type: \(type)"]
        let (first, second) = ("{\"a\": [1, 2]}", "\n{ \"a\" :[1,\t2] }\r\n")
        #expect(Self.key(lines, first, ignoresFormat: true) == Self.key(lines, second, ignoresFormat: true))
        #expect(Self.key(lines, first) != Self.key(lines, second))
    }

    @Test(
        "Q13: never for another type, another coding, or a request with no-transform",
        arguments: [
            ["Content-Type: application/sql"], ["Content-Type: application/jsonl"], ["Content-Type: text/json"],
            json + ["Content-Encoding: gzip"], json + ["Cache-Control: no-transform"],
            json + ["Cache-Control: max-age=1, No-Transform"],
        ])
    func kept(lines: [String]) {
        #expect(Self.key(lines, "[1]", ignoresFormat: true) != Self.key(lines, "[ 1 ]", ignoresFormat: true))
    }

    @Test(
        "Q13: what JSON distinguishes stays distinct",
        arguments: [
            ("[1, 2]", "[12]"), ("[\"a b\"]", "[\"ab\"]"), ("[\"\\\" \"]", "[\"\\\"\"]"), ("[1.0]", "[1]"),
            ("[1e2]", "[100]"), ("{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}"), ("[\"\\u0041\"]", "[\"A\"]"),
            ("{\"a\":1,\"a\":2}", "{\"a\":2}"), ("[]", "{}"), ("null", "false"),
        ])
    func distinct(first: String, second: String) {
        #expect(Self.key(Self.json, first, ignoresFormat: true) != Self.key(Self.json, second, ignoresFormat: true))
    }

    @Test(
        "Q13: text that is not JSON counts byte by byte",
        arguments: [
            "1 2", "[1 2]", "tr ue", "[1,]", "[,1]", "{\"a\" 1}", "{a: 1}", "{\"a\":1,}", "[1}", "[1]]", "[", "\"a",
            "\"\\x\"", "\"\\u12g4\"", "\"\\u123", "\"\\", "01", "-", "1.", ".5", "1e", "1e+", "+1", "", " ", "'a'",
            "\"\u{1}\"", "[1] [2]", "{\"a\":1 \"b\":2}", "nul", "\u{FEFF}[]", "{1: 2}", "{\"a\"}", "[\"a\":1]",
            String(repeating: "[", count: 513) + String(repeating: "]", count: 513),
        ])
    func malformed(text: String) {
        let (first, second) = (text, text + " ")
        #expect(Self.key(Self.json, first, ignoresFormat: true) != Self.key(Self.json, second, ignoresFormat: true))
        #expect(Self.key(Self.json, first, ignoresFormat: true) == Self.key(Self.json, first))
    }

    @Test(
        "Q13: all of JSON has a compact form",
        arguments: [
            "null", "true", "false", "0", "-0", "-1.5E+10", "12e-3", "\"\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
            "\"é\"", "[]", "{}", "[[],{}]", "{\"\":{\"a\":[null,true]}}",
            String(repeating: "[", count: 512) + String(repeating: "]", count: 512),
        ])
    func wellFormed(text: String) {
        #expect(
            Self.key(Self.json, text, ignoresFormat: true) == Self.key(Self.json, " \(text)\n", ignoresFormat: true))
    }
}

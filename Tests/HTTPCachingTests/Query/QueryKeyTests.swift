internal import TestSupport

@Suite struct QueryKeyTests {
    private static let json = ["Content-Type: application/json"]
    private static let form = ["Content-Type: application/x-www-form-urlencoded"]

    private static func key(_ lines: [String], _ content: String, method: HTTPRequest.Method = .query) -> QueryKey? {
        var request = Sample.request(method: method)
        request.headerFields = Sample.fields(lines)
        return QueryKey(request, content: Array(content.utf8))
    }

    struct Pair: Sendable, CustomTestStringConvertible {
        let name: String
        let first: ([String], String)
        let second: ([String], String)
        var testDescription: String { name }

        init(_ name: String, _ first: ([String], String), _ second: ([String], String)) {
            (self.name, self.first, self.second) = (name, first, second)
        }

        /// Two contents with the same fields.
        init(_ name: String, _ lines: [String], _ first: String, _ second: String) {
            self.init(name, (lines, first), (lines, second))
        }
    }

    @Test(
        "Content and its metadata distinguish queries", .requirement("Q11"),
        arguments: [
            Pair("the content", (json, "{}"), (json, "[]")),
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
        "Other fields, and the order of fields, do not distinguish queries", .requirement("Q11"),
        arguments: [
            ["Accept: text/plain", "Content-Type: application/json", "Content-Language: de"],
            ["Content-Language: de", "Content-Type: application/json", "Content-Length: 2"],
            ["content-language: de", "CONTENT-TYPE: application/json", "Cache-Control: no-cache"],
        ])
    func equal(lines: [String]) {
        #expect(Self.key(lines, "{}") == Self.key(Self.json + ["Content-Language: de"], "{}"))
    }

    @Test(
        "A query without a key has no stored response", .requirement("Q12"),
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

    @Test("Up to 64 KiB of content, also none, have a key", .requirement("Q12"))
    func bounds() {
        #expect(QueryKey.maxContentByteCount == 65_536)
        #expect(Self.key(Self.json, String(repeating: "a", count: QueryKey.maxContentByteCount)) != nil)
        #expect(Self.key(Self.json, "") != nil)
    }

    // MARK: Bytes of the content

    @Test(
        "Equal contents have the same key", .requirement("Q13"),
        arguments: ["", "{}", " { } ", #"{"a": [1, 2]}"#, "[1 2]", "\u{FEFF}[]", "\"\u{E9}\"", "a=1&b=2"])
    func equalBytes(content: String) throws {
        let request = Sample.request("Content-Type: application/json", method: .query)
        let key = try #require(QueryKey(request, content: content.utf8))
        #expect(QueryKey(request, content: Array("x\(content)".utf8).dropFirst()) == key)
        #expect(key.bytes.suffix(content.utf8.count).elementsEqual(content.utf8))
    }

    @Test(
        "Contents that differ in whitespace or in the order of members have different keys", .requirement("Q13"),
        arguments: [
            Pair("no whitespace, or a space", json, "{}", "{ }"),
            Pair("a space after a colon", json, #"{"a":1}"#, #"{"a": 1}"#),
            Pair("a tab after a comma", ["Content-Type: application/problem+json"], "[1,2]", "[1,\t2]"),
            Pair("a line feed at the end", json, "[1]", "[1]\n"),
            Pair("a line feed at the start", json, "[1]", "\n[1]"),
            Pair("line ends", ["Content-Type: application/sql"], "SELECT 1\n", "SELECT 1\r\n"),
            Pair("a space in a string", json, #"["a b"]"#, #"["ab"]"#),
            Pair("members", json, #"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#),
            Pair("a repeated member", json, #"{"a":1,"a":2}"#, #"{"a":2}"#),
            Pair("an escape", json, #"["\u0041"]"#, #"["A"]"#),
            Pair("a number", json, "[1.0]", "[1]"),
            Pair("Unicode normalisation", json, "\"\u{E9}\"", "\"e\u{301}\""),
            Pair("parameters", form, "a=1&b=2", "b=2&a=1"),
            Pair("an encoded space", form, "a=+", "a=%20"),
        ])
    func differentBytes(_ pair: Pair) throws { try different(pair) }
}

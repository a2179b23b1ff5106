import CacheInspector
import TestSupport

@Suite("Why panel")
struct WhyPanelTests {
    private func json(_ text: String, _ others: String = "") -> String {
        let encoded = try? JSONEncoder().encode(text)
        return "{\"text\": \(String(decoding: encoded ?? Data(), as: UTF8.self))\(others)}"
    }

    @Test("a later time changes the outcome")
    func time() async throws {
        let clock = ManualClock()
        let panel = try Panel(clock: clock)
        try panel.insert("https://example.com/a", head: "Cache-Control: max-age=60\nETag: \"1\"\n")
        let now = try await panel.post("api/why", json("https://example.com/a"))
        #expect(now.string("explanation.outcome") == "hit")
        #expect(now.string("explanation.section") == "RFC 9111 §4.2")
        #expect(now.integer("explanation.candidates.0.lifetime") == 60)
        let later = Int64(clock.now.timeIntervalSince1970 * 1000) + 61_000
        let then = try await panel.post("api/why", json("https://example.com/a", ", \"at\": \(later)"))
        #expect(then.string("explanation.outcome") == "validate")
        #expect(then.string("explanation.sends.0") == "If-None-Match: \"1\"")
        #expect(then.integer("at") == Int(later))
    }

    @Test("uses partition, policy and cache kind of the question")
    func options() async throws {
        let panel = try Panel()
        try panel.insert("https://example.com/a", head: "Cache-Control: max-age=60, s-maxage=0\n", partition: "user")
        let missing = try await panel.post("api/why", json("https://example.com/a"))
        #expect(missing.string("explanation.reason") == "uri-miss")
        let found = try await panel.post("api/why", json("https://example.com/a", ", \"partition\": \"user\""))
        #expect(found.string("explanation.outcome") == "hit")
        let shared = try await panel.post(
            "api/why", json("https://example.com/a", ", \"partition\": \"user\", \"shared\": true"))
        #expect(shared.string("explanation.outcome") == "forward" || shared.string("explanation.outcome") == "validate")
        let policy = try await panel.post(
            "api/why", json("https://example.com/a", ", \"partition\": \"user\", \"policy\": \"remote-only\""))
        #expect(policy.string("explanation.outcome") == "forward")
    }

    struct Command: CustomTestStringConvertible {
        let text: String
        var method = "GET"
        var url = "https://example.com/a"
        var fields: [String]
        var ignored = ""
        var testDescription: String { text }
    }

    @Test(
        "a curl command becomes the request that curl would send",
        arguments: [
            Command(text: "curl https://example.com/a", fields: ["Accept: */*"]),
            Command(text: "curl 'https://example.com/a' -H 'Accept: text/html'", fields: ["Accept: text/html"]),
            Command(
                text: "curl \\\n  -H \"X-Q: a \\\"b\\\"\" \\\n  https://example.com/a",
                fields: ["X-Q: a \"b\"", "Accept: */*"]),
            Command(
                text: "curl $'https://example.com/a' -H $'X: it\\'s \\u0041'", fields: ["X: it's A", "Accept: */*"]),
            Command(text: "curl -XDELETE https://example.com/a", method: "DELETE", fields: ["Accept: */*"]),
            Command(text: "curl -I https://example.com/a", method: "HEAD", fields: ["Accept: */*"]),
            Command(
                text: "curl https://example.com/a -d x=1 --data y=2", method: "POST",
                fields: ["Accept: */*", "Content-Type: application/x-www-form-urlencoded"]),
            Command(
                text: "curl -G https://example.com/a -d x=1", url: "https://example.com/a?x=1", fields: ["Accept: */*"]),
            Command(text: "curl -G example.com/a -d x=1", url: "http://example.com/a?x=1", fields: ["Accept: */*"]),
            Command(
                text: "curl -u name:word -b a=b https://example.com/a",
                fields: ["Authorization: ", "Cookie: ", "Accept: */*"]),
            Command(
                text: "curl --compressed -o file -sS --url https://example.com/a",
                fields: ["Accept-Encoding: deflate, gzip, br, zstd", "Accept: */*"], ignored: "-o -sS"),
            Command(text: "curl example.com/a", url: "http://example.com/a", fields: ["Accept: */*"]),
        ])
    func curl(_ command: Command) async throws {
        let answer = try await Panel().post("api/why", json(command.text))
        #expect(answer.status == 200)
        #expect(answer.string("request.method") == command.method)
        #expect(answer.string("request.url") == command.url)
        let names = answer.strings("request.fields", "name")
        let fields = names.enumerated().map { "\($1): \(answer.string("request.fields.\($0).value") ?? "")" }
        #expect(fields == command.fields)
        for (index, word) in command.ignored.split(separator: " ").enumerated() {
            #expect(answer.string("ignored.\(index)") == String(word))
        }
    }

    @Test("refuses a command with more fields than a request may have")
    func fieldCount() async throws {
        let fields = String(repeating: "-Ha:b ", count: 65_536)
        #expect(try await Panel().post("api/why", json("curl \(fields)https://a/")).code == "invalid")
    }

    @Test("a cookie of any number of pieces is one field")
    func cookiePieces() async throws {
        let pieces = String(repeating: "a=b; ", count: 65_536) + "a=b"
        let answer = try await Panel().post("api/why", json("curl -b '\(pieces)' https://example.com/"))
        #expect(answer.strings("request.fields", "name") == ["Cookie", "Accept"])
    }

    @Test("the answer omits the credentials of the command")
    func credentials() async throws {
        let answer = try await Panel().post(
            "api/why", json("curl -u name:password -H 'Cookie: a=hidden-word' https://example.com/"))
        #expect(!answer.text.contains("hidden-word"))
        #expect(!answer.text.contains(Data("name:password".utf8).base64EncodedString()))
    }

    @Test(
        "refuses a malformed question",
        arguments: [
            "", "{", "[]", "{}", "{\"text\": \"\"}", "{\"text\": 1}", "{\"text\": \"file:///etc/passwd\"}",
            "{\"text\": \"../../etc\"}", "{\"text\": \"curl 'https://example.com\"}", "{\"text\": \"curl\"}",
            "{\"text\": \"curl -H\"}", "{\"text\": \"curl -H 'x' https://a/\"}",
            "{\"text\": \"https://example.com/\", \"policy\": \"x\"}",
            "{\"text\": \"https://example.com/\", \"at\": -1}",
            "{\"text\": \"https://example.com/\", \"at\": 9223372036854775807}",
            "{\"text\": \"curl -H 'a: b\\u0000' https://a/\"}",
        ])
    func malformed(_ content: String) async throws {
        let answer = try await Panel().post("api/why", content)
        #expect(answer.status == 400)
        #expect(answer.code == "invalid")
    }
}

import TestSupport

extension ToolTests {
    @Suite("explain", .serialized)
    struct Explain {
        private struct Report: Decodable {
            struct Candidate: Decodable {
                let chosen: Bool
                let selected: Bool
                let lifetime: Int
                let lifetime_source: String
                let age: Int
                let age_on_arrival: Int
                let resident_time: Int
                let fresh_for: Int?
                let stale_by: Int?
                let etag: String?
                let differences: [[String: String]]
                let byte_size: Int
            }

            let outcome: String
            let section: String
            let reason: String?
            let sends: [String]
            let candidates: [Candidate]
        }

        let tool: Tool
        let origin: LoopbackOrigin

        init() async throws {
            tool = try Tool()
            origin = try await LoopbackOrigin { request in
                switch request.path {
                case "/fresh": .resource("hello".utf8, for: request, etag: "\"1\"", cacheControl: "max-age=3600")
                case "/stale": .resource("hello".utf8, for: request, etag: "W/\"1\"", cacheControl: "max-age=0")
                case "/shared": .ok("hello".utf8, cacheControl: "max-age=3600, s-maxage=0")
                case "/vary":
                    .status(
                        .ok,
                        fields: [.cacheControl: "max-age=3600", .vary: "Accept-Language, Cookie, Accept-Encoding"],
                        body: "hello".utf8)
                default: .status(.notFound)
                }
            }
        }

        @Test("The content of a QUERY finds its stored response", .requirement("Q11"))
        func query() async throws {
            let url = origin.url("/fresh")
            let store = try ResponseStore(directory: URL(filePath: tool.store))
            let loader = ResourceLoader(store: store)
            _ = try await loader.load(
                ResourceRequest(
                    url, method: .query, content: Data("rows".utf8), headerFields: [.contentType: "application/sql"]))
            store.close()
            func explain(_ options: [String]) async throws -> [String] {
                try await tool.raw(
                    ["explain", url, "--method", "QUERY", "-H", "Content-Type: application/sql", "--store", tool.store]
                        + options
                ).lines
            }
            let hit = try await explain(["--data", "rows"])
            #expect(hit.prefix(2) == ["QUERY \(url)", "outcome     hit: the stored response answers"], "\(hit)")
            #expect(try await explain(["--data", "others"])[1].hasPrefix("outcome     forward"))
            #expect(try await explain([])[1].hasPrefix("outcome     forward"))
        }

        @Test("A fresh response: the rule, the lifetime and the age; no access is counted")
        func fresh() async throws {
            let url = origin.url("/fresh")
            _ = try await tool("get", url)
            let output = try await tool("explain", url)
            output.expect(0, error: nil)
            let lines = output.lines
            #expect(
                lines.prefix(3) == [
                    "GET \(url)", "outcome     hit: the stored response answers",
                    "rule        RFC 9111 §4.2: the freshness lifetime is greater than the age",
                ])
            #expect(lines.contains("stored response 1 of 1: status 200, chosen"))
            #expect(lines.contains("lifetime    3600 s from max-age"))
            #expect(lines.contains("validator   ETag \"1\" (strong)"))
            #expect(lines.contains("body        5 bytes"))
            #expect(output.text.contains(/age         \d+ s = \d+ s on arrival \+ \d+ s in the store\n/))
            #expect(output.text.contains(/state       fresh for \d+ s\n/))
            #expect(origin.requestCount == 1)
            #expect(try tool.rows("SELECT hit_count FROM cache_entries") == [["hit_count": 0]])
        }

        @Test("--json: the same values as numbers")
        func json() async throws {
            let url = origin.url("/stale")
            _ = try await tool("get", url)
            let report = try await tool("explain", url, "--json").json(Report.self)
            #expect(report.outcome == "validate")
            #expect(report.section == "RFC 9111 §4.2")
            #expect(report.reason == "stale")
            #expect(report.sends == ["If-None-Match: W/\"1\""])
            let candidate = try #require(report.candidates.first)
            #expect(candidate.chosen)
            #expect(candidate.selected)
            #expect(candidate.byte_size == 5)
            #expect(candidate.lifetime == 0)
            #expect(candidate.lifetime_source == "max-age")
            #expect(candidate.etag == "W/\"1\"")
            #expect(candidate.age == candidate.age_on_arrival + candidate.resident_time)
            #expect(candidate.stale_by == candidate.age)
            #expect(candidate.fresh_for == nil)
        }

        @Test("Also explains a request without a stored response")
        func absent() async throws {
            _ = try await tool("get", origin.url("/fresh"))
            let output = try await tool("explain", "http://a.test/other")
            output.expect(0, error: nil)
            #expect(
                output.text == """
                    GET http://a.test/other
                    outcome     forward: the cache sends the request to the origin
                    rule        RFC 9111 §4: no response is stored for the target URI
                    reason      uri-miss (RFC 9211 §2.2)

                    """)
        }

        @Test("Options: the method, the policy, the kind of cache and the partition")
        func options() async throws {
            let url = origin.url("/shared")
            _ = try await tool("get", url)
            for (options, outcome, section) in [
                ([], "hit", "RFC 9111 §4.2"), (["--shared"], "forward", "RFC 9111 §4.2.4"),
                (["--method", "POST"], "forward", "RFC 9111 §4"), (["--method", "HEAD"], "hit", "RFC 9111 §4.2"),
                (["--policy", "remote-only"], "forward", "policy"),
                (["--partition", "user-1"], "forward", "RFC 9111 §4"),
                (["--partition", "user-1", "--policy", "cache-only"], "unsatisfiable", "RFC 9111 §5.2.1.7"),
                (["-H", "Cache-Control: no-cache"], "forward", "RFC 9111 §5.2.1.4"),
            ] {
                let output = try await tool.raw(["explain", url, "--json", "--store", tool.store] + options)
                let report = try output.json(Report.self)
                #expect(report.outcome == outcome, "\(options)")
                #expect(report.section == section, "\(options)")
            }
            #expect(origin.requestCount == 1)
        }

        @Test("RFC 9111 §4.1: names the differing nominated field, without credentials")
        func vary() async throws {
            let url = origin.url("/vary")
            let german = ["-H", "Accept-Language: de"]
            _ = try await tool.raw(["get", url, "-H", "Cookie: secret=1", "--store", tool.store] + german)
            let arguments = ["explain", url, "--store", tool.store] + german
            // Like get, which sends its own Accept-Encoding.
            let same = try await tool.raw(arguments + ["-H", "Cookie: secret=1"])
            #expect(same.text.contains("outcome     hit"))
            #expect(!same.text.contains("secret"))
            let other = try await tool.raw(arguments + ["-H", "Cookie: secret=2"])
            #expect(other.lines.contains("stored response 1 of 1: status 200, not selected"))
            #expect(other.lines.contains("differs     cookie"))
            #expect(other.text.contains(/stored  sha256-[0-9a-f]{64}\n +now     sha256-[0-9a-f]{64}\n/))
            #expect(!other.text.contains("secret"))
            #expect(!other.text.contains("differs     accept-language"))
            #expect(other.lines.allSatisfy { $0.count <= 100 })
            let bare = try await tool.raw(arguments + ["--bare", "--json"]).json(Report.self)
            let names = bare.candidates.flatMap { $0.differences.compactMap { $0["name"] } }
            #expect(names == ["accept-encoding", "cookie"])
        }

        @Test("Escapes control characters from an origin")
        func hostile() async throws {
            let url = "http://a.test/hostile"
            try await tool("put", url, "-", "--etag", "x\u{9B}31m", input: "hello").expect(0, error: nil)
            let output = try await tool("explain", url)
            #expect(output.text.contains(#"ETag "x\u{9b}31m" (strong)"#))
            #expect(!output.text.unicodeScalars.contains { $0.value == 0x9B || $0.value == 0x1B })
        }

        @Test(
            "Invalid command lines", arguments: [[], ["--method", "A B"], ["--policy", "never"], ["-H", "nothing"]])
        func wrong(options: [String]) async throws {
            let url = options.isEmpty ? [] : ["http://a.test/"]
            try await tool.raw(["explain", "--store", tool.store] + url + options).expect(64, error: "Usage")
        }
    }
}

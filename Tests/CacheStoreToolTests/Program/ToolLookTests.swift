import TestSupport

extension ToolTests {
    @Suite("list, show and sql", .serialized)
    struct Look {
        let tool: Tool

        init() async throws {
            tool = try Tool()
            for (url, size, age) in [
                ("http://b.test/large", 12_345, "6000"), ("http://a.test/empty", 0, "60000"),
                ("http://a.test/it's", 7, "0"),
            ] {
                let body = String(repeating: "x", count: size)
                try await tool("put", url, "-", "--max-age", age, input: body).expect(0, error: nil)
            }
        }

        private func urls(_ options: String...) async throws -> [String] {
            let output = try await tool.raw(["list", "--store", tool.store] + options)
            return output.lines.dropFirst(2).compactMap { $0.split(separator: " ").last.map(String.init) }
        }

        // MARK: list

        @Test("list: a line for each response, below a header")
        func list() async throws {
            let lines = try await tool("list", "--sort", "size").lines
            let names = lines[0].split(separator: " ").map(String.init)
            #expect(names == ["status", "size", "state", "expires", "used", "hits", "kind", "variant", "url"])
            #expect(lines[1].allSatisfy { $0 == "-" || $0 == " " })
            let time = /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/
            let large = lines[2].split(separator: " ", omittingEmptySubsequences: true).map(String.init)
            try #require(large.count == 9)
            #expect(large[0...3] == ["200", "12.3", "kB", "fresh"])
            #expect(large[4].wholeMatch(of: time) != nil)
            #expect(large[5].wholeMatch(of: time) != nil)
            #expect(large[6...8] == ["0", "content", "http://b.test/large"])
            #expect(lines.count == 5)
        }

        @Test("list: sorts by use, size, hits, storing, expiry or URL, selects one host, and limits the rows")
        func order() async throws {
            let (large, empty, quoted) = ("http://b.test/large", "http://a.test/empty", "http://a.test/it's")
            _ = try await tool("get", large)
            #expect(try await urls() == [large, quoted, empty])
            #expect(try await urls("--sort", "used", "--limit", "1") == [large])
            #expect(try await urls("--sort", "size") == [large, quoted, empty])
            #expect(try await urls("--sort", "hits", "--limit", "1") == [large])
            #expect(try await urls("--sort", "stored") == [quoted, empty, large])
            #expect(try await urls("--sort", "url") == [empty, quoted, large])
            // Responses that were never fresh come last.
            #expect(try await urls("--sort", "expires") == [large, empty, quoted])
            #expect(try await urls("--sort", "size", "--host", "A.TEST") == [quoted, empty])
            #expect(try await urls("--limit", "0") == [])
            #expect(try await urls("--host", "b.test' OR 'a' = 'a") == [])
            #expect(try await urls("--host", "'; DROP TABLE entry; --") == [])
            try await tool("list", "--limit=-1").expect(64, error: "--limit")
            try await tool("list", "--sort", "name").expect(64, error: "name")
        }

        @Test("list --json: an object for each response, with the columns of the view and exact numbers")
        func listJSON() async throws {
            let output = try await tool("list", "--sort", "size", "--json")
            let rows = try output.json([[String: Printed]].self)
            #expect(rows.map { $0["byte_size"] } == [12_345, 7, 0])
            #expect(
                Set(rows[0].keys).isSuperset(of: [
                    "url", "host", "status", "byte_size", "sha256", "file_path", "etag", "expires_at", "accessed_at",
                    "hit_count", "freshness", "error_count",
                ]))
            #expect(rows[0]["etag"] == nil as Printed)
            let keys = output.text.matches(of: /"(\w+)" :/).map { String($0.1) }
            #expect(Array(keys.prefix(rows[0].count)) == rows[0].keys.sorted())
            #expect(try await tool("list", "--host", "none", "--json").json([[String: Printed]].self) == [])
        }

        // MARK: show

        @Test("show: the stored response of a URL, and its fields")
        func show() async throws {
            let output = try await tool("show", "http://b.test/large")
            output.expect(0, error: nil)
            let lines = output.lines
            for line in [
                "url            http://b.test/large", "status         200", "byte_size      12.3 kB (12345 bytes)",
                "freshness      fresh", "fields", "    Cache-Control: max-age=6000",
            ] {
                #expect(lines.contains(line))
            }
            #expect(!lines.contains { $0.hasPrefix("etag") })
        }

        @Test("show --json, and --body, with any characters in the URL")
        func showOtherwise() async throws {
            let url = "http://a.test/it's"
            let rows = try await tool("show", url, "--json").json([[String: Printed]].self)
            try #require(rows.count == 1)
            #expect(rows[0]["byte_size"] == 7)
            #expect(rows[0]["url"] == .text(url))
            guard case .text(let fields) = rows[0]["fields"] else { throw CancellationError() }
            #expect(fields.hasPrefix("Cache-Control: max-age=0\nDate: "))
            #expect(try await tool("show", url, "--body").text == "xxxxxxx")
            #expect(try await tool("show", "http://a.test/empty", "--body").standardOutput.isEmpty)
            #expect(try tool.rows("SELECT sum(hit_count) AS hits FROM cache_entries") == [["hits": 0]])
            try await tool("show", url, "--body", "--json").expect(64, error: "--json")
        }

        @Test("show: each variant separately")
        func variants() async throws {
            let origin = try await LoopbackOrigin { request in
                var reply = OriginReply.ok((request.fields[.acceptLanguage] ?? "").utf8, cacheControl: "max-age=6000")
                reply.fields[.vary] = "Accept-Language"
                return reply
            }
            for language in ["de", "fr"] {
                _ = try await tool("get", origin.url("/"), "-H", "Accept-Language: \(language)")
            }
            let text = try await tool("show", origin.url("/")).text
            #expect(text.components(separatedBy: "\n\n").count == 2)
            #expect(text.contains("accept-language: de\n"))
            #expect(text.contains("accept-language: fr\n"))
        }

        @Test("show: a missing response exits with 1")
        func notStored() async throws {
            for option in ["--body", "--json"] {
                let output = try await tool("show", "http://a.test/other", option)
                output.expect(1, error: "http://a.test/other: not stored")
                #expect(output.text == (option == "--body" ? "" : "[]\n"))
            }
        }

        // MARK: sql

        @Test("sql: a header and aligned columns")
        func table() async throws {
            let output = try await tool(
                "sql", "SELECT host, count(*) AS n, NULL AS x, x'00ff' AS b FROM cache_entries GROUP BY host ORDER BY 1"
            )
            #expect(
                output.text == """
                    host    n  x  b
                    ------  -  -  -------
                    a.test  2     x'00ff'
                    b.test  1     x'00ff'

                    """)
            #expect(try await tool("sql", "SELECT url FROM cache_entries WHERE 0").text == "url\n---\n")
            #expect(try await tool("sql", "SELECT 'a' || char(10) || char(27) AS t").lines[2] == #"a\n\u{1b}"#)
        }

        @Test("sql --json: an array of objects")
        func json() async throws {
            let sql = "SELECT 1 AS a, 2.5 AS a, 'é\"' AS t, NULL AS n, x'0aff' AS b, 9e999 AS anI"
            let rows = try await tool("sql", sql, "--json").json([[String: Printed]].self)
            #expect(rows == [["a": 1, "a_2": .number(2.5), "t": "é\"", "n": nil, "b": "0aff", "anI": "Infinity"]])
            let large = try await tool("sql", "SELECT 9223372036854775807 AS n", "--json")
            #expect(large.text.contains("9223372036854775807"))
        }

        @Test("sql answers while another process writes a body")
        func concurrent() async throws {
            let origin = try await LoopbackOrigin { _ in .ok("hello".utf8).delivered(.stalling(afterBytes: 2)) }
            async let stalled = tool("get", origin.url("/"), "--timeout", "2")
            #expect(try tool.rows("SELECT entries FROM cache_stats") == [["entries": 3]])
            #expect(try await stalled.exitCode == 2)
        }
    }
}

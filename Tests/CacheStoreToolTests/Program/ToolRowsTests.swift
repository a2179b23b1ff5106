import TestSupport

extension ToolTests {
    /// Rows on a terminal, in a pipe and in JSON.
    @Suite("rows", .serialized)
    struct Rows {
        let tool: Tool

        init() throws { tool = try Tool() }

        private func fill(_ count: Int) throws {
            try tool.fill((0..<count).map { ("http://a.test/\(String(repeating: "long/", count: 20))\($0)", "\($0)") })
        }

        @Test("list: no line exceeds the terminal, and a truncated URL keeps its end", arguments: [40, 60, 80, 200])
        func width(columns: Int) async throws {
            try fill(3)
            let output = try await tool.onTerminal(width: columns, "list")
            output.expect(0, error: nil)
            #expect(output.lines.count == (columns < 60 ? 24 : 5))
            if columns >= 60 {
                #expect(output.lines.allSatisfy { $0.count <= columns }, "\(output.text)")
                let ends = output.lines.dropFirst(2).compactMap { $0.split(separator: "/").last }
                #expect(Set(ends) == ["0", "1", "2"])
                #expect(output.text.contains("…") == (columns < 150))
            }
            #expect(try await !tool("list").text.contains("…"))
        }

        @Test("list: a compressed response shows its URL's ends, and its variant in a column", arguments: [80, 120])
        func variants(columns: Int) async throws {
            let encoding = "gzip, deflate, br, zstd"
            let path = String(repeating: "directory/", count: 12)
            for (url, variant) in [
                ("https://a.test/\(path)one.js", "accept-encoding: \(encoding)\naccept-language: de"),
                ("https://a.test/\(path)two.js", "accept-encoding: \(encoding)\naccept-language"),
            ] {
                try tool.insert(url, variant: variant)
            }
            let lines = try await tool.onTerminal(width: columns, "list", "--sort", "url").lines
            #expect(lines[0].split(separator: " ") == ["status", "size", "expires", "used", "hits", "variant", "url"])
            #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
            #expect(lines[2].contains(/gzip.*….*de  a\.test\/dir[^ ]*…[^ ]*\/one\.js$/), "\(lines[2])")
            #expect(lines[3].contains(/gzip.*….*-  a\.test\/dir[^ ]*…[^ ]*\/two\.js$/), "\(lines[3])")
            let url = try #require(lines[2].split(separator: " ").last)
            #expect(url.count >= columns * 2 / 5, "\(url)")
            // A pipe receives all.
            let whole = try await tool("list", "--sort", "url").lines[2]
            #expect(
                whole.hasSuffix(
                    #"content  accept-encoding: \#(encoding)\naccept-language: de  https://a.test/\#(path)one.js"#),
                "\(whole)")
        }

        @Test("list: without variants, a terminal has no column for them")
        func noVariants() async throws {
            try fill(1)
            let header = try await tool.onTerminal("list").lines[0]
            #expect(header.split(separator: " ") == ["status", "size", "expires", "used", "hits", "url"])
        }

        @Test("list: times are relative on a terminal, and exact in a pipe")
        func times() async throws {
            _ = try await tool("put", "http://a.test/", "-", "--max-age", "7300", input: "x")
            let line = try #require(try await tool.onTerminal("list").lines.last)
            #expect(line.contains(/1 B  in 2h  +\d+[sm]  +0  http:\/\/a.test\/$/), "\(line)")
            let whole = try #require(try await tool("list").lines.last)
            #expect(whole.contains(/fresh  20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ  20/), "\(whole)")
        }

        @Test("A terminal shows a hundred rows and tells how to see more; a pipe receives all")
        func limit() async throws {
            try fill(102)
            let few = try await tool.onTerminal("list")
            #expect(few.lines.count == 102)
            few.expect(0, error: "cachestore: only the first 100 entries; --all lists all\n")
            let all = try await tool.onTerminal("list", "--all")
            #expect(all.lines.count == 104)
            all.expect(0, error: nil)
            #expect(try await tool("list").lines.count == 104)
            let chosen = try await tool.onTerminal("list", "--limit", "3")
            #expect(chosen.lines.count == 5)
            chosen.expect(0, error: nil)
            let sql = "SELECT id FROM cache_entries"
            let rows = try await tool.onTerminal("sql", sql)
            #expect(rows.lines.count == 102)
            rows.expect(0, error: "cachestore: only the first 100 rows; --all prints all\n")
            #expect(try await tool("sql", sql).lines.count == 104)
            #expect(try await tool.onTerminal("sql", sql, "--jsonl").lines.count == 102)
            let two = try await tool("sql", sql, "--max-rows", "2")
            #expect(two.lines.count == 4)
            two.expect(0, error: "cachestore: only the first 2 rows; a larger --max-rows prints more\n")
            for command in [["list", "--limit", "1"], ["sql", sql, "--max-rows", "1"]] {
                try await tool.raw(command + ["--all", "--store", tool.store]).expect(64, error: "--all has no limit")
            }
        }

        @Test("sql: truncates texts to the terminal, but not numbers; without enough width, prints a field per line")
        func sqlWidth() async throws {
            try fill(1)
            let output = try await tool.onTerminal(
                width: 40, "sql", "SELECT 123456789012 AS n, printf('%.*c', 99, 'x') AS a, 'short' AS b, x'00' AS c")
            #expect(
                output.text == """
                               n  a             b      c
                    ------------  ------------  -----  -----
                    123456789012  xxxxxxxxxxx…  short  x'00'

                    """)
            let wide = try await tool.onTerminal("sql", "SELECT * FROM cache_entries")
            #expect(wide.lines.first == "-[ RECORD 1 ]---------------------------")
            #expect(wide.lines.contains("status        | 200"))
        }

        @Test("-x prints one field per line, untruncated")
        func expanded() async throws {
            let sql = "SELECT 1 AS n, 'two' || char(10) || 'lines' || char(10) AS text, NULL AS empty, char(27) AS e"
            try fill(1)
            let expected = #"""
                -[ RECORD 1 ]---------------------------
                n     | 1
                text  | two
                      | lines
                empty |
                e     | \u{1b}

                """#
            #expect(try await tool("sql", sql, "-x").text == expected)
            #expect(try await tool.onTerminal(width: 20, "sql", sql, "-x").text == expected)
            #expect(try await tool("sql", "SELECT 1 WHERE 0", "--expanded").text == "(no rows)\n")
            let list = try await tool.onTerminal(width: 20, "list", "-x")
            #expect(list.lines.last == "url     | http://a.test/\(String(repeating: "long/", count: 20))0")
            try await tool("list", "-x", "--json").expect(64, error: "-x prints text, not JSON")
        }

        @Test("--jsonl: an object per line, with the same values as --json")
        func lines() async throws {
            try fill(3)
            let sql = "SELECT id, url, NULL AS n, 0.5 AS r, '\"\\' || char(1, 9, 10) AS t FROM cache_entries"
            for command in [
                ["sql", sql], ["list"], ["show", "http://a.test/\(String(repeating: "long/", count: 20))0"],
            ] {
                let output = try await tool.raw(command + ["--json", "--store", tool.store])
                let whole = try output.json([[String: Printed]].self)
                let lines = try await tool.raw(command + ["--jsonl", "--store", tool.store]).lines
                let rows = try lines.map { try JSONDecoder().decode([String: Printed].self, from: Data($0.utf8)) }
                #expect(rows == whole)
                #expect(whole.count == (command[0] == "show" ? 1 : 3))
            }
            for format in ["--json", "--jsonl"] {
                let output = try await tool("sql", "SELECT '\"\\' || char(1, 9, 10, 127, 155, 233) AS t", format)
                #expect(output.text.contains(#""\"\\\u0001\t\n\u007f\u009bé""#), "\(output.text)")
            }
            for command in [["stats"], ["check"], ["evict", "--max-entries", "9"], ["explain", "http://a.test/"]] {
                let output = try await tool.raw(command + ["--jsonl", "--store", tool.store])
                #expect(output.exitCode == 0)
                #expect(output.lines.count == 1)
                #expect(output.text.hasPrefix("{\""))
            }
            try await tool("list", "--json", "--jsonl").expect(64, error: "--json")
        }

        @Test("list: more rows than the sample of the widths keep their order, in every order")
        func order() async throws {
            // A body of each length, in another order than that of the keys.
            try tool.fill(
                (0..<1_500).map { number in
                    ("http://a.test/\(number)", String(repeating: "x", count: 1 + (number * 7) % 1_500))
                })
            for (sort, terms) in [("size", "byte_size DESC, key"), ("used", "accessed_at DESC, key")] {
                let expected = try tool.rows("SELECT key FROM cache_entries ORDER BY \(terms)").map { $0["key"] }
                let rows = try await tool("list", "--sort", sort, "--json").json([[String: Printed]].self)
                #expect(rows.map { $0["key"] } == expected)
                let lines = try await tool("list", "--sort", sort).lines.dropFirst(2)
                #expect(lines.map { $0.split(separator: " ").last.map { Printed.text(String($0)) } } == expected)
            }
        }

        @Test("A slow reader does not trigger the query's time limit, and a reader that leaves ends the query")
        func slowReader() async throws {
            try fill(1)
            // More than a pipe holds, and more rows than there is time to print: the query ends with its reader.
            let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
            let script = #"{ "$0" sql "$1" --timeout 3600 --store "$STORE"; echo "exit code $?" >&2; } | head -n 3"#
            let output = try await tool.shell(script, endless)
            #expect(output.lines.last?.hasSuffix(" 1") == true)
            #expect(output.errorText == "exit code 0\n")
        }
    }
}

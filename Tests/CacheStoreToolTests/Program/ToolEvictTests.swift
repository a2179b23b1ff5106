import TestSupport

extension ToolTests {
    @Suite("evict", .serialized)
    struct Evict {
        let tool: Tool

        init() throws { tool = try Tool() }

        @Test("A directory that others may write is refused, unless an option accepts it or the command only reads")
        func foreignDirectory() async throws {
            try tool.fill()
            #expect(chmod(tool.store, 0o777) == 0)
            let refused = try await tool("evict", "--max-bytes", "0")
            #expect(refused.exitCode != 0)
            #expect(refused.errorText.contains("every user may write it"))
            #expect(try await tool("stats").exitCode == 0)
            let accepted = try await tool("evict", "--max-bytes", "0", "--accept-foreign-directory")
            #expect(accepted.exitCode == 0)
            #expect(accepted.text.hasPrefix("evicted 3 entries"))
        }

        @Test("Evicts the least recently used entries until the rest fits")
        func evict() async throws {
            try tool.fill()
            _ = try await tool("get", "http://a.test/a")
            #expect(
                try await tool("evict", "--max-bytes", "1K").text
                    == "evicted 2 entries, freed 2.0 kB; 1 entry, 1.0 kB left\n")
            #expect(try await tool.stored("http://a.test/a") != nil)
            #expect(try await tool.stored("http://a.test/b") == nil)
            #expect(
                try await tool("evict", "--max-bytes", "0", "--json").json([String: Printed].self) == [
                    "entries": 1, "bytes": 1000, "entries_left": 0, "bytes_left": 0,
                ])
            #expect(
                try await tool("evict", "--max-bytes", "0").text
                    == "evicted 0 entries, freed 0 B; 0 entries, 0 B left\n")
        }

        @Test(
            "Exactly one rule with a valid value is needed",
            arguments: [
                [], ["--dry-run"], ["--max-bytes", "1", "--max-entries", "1"],
                ["--unused-for", "1d", "--older-than", "1d"], ["--max-entries=-1"], ["--max-entries", "1K"],
                ["--max-entries", ""], ["--max-bytes", "1", "http://a.test/"], ["--max-bytes", "1X"],
                ["--unused-for", "1w"], ["--older-than", "1w"],
            ])
        func usage(arguments: [String]) async throws {
            try tool.fill()
            let output = try await tool.raw(["evict", "--store", tool.store] + arguments)
            output.expect(64, error: "Usage: cachestore evict")
            #expect(try tool.rows("SELECT entries FROM cache_stats") == [["entries": 3]])
        }

        struct Rule: CustomTestStringConvertible {
            let arguments: [String]
            let report: String

            var testDescription: String { arguments.joined(separator: " ") }
        }

        @Test(
            "Each rule, first as a dry run, which changes nothing and reports the same result",
            arguments: [
                Rule(arguments: ["--max-bytes", "2000"], report: "1 entry, freed 1.0 kB; 2 entries, 2.0 kB left"),
                Rule(arguments: ["--max-bytes", "1G"], report: "0 entries, freed 0 B; 3 entries, 3.0 kB left"),
                Rule(arguments: ["--max-entries", "1"], report: "2 entries, freed 2.0 kB; 1 entry, 1.0 kB left"),
                Rule(arguments: ["--max-entries", "0"], report: "3 entries, freed 3.0 kB; 0 entries, 0 B left"),
                Rule(arguments: ["--unused-for", "0s"], report: "3 entries, freed 3.0 kB; 0 entries, 0 B left"),
                Rule(arguments: ["--unused-for", "1h"], report: "0 entries, freed 0 B; 3 entries, 3.0 kB left"),
                Rule(arguments: ["--older-than", "0s"], report: "3 entries, freed 3.0 kB; 0 entries, 0 B left"),
                Rule(arguments: ["--older-than", "30d"], report: "0 entries, freed 0 B; 3 entries, 3.0 kB left"),
            ])
        func rules(_ rule: Rule) async throws {
            try tool.fill()
            let before = try tool.rows("SELECT * FROM cache_entries ORDER BY key")
            let arguments = ["evict", "--store", tool.store] + rule.arguments
            let dry = try await tool.raw(arguments + ["--dry-run"])
            dry.expect(0, error: nil)
            #expect(dry.text == "would evict \(rule.report.replacing("freed", with: "free"))\n")
            let json = try await tool.raw(arguments + ["--dry-run", "--json"]).json([String: Int].self)
            #expect(try tool.rows("SELECT * FROM cache_entries ORDER BY key") == before)
            #expect(try await tool.raw(arguments).text == "evicted \(rule.report)\n")
            #expect(try await tool.raw(arguments + ["--json"]).json([String: Int].self)["entries"] == 0)
            #expect(json.keys.sorted() == ["bytes", "bytes_left", "entries", "entries_left"])
            #expect(json["entries"].map { "\($0)" } == rule.report.split(separator: " ").first.map(String.init))
        }

        @Test("Pinned entries stay, and a shared body is deleted with its last entry")
        func pinned() async throws {
            _ = try await tool("put", "http://a.test/1", "-", "--pin", input: "same")
            _ = try await tool("put", "http://a.test/2", "-", input: "same")
            for arguments in [["--dry-run"], []] {
                let output = try await tool.raw(
                    ["evict", "--store", tool.store, "--older-than", "0s", "--json"] + arguments)
                #expect(
                    try output.json([String: Int].self) == [
                        "entries": 1, "bytes": 0, "entries_left": 1, "bytes_left": 4,
                    ])
            }
            #expect(try await tool.stored("http://a.test/1") == "same")
        }
    }
}

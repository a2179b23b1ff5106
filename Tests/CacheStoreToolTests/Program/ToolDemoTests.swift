import TestSupport

extension ToolTests {
    @Suite("demo", .serialized)
    struct Demo {
        let tool: Tool
        let files: String

        init() throws {
            tool = try Tool()
            files = "\(tool.directory.path)/files"
            let manager = FileManager.default
            for folder in ["a", "b/c", ".git", ".build", ".build-tsan"] {
                try manager.createDirectory(atPath: "\(files)/\(folder)", withIntermediateDirectories: true)
            }
            for number in 0..<210 {
                let path = "\(files)/\(["a", "b/c"][number % 2])/file \(number).txt"
                try Data("content of file \(number)\n".utf8).write(to: URL(filePath: path))
            }
            for hidden in [".git/config", ".build/x.o", ".build-tsan/x.o"] {
                try Data("left out".utf8).write(to: URL(filePath: "\(files)/\(hidden)"))
            }
            try manager.createSymbolicLink(atPath: "\(files)/link", withDestinationPath: "/etc/passwd")
        }

        private struct Report: Decodable {
            struct Round: Decodable {
                var requests: Int
                var hits: Int
                var not_modified: Int
                var replaced: Int
                var bytes_from_disk: Int
                var bytes_from_network: Int
            }

            var files: Int
            var bytes: Int
            var rounds: [Round]
            var stats_before: [String: Int]
            var eviction: [String: Int]
            var stats_after: [String: Int]
        }

        @Test("The numbers match the story")
        func numbers() async throws {
            let output = try await tool.raw(["demo", "--files", files, "--json"])
            output.expect(0, error: nil)
            let report = try output.json(Report.self)
            let rounds = report.rounds
            #expect(report.files == 210)
            #expect(rounds.map(\.requests) == [210, 0, 210, 210, 0])
            #expect(rounds.map(\.hits) == [0, 210, 0, 0, 210])
            #expect(rounds.map(\.not_modified) == [0, 0, 210, 189, 0])
            #expect(rounds.map(\.replaced) == [210, 0, 0, 21, 0])
            #expect(rounds.prefix(3).map(\.bytes_from_network) == [report.bytes, 0, 0])
            #expect(rounds.prefix(3).map(\.bytes_from_disk) == [0, report.bytes, report.bytes])

            let (before, after) = (report.stats_before, report.stats_after)
            #expect(before["entries"] == 210)
            #expect(before["hits"] == 210 + 210 + 189 + 210)
            #expect(report.eviction["max_bytes"] == before["physical_bytes"].map { $0 / 2 })
            #expect(after["entries"] == 210 - (report.eviction["entries"] ?? 0))
            #expect(after["physical_bytes"] ?? .max <= report.eviction["max_bytes"] ?? 0)
        }

        @Test("Without --files, the demo serves its own files: the same in each run, more than 200")
        func ownFiles() async throws {
            let first = try await tool.raw(["demo", "--json"])
            first.expect(0, error: nil)
            let report = try first.json(Report.self)
            #expect(report.files == 240)
            #expect(report.rounds.map(\.replaced) == [240, 0, 0, 24, 0])
            #expect(try await tool.raw(["demo", "--json"]).json(Report.self).bytes == report.bytes)
        }

        @Test("The text fits into 80 columns, and the demo leaves no files")
        func text() async throws {
            var environment = ProcessInfo.processInfo.environment
            environment["TMPDIR"] = "\(tool.directory.path)/temporary"
            try FileManager.default.createDirectory(
                atPath: "\(tool.directory.path)/temporary", withIntermediateDirectories: true)
            let output = try await tool.raw(["demo"], environment: environment)
            output.expect(0, error: nil)
            // The name of a directory may be longer.
            #expect(output.lines.allSatisfy { $0.count <= 80 || $0.hasPrefix("  store    ") }, "\(output.text)")
            let header = try #require(output.lines.first { $0.contains("round") })
            #expect(
                header.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) } == [
                    "round", "requests", "hits", "304s", "200s", "from disk", "network", "time",
                ])
            #expect(output.text.matches(of: /SELECT entries, .* FROM cache_stats/).count == 2)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(tool.directory.path)/temporary").isEmpty)
        }

        @Test("--store keeps the sound store for further commands; a second demo may use it")
        func keptStore() async throws {
            for _ in 1...2 {
                let output = try await tool("demo", "--files", "\(files)/a")
                output.expect(0, error: nil)
                #expect(output.text.contains("sqlite3 -header -column '\(tool.store)/index.sqlite'"))
            }
            #expect(try await tool("check", "--digests").exitCode == 0)
            #expect(try tool.rows("SELECT host FROM cache_hosts") == [["host": "127.0.0.1"]])
        }

        @Test("The demo does not evict an existing cache")
        func foreignStore() async throws {
            _ = try await tool("put", "http://a.test/", "-", input: "mine")
            try await tool("demo", "--files", files).expect(2, error: "\(tool.store): this is a cache in use")
            #expect(try await tool.stored("http://a.test/") == "mine")
        }

        @Test("A directory without files is an error")
        func noFiles() async throws {
            try await tool.raw(["demo", "--files", "\(files)/.git/none"]).expect(2, error: "no files to serve")
        }
    }
}

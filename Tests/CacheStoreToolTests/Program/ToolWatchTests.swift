import TestSupport

private struct Line: Decodable {
    var time: String
    var entries: Int
    var bytes: Int
    var hits: Int
    var misses: Int
    var stale: Int, revalidated: Int, tier: Int, errors: Int
    var per_second: [String: Double]?

    static func all(_ output: ProcessRunner.Output) throws -> [Line] {
        try output.lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }
}

extension ToolTests {
    @Suite("watch", .serialized)
    struct Watch {
        let tool: Tool

        init() throws { tool = try Tool() }

        @Test("Prints a line per interval, below column headers")
        func text() async throws {
            _ = try await tool("put", "http://a.test/", "-", input: "hello")
            let output = try await tool("watch", "--count", "45", "--interval", "0")
            output.expect(0, error: nil)
            let lines = output.lines
            #expect(lines.count == 48)
            #expect(lines.indices.filter { lines[$0].hasPrefix("UTC ") } == [0, 21, 42])
            #expect(lines[1].wholeMatch(of: /\d\d:\d\d:\d\d +1 +- +5 B +- +0 +- +0 +-/) != nil, "\(lines[1])")
            #expect(
                lines[2].wholeMatch(of: /\d\d:\d\d:\d\d +1 +0\.0 +5 B +0 B +0 +0\.0 +0 +0\.0/) != nil, "\(lines[2])")
        }

        @Test("Counts the stores and accesses of another process")
        func growth() async throws {
            let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
            let first = origin.url("/first")
            _ = try await tool("get", first)
            let list = try tool.file("list", Data((0..<20).map { origin.url("/\($0)\n") }.joined().utf8))
            // The first line of `watch` starts the other commands; `watch` ends when its reader leaves.
            let script = """
                { "$0" watch --json --interval 0.05 --store "$STORE"; echo "exit code $?" >&2; } | {
                    read -r line; echo "$line"
                    "$0" prefetch "$1" --width 6 --store "$STORE" >/dev/null && "$0" get "$2" --store "$STORE" >/dev/null
                    while read -r line; do
                        echo "$line"
                        case "$line" in *'"entries":21,'*'"hits":1,'*) break ;; esac
                    done
                }
                """
            let output = try await tool.shell(script, list, first)
            #expect(output.errorText == "exit code 0\n")
            let lines = try Line.all(output)
            let start = try #require(lines.first)
            let end = try #require(lines.last)
            #expect(start.entries == 1)
            #expect(start.misses == 1)
            #expect(start.hits == 0)
            #expect(start.per_second == nil)
            #expect(end.entries == 21)
            #expect(end.misses == 21)
            #expect(end.hits == 1)
            #expect(end.bytes >= start.bytes)
            #expect(zip(lines, lines.dropFirst()).allSatisfy { $0.entries <= $1.entries && $0.time <= $1.time })
            #expect(lines.contains { ($0.per_second?["entries"] ?? 0) > 0 })
            #expect(lines.dropFirst().allSatisfy { $0.per_second?.count == 8 })
        }

        @Test("Creates no store, and changes none")
        func readsOnly() async throws {
            let output = try await tool("watch", "--count", "1")
            output.expect(2, error: "there is no store in \(tool.store)")
            #expect(!FileManager.default.fileExists(atPath: tool.store))
            _ = try await tool("put", "http://a.test/", "-", input: "hello")
            let index = URL(filePath: "\(tool.store)/index.sqlite")
            let before = try Data(contentsOf: index)
            _ = try await tool("watch", "--count", "20", "--interval", "0")
            #expect(try Data(contentsOf: index) == before)
        }

        @Test(
            "Invalid usage",
            arguments: [
                ["--count", "0"], ["--interval=-1"], ["--interval", "nan"], ["--interval", "90000"], ["http://a.test/"],
            ])
        func usage(arguments: [String]) async throws {
            let output = try await tool.raw(["watch", "--store", tool.store] + arguments)
            output.expect(64, error: "Usage: cachestore watch")
        }
    }
}

import TestSupport

/// The output of `prefetch --json`.
private struct Summary: Decodable, Equatable {
    var urls: Int
    var network = 0
    var fresh = 0
    var revalidated = 0
    var failed = 0
    var interrupted = false

    init(_ output: ProcessRunner.Output) throws {
        self = try JSONDecoder().decode(Summary.self, from: output.standardOutput)
    }

    init(network: Int = 0, fresh: Int = 0, revalidated: Int = 0, failed: Int = 0, interrupted: Bool = false) {
        urls = network + fresh + revalidated + failed
        (self.network, self.fresh, self.revalidated, self.failed) = (network, fresh, revalidated, failed)
        self.interrupted = interrupted
    }
}

extension ToolTests {
    @Suite("prefetch", .serialized)
    struct Prefetch {
        let tool: Tool
        let origin: LoopbackOrigin
        let underWay = RequestsUnderWay()
        /// Holds `/held…`.
        let gate = Gate()

        init() async throws {
            tool = try Tool()
            let underWay = underWay
            let gate = gate
            let asked = Mutex<[String: Int]>([:])
            origin = try await LoopbackOrigin { request in
                underWay.begin()
                defer { underWay.end() }
                let times = asked.withLock { asked in
                    asked[request.path, default: 0] += 1
                    return asked[request.path, default: 0]
                }
                switch request.path.split(separator: "/").first {
                case "held":
                    await gate.wait()
                    return .ok("held".utf8, cacheControl: "max-age=3600")
                case "stale": return .resource("hello".utf8, for: request, etag: "\"1\"", cacheControl: "max-age=0")
                case "missing": return .status(.notFound)
                case "late": return times < 3 ? .status(.serviceUnavailable) : .ok("x".utf8, cacheControl: "max-age=60")
                case "echo": return .ok((request.fields[.from] ?? "-").utf8, cacheControl: "max-age=60")
                default: return .ok("0123456789".utf8, cacheControl: "max-age=3600")
                }
            }
        }

        private func urls(_ path: String, _ count: Int) -> [String] { (0..<count).map { origin.url("/\(path)/\($0)") } }

        private func list(_ lines: [String]) throws -> String {
            try tool.file("list", Data(lines.joined(separator: "\n").utf8))
        }

        @Test("of 200 URLs some fail: each is named, none stops the others, the exit code is 1", .requirement("H7"))
        func failures() async throws {
            let refused = ClosedPort()
            let missing = urls("missing", 10)
            let lines =
                ["\u{FEFF}# a list", ""] + urls("a", 180) + [
                    "  \(origin.url("/b"))  \r", "no URL", "# \(origin.url("/c"))",
                ]
                + missing + urls("stale", 6) + ["ftp://a.test/", refused.url("/"), origin.url("/a/0")]
            let output = try await tool("prefetch", try list(lines), "--retry", "0", "--json", "--lane", "urgent")
            #expect(output.exitCode == 1)
            let summary = try Summary(output)
            // A URL that occurs twice is loaded once: the second load joins it, or hits in the store.
            #expect(summary.urls == 201)
            #expect(summary.failed == 13)
            #expect(summary.network + summary.fresh == 188)
            #expect(summary.fresh <= 1)
            let failures = Set(output.errorText.split(separator: "\n").map(String.init))
            #expect(failures.count == 13)
            for url in missing {
                #expect(failures.contains("cachestore: \(url): the origin answered with status 404"))
            }
            let list = "\(tool.directory.path)/list"
            #expect(failures.contains { $0.hasPrefix("cachestore: \(list):184: \"no URL\" cannot be loaded: ") })
            #expect(failures.contains { $0.hasPrefix("cachestore: \(list):202: \"ftp://a.test/\" cannot be loaded: ") })
            #expect(failures.contains { $0.hasPrefix("cachestore: \(refused.url("/")): no connection") })
            #expect(origin.requestCount == 197)
            #expect(origin.requests(to: "/c").isEmpty)
            #expect(try tool.rows("SELECT count(*) AS n FROM cache_entries WHERE kind = 'content'") == [["n": 187]])
        }

        @Test("A second run validates stale responses, and neither requests nor counts fresh ones", .requirement("H1"))
        func warm() async throws {
            let file = try list(urls("a", 150) + urls("stale", 3))
            let cold = try await tool("prefetch", file)
            cold.expect(0, error: nil)
            let words =
                /153 URLs in \d+\.\d s: 153 from the network, 0 fresh in the store, 0 revalidated, 0 failed; 1\.5 kB received\n/
            #expect(cold.text.wholeMatch(of: words) != nil, "\(cold.text)")
            origin.resetRequests()
            #expect(try Summary(await tool("prefetch", file, "--json")) == Summary(fresh: 150, revalidated: 3))
            #expect(origin.requestCount == 3)
            #expect(try tool.rows("SELECT sum(hits) AS n FROM cache_requests") == [["n": 0]])
            #expect(try await tool.stored(origin.url("/a/149")) == "0123456789")
        }

        @Test("The standard input, with a last line without a line feed")
        func standardInput() async throws {
            let output = try await tool("prefetch", "-", "--json", input: "\(origin.url("/a"))\n\n\(origin.url("/b"))")
            #expect(try Summary(output) == Summary(network: 2))
            let bad = try await tool("prefetch", "-", input: "x")
            bad.expect(1, error: "the standard input:1: \"x\" cannot be loaded")
            #expect(try Summary(await tool("prefetch", "-", "--json", input: "# nothing\n")) == Summary())
        }

        @Test("One URL thousands of times is one request")
        func long() async throws {
            let count = Repetitions.count(20_000, debug: 4_000)
            let line = "\(origin.url("/a"))\n"
            let output = try await tool("prefetch", "-", "--json", input: String(repeating: line, count: count))
            let summary = try Summary(output)
            #expect(summary.urls == count)
            #expect(summary.failed == 0)
            #expect(origin.requestCount == 1)
        }

        @Test(
            "Retries temporary failures as often as --retry allows", .requirement("H7"),
            arguments: [("0", 1, 1), ("1", 2, 1), ("2", 3, 0)])
        func retrying(retry: String, requests: Int, exitCode: Int) async throws {
            let output = try await tool("prefetch", "-", "--retry", retry, input: origin.url("/late"))
            output.expect(Int32(exitCode), error: exitCode == 0 ? nil : "status 503")
            #expect(origin.requestCount == requests)
        }

        @Test("One transfer at a time in the background", .requirement("H1"))
        func background() async throws {
            try await tool("prefetch", list(urls("a", 30))).expect(0, error: nil)
            #expect(underWay.most == 1)
        }

        @Test(
            "The lane or --width limits the concurrent transfers", .requirement("H1"),
            arguments: [
                (["--lane", "urgent"], 6), (["--width", "3"], 3), (["--lane", "urgent", "--width", "12"], 12),
            ])
        func widths(arguments: [String], width: Int) async throws {
            let file = try list(urls("held", 40))
            // Answers only after this many requests; a larger number would be counted.
            async let output = tool.raw(["prefetch", file, "--store", tool.store] + arguments)
            await gate.reached(width)
            gate.open()
            try await output.expect(0, error: nil)
            #expect(underWay.most == width)
        }

        @Test("-H sends fields, and --policy decides about storing")
        func options() async throws {
            let file = try list([origin.url("/echo")])
            _ = try await tool("prefetch", file, "-H", "From: a")
            #expect(try await tool.stored(origin.url("/echo")) == "a")
            let again = try await tool("prefetch", file, "-H", "From: b", "--policy", "remote-only", "--json")
            #expect(try Summary(again) == Summary(network: 1))
            #expect(try await tool.stored(origin.url("/echo")) == "b")
            let offline = try await tool("prefetch", "-", "--policy", "cache-only", input: origin.url("/a"))
            offline.expect(1, error: "\(origin.url("/a")): not cached")
        }

        @Test("Ctrl-C ends the prefetch, which reports its progress and leaves the store whole", .requirement("H8"))
        func interruption() async throws {
            _ = try await tool("prefetch", try list(urls("a", 5)))
            let file = try list(urls("a", 5) + urls("held", 100))
            origin.resetRequests()
            let mark = "\(tool.directory.path)/mark"
            // The tool replaces the shell's process, and so has the process ID that the other process knows.
            let script = """
                { while [ ! -e "$2" ]; do sleep 0.02; done; kill -INT $$; } >/dev/null 2>&1 </dev/null &
                exec "$0" prefetch "$1" --store "$STORE" --json
                """
            async let running = tool.shell(script, file, mark)
            await gate.reached(1)
            try Data().write(to: URL(filePath: mark))
            let output = try await running
            #expect(!output.wasKilled, "\(output.errorText)")
            #expect(output.exitCode == 130, "\(output.errorText)")
            #expect(output.errorText.isEmpty)
            #expect(try Summary(output) == Summary(fresh: 5, interrupted: true))
            #expect(origin.requestCount == 1)
            gate.open()
            #expect(try await tool("check", "--digests").exitCode == 0)
            let rest = try await tool("prefetch", file, "--json", "--width", "6")
            #expect(try Summary(rest) == Summary(network: 100, fresh: 5))
        }

        @Test("Ctrl-C also ends a prefetch that waits for a pipe", .requirement("H8"))
        func interruptedWaiting() async throws {
            let mark = "\(tool.directory.path)/mark"
            let script = """
                mkfifo "$2.pipe"
                { while [ ! -e "$2" ]; do sleep 0.02; done; kill -INT $$; } >/dev/null 2>&1 </dev/null &
                exec 3<>"$2.pipe"
                echo "$1" >&3
                exec "$0" prefetch - --store "$STORE" --json <"$2.pipe"
                """
            async let running = tool.shell(script, origin.url("/held"), mark)
            await gate.reached(1)
            gate.open()
            try Data().write(to: URL(filePath: mark))
            let output = try await running
            #expect(!output.wasKilled, "\(output.errorText)")
            #expect(output.exitCode == 130, "\(output.errorText)")
            #expect(try Summary(output).interrupted)
        }

        @Test("A list that cannot be read is an error, and creates no store")
        func unreadable() async throws {
            try await tool("prefetch", "\(tool.directory.path)/none").expect(2, error: "none: No such file")
            #expect(!FileManager.default.fileExists(atPath: tool.store))
            try await tool("prefetch", tool.directory.path).expect(2, error: "Is a directory")
        }

        @Test(
            "Invalid usage",
            arguments: [
                [], ["a", "b"], ["-", "--retry", "-1"], ["-", "--retry", "101"], ["-", "--retry", "x"],
                ["-", "--width", "0"],
                ["-", "--width", "257"], ["-", "--lane", "fast"], ["-", "--timeout", "0"], ["-", "--policy", "x"],
            ])
        func usage(arguments: [String]) async throws {
            let output = try await tool.raw(["prefetch"] + arguments)
            output.expect(64, error: "Usage: cachestore prefetch")
        }
    }
}

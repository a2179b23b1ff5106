import TestSupport

extension ToolTests {
    @Suite("simulate", .serialized)
    struct Simulate {
        let tool: Tool

        init() throws { tool = try Tool() }

        private struct Report: Decodable, Equatable {
            struct Policy: Decodable, Equatable {
                let policy: String
                let hits: Int
                let hit_ratio: Double
                let byte_hit_ratio: Double
                let evicted_entries: Int
            }
            struct Bound: Decodable, Equatable {
                let hit_ratio: Double
                let byte_hit_ratio: Double
            }
            let requests: Int
            let keys: Int
            let unique_bytes: Int
            let max_bytes: Int
            let max_entry_bytes: Int
            let policies: [Policy]
            let clairvoyant_bound: Bound
        }

        /// Two bodies of 100,000 bytes that are requested twice, one of 50,000 that is requested four times in between,
        /// and one above the size limit. With a limit of 8 × 100,000 the store has no pressure.
        private let unpressed = """
            # a comment
            1 a 100000
            2 c 50000

            3 b 100000
            4 c 50000
            5 huge 100001
            6 c 50000
            7 huge 100001
            8 c 50000
            9 a 100000
            10 b 100000

            """

        @Test("A trace that fits equals a calculation by hand, from a file and from the standard input")
        func fits() async throws {
            let file = try tool.file("a.trace", Data(unpressed.utf8))
            let arguments = ["--max-bytes", "800000", "--json"]
            let output = try await tool.raw(["simulate", file] + arguments)
            output.expect(0, error: nil)
            let report = try output.json(Report.self)
            #expect(report.requests == 10)
            #expect(report.keys == 4)
            #expect(report.unique_bytes == 350_001)
            #expect(report.max_bytes == 800_000)
            #expect(report.max_entry_bytes == 100_000)
            #expect(report.policies.map(\.policy) == ["least-recently-used", "value-aware"])
            for policy in report.policies {
                #expect(policy.hits == 5)
                #expect(policy.hit_ratio == 0.5)
                #expect(policy.evicted_entries == 0)
                #expect(policy.byte_hit_ratio == 350_000.0 / 800_002)
            }
            #expect(report.clairvoyant_bound == .init(hit_ratio: 0.5, byte_hit_ratio: 350_000.0 / 800_002))
            let piped = try await tool.shell("\"$0\" simulate - --max-bytes 800000 --json < \"$1\"", file)
            #expect(try piped.json(Report.self).policies == report.policies)
        }

        /// Ten bodies of a tenth of the limit. Each except the last is requested twice, then the first two and the last
        /// once more. Ten are too many: two are evicted, down to nine tenths less the index.
        @Test("A trace that does not fit: the entries that each policy keeps")
        func doesNotFit() async throws {
            let keys = Array(1...9) + Array(1...9) + [10, 3, 2, 10]
            let lines = keys.enumerated().map { "\($0.offset) \($0.element) 100000\n" }.joined()
            let file = try tool.file("b.trace", Data(lines.utf8))
            let output = try await tool.raw(["simulate", file, "--max-bytes", "960000", "--json"])
            output.expect(0, error: nil)
            let report = try output.json(Report.self)
            // 10 evicts 1 and 2: hits for 3 and 10. As the least valuable, 10 is evicted immediately, and 1: hits for 3
            // and 2.
            #expect(report.policies.map(\.hits) == [11, 11])
            #expect(report.policies.map(\.evicted_entries).allSatisfy { $0 >= 2 })
            #expect(report.clairvoyant_bound.hit_ratio == 12.0 / 22)
        }

        @Test("The report on a terminal is a table")
        func table() async throws {
            let file = try tool.file("a.trace", Data(unpressed.utf8))
            let text = try await tool.raw(["simulate", file, "--max-bytes", "800000"]).text
            let lines = text.split(separator: "\n")
            #expect(lines[0] == "10 requests for 4 keys with 350.0 kB")
            #expect(lines[1] == "limit 800.0 kB, for a body 100.0 kB")
            #expect(lines[2].hasPrefix("policy               hits  hit ratio  byte ratio  rows  pages"))
            #expect(lines[4].hasPrefix("least-recently-used     5    50.00 %     43.75 %"))
            #expect(lines[5].hasPrefix("value-aware             5    50.00 %     43.75 %"))
            #expect(lines[6] == "clairvoyant bound            50.00 %     43.75 %")
        }

        @Test(
            "A malformed line is an error that names it",
            arguments: [("1 a 5\n2 b\n", "line 2: not the three words"), ("\n\n1 a b", "line 3: the size is not")])
        func malformed(trace: String, error: String) async throws {
            let file = try tool.file("c.trace", Data(trace.utf8))
            let output = try await tool.raw(["simulate", file, "--max-bytes", "1M"])
            output.expect(2, error: error)
            #expect(output.standardOutput.isEmpty)
        }

        @Test("SIGTERM ends the replay, removes the temporary stores, and exits with 143", .timeLimit(.minutes(5)))
        func signal() async throws {
            let temporary = "\(tool.directory.path)/temporary"
            try FileManager.default.createDirectory(atPath: temporary, withIntermediateDirectories: false)
            let script = """
                export TMPDIR="$1"
                yes '1 a 5' | "$0" simulate - --max-bytes 1M &
                until ls "$TMPDIR"/cachestore-simulate-*/index.sqlite >/dev/null 2>&1; do sleep 0.02; done
                kill -TERM $!
                wait $!
                """
            let output = try await tool.shell(script, temporary)
            #expect(output.exitCode == 143, "\(output.errorText)")
            #expect(output.standardOutput.isEmpty)
            #expect(try FileManager.default.contentsOfDirectory(atPath: temporary) == [])
        }

        @Test("An empty trace, no trace, no limit")
        func usage() async throws {
            let empty = try await tool.raw(["simulate", "/dev/null", "--max-bytes", "0", "--json"])
            empty.expect(0, error: nil)
            #expect(try empty.json(Report.self).policies.map(\.hit_ratio) == [0, 0])
            try await tool.raw(["simulate", "/nonexistent", "--max-bytes", "1M"]).expect(2, error: "/nonexistent")
            try await tool.raw(["simulate", "/dev/null"]).expect(64, error: "max-bytes")
            try await tool.raw(["simulate", "--max-bytes", "1M", "--format", "trace"]).expect(64, error: "needs a file")
            try await tool("simulate", "/dev/null", "--max-bytes", "1M").expect(64, error: "not both")
            try await tool.raw(["simulate", "/dev/null", "--max-bytes", "1M", "--format", "x"]).expect(
                64, error: "format")
        }

        // MARK: Logs and records

        private struct Log: Decodable {
            struct Policy: Decodable { let hits: Int }
            struct LeftOut: Decodable, Equatable {
                let malformed_lines: Int
                let uncacheable: Int
                let lost: Int
            }
            let requests: Int
            let keys: Int
            let unique_bytes: Int
            let policies: [Policy]
            let left_out: LeftOut
        }

        private static let log = """
            192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] "GET /a HTTP/1.1" 200 1000
            192.0.2.1 - frank [01/Jan/2026:00:00:01 +0000] "GET /b?x=1 HTTP/1.1" 200 500 "http://a/" "Mozilla/5.0 (X)"
            \u{1}\u{2} hostile
            192.0.2.1 - - [01/Jan/2026:00:00:02 +0000] "POST /a HTTP/1.1" 200 1
            192.0.2.2 - - [01/Jan/2026:00:00:03 +0000] "GET /a HTTP/1.1" 304 -

            192.0.2.2 - - [01/Jan/2026:00:00:04 +0000] "GET /c HTTP/1.1" 500 20
            192.0.2.2 - - [01/Jan/2026:00:00:05 +0000] "GET /b?x=1 HTTP/1.1" 200 500
            """

        @Test("Recognises an access log by its first line; counts and skips malformed lines")
        func accessLog() async throws {
            let file = try tool.file("access.log", Data(Self.log.utf8) + [0x0A, 0xFF, 0xFE, 0x0A])
            for format in [[], ["--format", "access-log"]] {
                let output = try await tool.raw(["simulate", file, "--max-bytes", "1M", "--json"] + format)
                output.expect(0, error: nil)
                let report = try output.json(Log.self)
                #expect(report.requests == 4)
                #expect(report.keys == 2)
                #expect(report.unique_bytes == 1500)
                #expect(report.policies.map(\.hits) == [2, 2])
                #expect(report.left_out == .init(malformed_lines: 2, uncacheable: 2, lost: 0))
            }
            let text = try await tool.raw(["simulate", file, "--max-bytes", "1M"]).text
            #expect(text.contains("left out: 2 malformed lines, 2 uncacheable requests\n"))
            // Read as a trace, the log is an error that names its line.
            try await tool.raw(["simulate", file, "--max-bytes", "1M", "--format", "trace"]).expect(2, error: "line 1")
        }

        @Test("A file without any request is an error, not an empty report")
        func garbage() async throws {
            let file = try tool.file("access.log.gz", Data([0x1F, 0x8B, 0x08, 0x0A, 0x00, 0x0A]))
            try await tool.raw(["simulate", file, "--max-bytes", "1M", "--format", "access-log"])
                .expect(2, error: "no line is a request")
        }

        @Test("Without a file, replays the record of the store")
        func record() async throws {
            try await tool("simulate", "--max-bytes", "1M").expect(2, error: "there is no store")
            try tool.fill([])
            try await tool("simulate", "--max-bytes", "1M").expect(1, error: "cachestore record on")
            let store = try ResponseStore(directory: URL(filePath: tool.store))
            try store.startRecordingRequests(capacity: 8)
            let beginning = try #require(store.requests.beginning)
            func add(_ path: String, _ outcome: RequestOutcome, status: Int, length: Int64?, method: String = "GET")
                throws
            {
                var record = RequestRecord(
                    startedAt: Date(), method: method, target: try CacheKey(url: "http://a.test/\(path)"),
                    outcome: outcome)
                record.status = status
                record.contentByteCount = length
                record.networkByteCount = 70
                store.requests.add(record, since: beginning)
            }
            for _ in 0..<3 { try add("overwritten", .miss, status: 200, length: 1) }
            try add("a", .miss, status: 200, length: 1000)
            try add("b", .miss, status: 200, length: nil)
            try add("a", .hit, status: 206, length: 10)
            try add("a", .hit, status: 304, length: 0)
            try add("b", .coalesced, status: 200, length: nil)
            try add("c", .error, status: 404, length: 5)
            try add("d", .miss, status: 200, length: 5, method: "HEAD")
            try add("e", .miss, status: 500, length: 5)
            store.close()
            let output = try await tool("simulate", "--max-bytes", "1M", "--json")
            output.expect(0, error: nil)
            let report = try output.json(Log.self)
            #expect(report.requests == 5)
            #expect(report.keys == 2)
            #expect(report.unique_bytes == 1070)
            #expect(report.policies.map(\.hits) == [3, 3])
            #expect(report.left_out == .init(malformed_lines: 0, uncacheable: 3, lost: 3))
        }
    }
}

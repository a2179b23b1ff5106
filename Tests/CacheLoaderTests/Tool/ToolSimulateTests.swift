import CacheStoreTesting
import Foundation
import TestSupport
import Testing

extension ToolTests {
    @Suite("simulate", .serialized)
    struct Simulate {
        let tool: Tool

        init() throws {
            tool = try Tool()
        }

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

        /// Two bodies of 100,000 bytes that are asked for twice, one of 50,000 that is asked for four times in between, and
        /// one that is too large, for a limit of 8 × 100,000: a store without pressure.
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

        @Test("A trace that fits: as reckoned by hand, from a file and from the standard input")
        func fits() async throws {
            let file = try tool.file("a.trace", Data(unpressed.utf8))
            let arguments = ["--max-bytes", "800000", "--json"]
            let output = try await tool.raw(["simulate", file] + arguments)
            output.expect(0, error: nil)
            let report = try output.json(Report.self)
            #expect(report.requests == 10 && report.keys == 4 && report.unique_bytes == 350_001)
            #expect(report.max_bytes == 800_000 && report.max_entry_bytes == 100_000)
            #expect(report.policies.map(\.policy) == ["least-recently-used", "value-aware"])
            for policy in report.policies {
                #expect(policy.hits == 5 && policy.hit_ratio == 0.5 && policy.evicted_entries == 0)
                #expect(policy.byte_hit_ratio == 350_000.0 / 800_002)
            }
            #expect(report.clairvoyant_bound == .init(hit_ratio: 0.5, byte_hit_ratio: 350_000.0 / 800_002))
            let piped = try await tool.shell("\"$0\" simulate - --max-bytes 800000 --json < \"$1\"", file)
            #expect(try piped.json(Report.self).policies == report.policies)
        }

        /// Ten bodies of a tenth of the limit, of which each but the last is asked for twice, and then the first two and the
        /// last again. Ten are too many: two of them go, down to nine tenths less the index.
        @Test("A trace that does not fit: what each policy keeps")
        func doesNotFit() async throws {
            let keys = Array(1...9) + Array(1...9) + [10, 3, 2, 10]
            let lines = keys.enumerated().map { "\($0.offset) \($0.element) 100000\n" }.joined()
            let file = try tool.file("b.trace", Data(lines.utf8))
            let output = try await tool.raw(["simulate", file, "--max-bytes", "960000", "--json"])
            output.expect(0, error: nil)
            let report = try output.json(Report.self)
            // 1 and 2 go for 10: hits for 3 and 10. 10, worth least, goes at once, and 1: hits for 3 and 2.
            #expect(report.policies.map(\.hits) == [11, 11])
            #expect(report.policies.map(\.evicted_entries).allSatisfy { $0 >= 2 })
            #expect(report.clairvoyant_bound.hit_ratio == 12.0 / 22)
        }

        @Test("The report for a person is a table")
        func table() async throws {
            let file = try tool.file("a.trace", Data(unpressed.utf8))
            let text = try await tool.raw(["simulate", file, "--max-bytes", "800000"]).text
            let lines = text.split(separator: "\n")
            #expect(lines[0] == "10 requests for 4 keys with 350.0 kB; limit 800.0 kB, for a body 100.0 kB")
            #expect(
                lines[1].hasPrefix("policy               hits  hit ratio  byte hit ratio  rows written  pages written"))
            #expect(lines[3].hasPrefix("least-recently-used     5    50.00 %         43.75 %"))
            #expect(lines[4].hasPrefix("value-aware             5    50.00 %         43.75 %"))
            #expect(lines[5] == "clairvoyant bound            50.00 %         43.75 %")
        }

        @Test(
            "A line that is no request is an error that names it",
            arguments: [("1 a 5\n2 b\n", "line 2: not the three words"), ("\n\n1 a b", "line 3: the size is not")])
        func malformed(trace: String, error: String) async throws {
            let file = try tool.file("c.trace", Data(trace.utf8))
            let output = try await tool.raw(["simulate", file, "--max-bytes", "1M"])
            output.expect(2, error: error)
            #expect(output.standardOutput.isEmpty)
        }

        @Test("An empty trace, no trace, no limit")
        func usage() async throws {
            let empty = try await tool.raw(["simulate", "/dev/null", "--max-bytes", "0", "--json"])
            empty.expect(0, error: nil)
            #expect(try empty.json(Report.self).policies.map(\.hit_ratio) == [0, 0])
            try await tool.raw(["simulate", "/nonexistent", "--max-bytes", "1M"]).expect(2, error: "/nonexistent")
            try await tool.raw(["simulate", "/dev/null"]).expect(64, error: "max-bytes")
            try await tool.raw(["simulate", "--max-bytes", "1M"]).expect(64, error: "trace")
        }
    }
}

import TestSupport

extension ToolTests {
    @Suite("record", .serialized)
    struct Record {
        let tool: Tool

        init() throws { tool = try Tool() }

        private struct State: Decodable, Equatable {
            let is_on: Bool
            let requests: Int
            let capacity: Int
            let overwritten: Int
            let byte_size: Int
        }

        private struct Line: Decodable {
            let outcome: String
            let url: String
            let status: Int?
            let network_bytes: Int
            let disk_bytes: Int
            let process: Int
        }

        private func state() async throws -> State { try await tool("record", "status", "--json").json(State.self) }

        @Test("Other processes record while recording is on; switched off, the record stays until it is discarded")
        func switching() async throws {
            let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
            try await tool("record", "status").expect(2, error: "there is no store")
            try await tool("record", "off").expect(2, error: "there is no store")
            try await tool("record", "on", "--capacity", "4").expect(0, error: nil)
            for path in ["/a", "/a", "/b", "/c", "/d"] { _ = try await tool("get", origin.url(path)) }
            let on = State(is_on: true, requests: 4, capacity: 4, overwritten: 1, byte_size: 5 * 512)
            #expect(try await state() == on)
            let text = try await tool("record").text
            #expect(text.hasPrefix("recording           on\nrequests            4\n"), "\(text)")
            try await tool("record", "off").expect(0, error: nil)
            _ = try await tool("get", origin.url("/e"))
            #expect(try await state().requests == 4)
            let lines = try await tool("record", "show", "--jsonl").lines.map {
                try JSONDecoder().decode(Line.self, from: Data($0.utf8))
            }
            #expect(try await tool("record", "show", "--json").json([Line].self).map(\.url) == lines.map(\.url))
            #expect(lines.map(\.outcome) == ["hit", "miss", "miss", "miss"])
            #expect(lines.map(\.url) == ["/a", "/b", "/c", "/d"].map { origin.url($0) })
            #expect(lines.map(\.disk_bytes) == [2, 0, 0, 0])
            #expect(lines.map(\.network_bytes) == [0, 2, 2, 2])
            #expect(Set(lines.map(\.process)).count == 4)
            let simulated = try await tool("simulate", "--max-bytes", "1M")
            simulated.expect(0, error: nil)
            #expect(simulated.text.hasPrefix("4 requests for 4 keys"))
            try await tool("record", "off", "--discard").expect(0, error: nil)
            #expect(!FileManager.default.fileExists(atPath: tool.store + "/requests"))
            #expect(try await tool("record", "status").text == "recording           off\n")
        }

        @Test("Each request is a line, truncated to the terminal; --follow prints later ones as they come")
        func show() async throws {
            let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
            try await tool("record", "on").expect(0, error: nil)
            let long = origin.url("/" + String(repeating: "x", count: 100))
            _ = try await tool("get", long)
            let line = try #require(try await tool("record", "show").lines.first)
            #expect(
                line.wholeMatch(
                    of: /\d\d:\d\d:\d\d\.\d\d\d miss        200 GET     101 B +\d+\.\d ms http:.*/) != nil, "\(line)")
            #expect(line.hasSuffix(long))
            let screen = try await tool.onTerminal("record", "show").text
            #expect(screen.split(whereSeparator: \.isNewline).map(\.count) == [80], "\(screen)")
            // The reader ends with the second line, and the tool with its reader.
            let script = """
                "$0" record show --follow --jsonl --store "$STORE" | {
                    read -r line; echo "$line"
                    "$0" get "$1" --store "$STORE" > /dev/null
                    read -r line; echo "$line"
                }
                """
            // Ends at the next write after the reader has left.
            async let output = tool.shell(script, origin.url("/second"))
            let ender = Task {
                var number = 0
                while !Task.isCancelled {
                    _ = try? await tool("get", origin.url("/\(number)"))
                    number += 1
                }
            }
            let lines = try await output.lines
            ender.cancel()
            _ = await ender.value
            #expect(lines.count == 2)
            #expect(lines.first?.contains(long) == true)
        }

        @Test("Invalid numbers and words are errors")
        func usage() async throws {
            for number in ["0", "-1", "x", "4194305"] {
                try await tool("record", "on", "--capacity", number).expect(64, error: "capacity")
            }
            try await tool("record", "nonsense").expect(64, error: "nonsense")
            #expect(!FileManager.default.fileExists(atPath: tool.store))
        }
    }
}

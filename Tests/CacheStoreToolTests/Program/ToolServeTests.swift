import TestSupport

extension ToolTests {
    @Suite("serve", .serialized)
    struct Serve {
        let tool: Tool

        init() throws { tool = try Tool() }

        @Test("Refuses an invalid port", arguments: ["-1", "65536", "x"])
        func port(port: String) async throws {
            try await tool.raw(["serve", "--port=\(port)"]).expect(64, error: "port")
        }

        @Test("Does not create a missing store")
        func noStore() async throws {
            try await tool("serve").expect(2, error: "there is no store in")
            #expect(!FileManager.default.fileExists(atPath: tool.store))
        }

        @Test("The first line is an address on loopback with a token, and SIGTERM ends the server")
        func address() async throws {
            try tool.fill()
            let output = try await tool.shell(
                """
                "$0" serve --store "$STORE" >"$1" &
                while [ ! -s "$1" ]; do sleep 0.02; done
                kill -TERM $!
                wait $!
                echo $?
                cat "$1"
                """, "\(tool.directory.path)/address")
            output.expect(0, error: nil)
            #expect(output.lines.count == 2)
            #expect(output.lines.first == "143")
            let pattern = #/^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/\?token=[0-9a-f]{32}$/#
            #expect(try pattern.firstMatch(in: output.lines.last ?? "") != nil)
        }
    }
}

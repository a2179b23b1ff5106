import TestSupport

extension ToolTests {
    /// Bodies on a terminal.
    @Suite("bodies on a terminal", .serialized)
    struct TerminalBodies {
        private static let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]

        private let tool: Tool
        private let origin: LoopbackOrigin

        init() async throws {
            tool = try Tool()
            origin = try await LoopbackOrigin { request in
                let body = request.path == "/picture" ? Self.picture : Array("text\n".utf8)
                return .ok(body, cacheControl: "max-age=600")
            }
        }

        @Test("get writes no binary body to a terminal, unless -o - asks for it")
        func get() async throws {
            let url = origin.url("/picture")
            let refused = try await tool.onTerminal("get", url)
            refused.expect(1, error: "\(url): the body is binary, and can disturb a terminal; -o FILE saves it, -o - ")
            #expect(refused.text.isEmpty)
            let forced = try await tool.onTerminal("get", url, "-o", "-")
            forced.expect(0, error: nil)
            #expect(forced.text.contains("PNG"))
            #expect(try await tool("get", url).standardOutput == Data(Self.picture))
            let text = try await tool.onTerminal("get", origin.url("/text"))
            text.expect(0, error: nil)
            #expect(text.lines == ["text"])
        }

        @Test("get of several URLs writes the other bodies")
        func several() async throws {
            let output = try await tool.onTerminal("get", origin.url("/picture"), origin.url("/text"))
            output.expect(1, error: "the body is binary")
            #expect(output.lines == ["text"])
        }

        @Test("show --body writes no binary body to a terminal")
        func show() async throws {
            let url = origin.url("/picture")
            _ = try await tool("get", url)
            let refused = try await tool.onTerminal("show", url, "--body")
            refused.expect(1, error: "\(url): the body is binary, and can disturb a terminal; redirect the output")
            #expect(try await tool("show", url, "--body").standardOutput == Data(Self.picture))
        }
    }
}

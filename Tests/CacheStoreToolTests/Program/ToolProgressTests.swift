import TestSupport

extension ToolTests {
    @Suite("progress", .serialized)
    struct Progress {
        @Test("get: shows the received share of a body, on a terminal only")
        func get() async throws {
            let tool = try Tool()
            let body = [UInt8](repeating: 1, count: 1_000_000)
            let reply = OriginReply.ok(body).delivered(.stalling(afterBytes: 500_000))
            let origin = try await LoopbackOrigin { _ in reply }
            let seen = Gate()
            async let shown = tool.screen(
                ["get", origin.url("/"), "-o", "/dev/null", "--store", tool.store], environment: [:]
            ) { if $0.contains("  50%  500.0 kB of 1.0 MB") { seen.open() } }
            await seen.wait()
            await origin.stop()
            // Erases the line before the message.
            #expect(try await shown.contains("\r\u{1B}[Kcachestore: "))
            let other = try await LoopbackOrigin { _ in reply }
            let piped = try await tool.raw(
                ["get", other.url("/"), "-o", "/dev/null", "--timeout", "1", "--store", tool.store])
            piped.expect(2, error: "no answer in time")
            #expect(!piped.errorText.contains("%"))
        }
    }
}

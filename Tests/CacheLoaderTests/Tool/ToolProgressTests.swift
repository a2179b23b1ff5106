import Foundation
import LoopbackOrigin
import TestSupport
import Testing

extension ToolTests {
    @Suite("progress", .serialized)
    struct Progress {
        @Test("get: the part of a body that has arrived, on a terminal only")
        func get() async throws {
            let tool = try Tool()
            let body = [UInt8](repeating: 1, count: 1_000_000)
            let origin = try await LoopbackOrigin { _ in .ok(body).delivered(.stalling(afterBytes: 500_000)) }
            let command = ["get", origin.url("/"), "-o", "/dev/null", "--timeout", "1", "--store", tool.store]
            let screen = try await tool.screen(command, environment: [:])
            #expect(screen.contains("  50%  500.0 kB of 1.0 MB"), "\(screen.debugDescription)")
            // The line is erased before the message.
            #expect(screen.contains("\r\u{1B}[Kcachestore: "))
            let piped = try await tool.raw(command)
            piped.expect(2, error: "no answer in time")
            #expect(!piped.errorText.contains("%"))
        }
    }
}

import TestSupport

extension ToolTests {
    @Suite("read-only commands", .serialized)
    struct LookOnly {
        let tool: Tool

        init() throws { tool = try Tool() }

        @Test(
            "Commands that need a store create none",
            arguments: [
                ["list"], ["explain", "http://a.test/"], ["show", "http://a.test/"],
                ["show", "http://a.test/", "--body"], ["stats"], ["sql", "SELECT 1"], ["check"],
                ["evict", "--max-bytes", "1"], ["remove", "http://a.test/"],
                ["snapshot", "/tmp/cachestore-snapshot-of-nothing"], ["evict", "--max-entries", "1", "--dry-run"],
                ["remove", "--all"], ["remove", "--all", "--dry-run"],
            ])
        func missingStore(arguments: [String]) async throws {
            let missing = "\(tool.directory.path)/missing"
            try await tool.raw(arguments + ["--store", missing]).expect(2, error: "there is no store in \(missing)")
            #expect(!FileManager.default.fileExists(atPath: missing))
        }
    }
}

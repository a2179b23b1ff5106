import TestSupport

extension ToolTests {
    @Suite("read-only commands", .serialized)
    struct LookOnly {
        let tool: Tool

        init() throws {
            tool = try Tool()
        }

        @Test(
            "sql: refuses statements that write, and invalid SQL",
            arguments: [
                "DELETE FROM entry", "UPDATE entry SET etag = 'x'", "DROP TABLE entry", "CREATE TABLE t (x)",
                "PRAGMA user_version = 9", "BEGIN IMMEDIATE", "VACUUM", "INSERT INTO total VALUES (2)",
                "ATTACH 'other.sqlite' AS other",
                "VACUUM INTO 'other.sqlite'", "SELECT 1; DELETE FROM entry", "SELEC 1",
                "SELECT nothing FROM cache_stats", "",
            ])
        func readOnly(sql: String) async throws {
            try tool.fill()
            try await tool("sql", sql).expect(2, error: "the SQL cannot be run: ")
            #expect(try tool.rows("SELECT entries FROM cache_stats") == [["entries": 3]])
        }

        @Test(
            "Commands that need a store create none",
            arguments: [
                ["list"], ["explain", "http://a.test/"], ["show", "http://a.test/"],
                ["show", "http://a.test/", "--body"], ["stats"],
                ["sql", "SELECT 1"], ["check"], ["evict", "--max-bytes", "1"], ["remove", "http://a.test/"],
                ["snapshot", "/tmp/cachestore-snapshot-of-nothing"], ["evict", "--max-entries", "1", "--dry-run"],
                ["remove", "--all"],
                ["remove", "--all", "--dry-run"],
            ])
        func missingStore(arguments: [String]) async throws {
            let missing = "\(tool.directory.path)/missing"
            try await tool.raw(arguments + ["--store", missing]).expect(2, error: "there is no store in \(missing)")
            #expect(!FileManager.default.fileExists(atPath: missing))
        }
    }
}

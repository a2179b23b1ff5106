import TestSupport

extension ToolTests {
    @Suite("snapshot", .serialized)
    struct Snapshot {
        let tool: Tool
        /// The directory of the snapshot.
        let copy: String

        init() async throws {
            tool = try Tool()
            copy = tool.directory.path + "/copy"
            for name in ["a", "b", "c"] {
                let body = String(repeating: name, count: 1000)
                try await tool("put", "http://a.test/\(name)", "-", input: body).expect(0, error: nil)
            }
        }

        private func names(of directory: String) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
        }

        @Test("A snapshot is a store with the same responses")
        func roundTrip() async throws {
            let output = try await tool("snapshot", copy)
            output.expect(0, error: nil)
            #expect(output.text == "copied 3 entries, 3 files, 3.0 kB\n")
            #expect(try await tool.raw(["check", "--digests", "--store", copy]).text == "3 files, sound\n")
            let body = try await tool.raw(["get", "http://a.test/b", "--policy", "cache-only", "--store", copy])
            #expect(body.text == String(repeating: "b", count: 1000))
            #expect(try names(of: tool.directory.path) == ["copy", "store"])
        }

        @Test("--json reports the numbers")
        func json() async throws {
            #expect(
                try await tool("snapshot", copy, "--json").json([String: Int].self) == [
                    "entries": 3, "files": 3, "bytes": 3000, "copied_files": 0, "entries_left_out": 0,
                ])
        }

        @Test("A missing body omits its entry, and the report says so")
        func missingBody() async throws {
            let rows = try tool.rows("SELECT file_path FROM cache_entries ORDER BY key")
            guard case .text(let path) = rows[0]["file_path"] else { throw CancellationError() }
            try FileManager.default.removeItem(atPath: "\(tool.store)/\(path)")
            #expect(
                try await tool("snapshot", copy).text
                    == "copied 2 entries, 2 files, 2.0 kB; left out 1 entry, body missing\n")
        }

        @Test("An unusable target is an error in one line, and nothing changes")
        func refused() async throws {
            let file = try tool.file("file", Data("mine".utf8))
            let missing = tool.directory.path + "/missing"
            for (arguments, code, words) in [
                ([tool.store], 2, "cannot use \(tool.store)"), ([file], 2, "cannot use \(file)"), ([], 64, "target"),
                ([""], 64, "snapshot needs"),
            ] as [([String], Int32, String)] {
                try await tool.raw(["snapshot"] + arguments + ["--store", tool.store]).expect(code, error: words)
            }
            try await tool.raw(["snapshot", copy, "--store", missing]).expect(
                2, error: "there is no store in \(missing)")
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
            #expect(try names(of: tool.directory.path) == ["file", "store"])
            #expect(try await tool("check", "--digests").text == "3 files, sound\n")
        }
    }
}

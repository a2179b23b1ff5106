import TestSupport

extension ToolTests {
    @Suite("remove", .serialized)
    struct Remove {
        let tool: Tool

        init() throws { tool = try Tool() }

        @Test("Removes all responses of a URL, and reports whether any existed", .requirement("J2"))
        func remove() async throws {
            let origin = try await LoopbackOrigin { request in
                .resource("hello".utf8, for: request, etag: "\"1\"", cacheControl: "max-age=60")
            }
            let url = origin.url("/a")
            _ = try await tool("get", url)
            let removal = try await tool("remove", url)
            removal.expect(0, error: nil)
            #expect(removal.text == "removed \(url)\n")
            #expect(try await tool.stored(url) == nil)
            #expect(
                try tool.rows("SELECT entries, files, physical_bytes FROM cache_stats") == [
                    ["entries": 0, "files": 0, "physical_bytes": 0]
                ])

            _ = try await tool("get", url)
            #expect(origin.requestCount == 2)
            #expect(origin.requests.last?.fields[.ifNoneMatch] == nil)
        }

        @Test("A missing response exits with 1, and does not stop the others")
        func removeMissing() async throws {
            try tool.fill()
            let output = try await tool("remove", "http://a.test/a", "http://a.test/x", "http://a.test/b")
            output.expect(1, error: "http://a.test/x: not stored")
            #expect(output.text == "removed http://a.test/a\nremoved http://a.test/b\n")
            let report = try await tool("remove", "http://a.test/c", "http://a.test/x", "--json")
            #expect(report.exitCode == 1)
            #expect(
                try JSONDecoder().decode([String: [String]].self, from: report.standardOutput) == [
                    "removed": ["http://a.test/c"], "not_stored": ["http://a.test/x"],
                ])
        }

        @Test("URLs, dry run: reports what would be removed, and missing responses")
        func dryRun() async throws {
            try tool.fill()
            let output = try await tool("remove", "http://a.test/a", "http://a.test/x", "--dry-run")
            output.expect(1, error: "http://a.test/x: not stored")
            #expect(output.text == "would remove http://a.test/a\n")
            #expect(try tool.rows("SELECT entries FROM cache_stats") == [["entries": 3]])
        }

        // MARK: Selections

        struct Selection: CustomTestStringConvertible {
            let arguments: [String]
            let left: [String]

            init(_ arguments: [String], leaves left: [String]) {
                self.arguments = arguments
                self.left = left
            }

            var testDescription: String { arguments.joined(separator: " ") }
        }

        /// Four bodies of 1000 bytes, equal for `a.test/1` and `b.test/1`, and failures of two keys.
        private func fillWithFour() throws {
            let store = try ResponseStore(directory: URL(filePath: tool.store))
            defer { store.close() }
            let now = Date()
            for (url, partition, type, tags, isPinned, byte) in [
                ("http://a.test/1", "", "text/html; charset=utf-8", ["x", "y"], true, 1),
                ("http://a.test/2", "", "image/png", ["x"], false, 2),
                ("http://b.test/1", "", "TEXT/HTML", [], false, 1),
                ("http://a.test/1", "u1", "image/gif", ["y"], false, 3),
            ] as [(String, String, String, Set<String>, Bool, UInt8)] {
                try store.insert(
                    Data(repeating: byte, count: 1000),
                    metadata: EntryMetadata(contentType: type, requestedAt: now, receivedAt: now),
                    for: CacheKey(url: url, partition: partition),
                    options: EntryOptions(isPinned: isPinned, tags: tags))
            }
            for url in ["http://a.test/2", "http://a.test/gone"] {
                try store.recordFailure(for: CacheKey(url: url), status: 500)
            }
        }

        private func left() throws -> [String] {
            try tool.rows("SELECT partition || ' ' || host || ' ' || substr(key, -1) AS t FROM cache_entries")
                .compactMap {
                    if case .text(let text) = $0["t"] { text.trimmingPrefix { $0 == " " }.description } else { nil }
                }
                .sorted()
        }

        @Test(
            "All conditions must hold; a first dry run changes nothing and reports the same",
            arguments: [
                Selection(["--partition", "u1"], leaves: ["a.test 1", "a.test 2", "b.test 1"]),
                Selection(["--partition", ""], leaves: ["u1 a.test 1"]),
                Selection(["--prefix", "http://a.test/1"], leaves: ["a.test 2", "b.test 1"]),
                Selection(["--host", "A.TEST"], leaves: ["b.test 1"]),
                Selection(["--tag", "x"], leaves: ["b.test 1", "u1 a.test 1"]),
                Selection(["--content-type", "text/html"], leaves: ["a.test 2", "u1 a.test 1"]),
                Selection(["--content-type", "image/*"], leaves: ["a.test 1", "b.test 1"]),
                Selection(["--where", "is_pinned = 1 -- all"], leaves: ["a.test 2", "b.test 1", "u1 a.test 1"]),
                Selection(
                    ["--host", "a.test", "--partition", "", "--where", "hit_count = 0"],
                    leaves: ["b.test 1", "u1 a.test 1"]),
                Selection(["--all"], leaves: []),
            ])
        func selections(_ selection: Selection) async throws {
            try fillWithFour()
            let everything = try left()
            let arguments = ["remove", "--store", tool.store] + selection.arguments
            let dry = try await tool.raw(arguments + ["--dry-run"])
            dry.expect(0, error: nil)
            let numbers = try await tool.raw(arguments + ["--dry-run", "--json"]).json([String: Int].self)
            #expect(try left() == everything)
            let held = try #require(try tool.rows("SELECT * FROM cache_stats").first)
            let output = try await tool.raw(arguments)
            output.expect(0, error: nil)
            #expect(
                dry.text.replacing("would remove", with: "removed").replacing("free ", with: "freed ") == output.text)
            #expect(try left() == selection.left)
            #expect(numbers["entries"] == everything.count - selection.left.count)
            let now = try #require(try tool.rows("SELECT * FROM cache_stats").first)
            for (column, key) in [("physical_bytes", "bytes"), ("failing_keys", "failures")] {
                guard case .number(let before) = held[column], case .number(let after) = now[column] else {
                    throw CancellationError()
                }
                #expect(numbers[key].map(Double.init) == before - after, "\(key)")
            }
            let store = try ResponseStore(directory: URL(filePath: tool.store))
            #expect(try await store.check(digests: true).problems == [])
        }

        @Test("The numbers, in text and in JSON")
        func reports() async throws {
            try fillWithFour()
            let arguments = ["remove", "--store", tool.store, "--host", "a.test"]
            #expect(
                try await tool.raw(arguments + ["--dry-run"]).text
                    == "would remove 3 entries and the failures of 2 keys, free 2.0 kB\n")
            #expect(
                try await tool.raw(arguments + ["--json"]).json([String: Int].self) == [
                    "entries": 3, "failures": 2, "bytes": 2000,
                ])
            #expect(try await tool.raw(arguments).text == "removed 0 entries and the failures of 0 keys, freed 0 B\n")
        }

        @Test(
            "Invalid usage removes nothing: neither no selection nor an empty text means everything",
            arguments: [
                [], ["--dry-run"], ["http://a.test/a", "--host", "a.test"], ["http://a.test/a", "--all"],
                ["--all", "--host", "a.test"], ["--prefix", ""], ["--host", ""], ["--tag", ""], ["--where", " "],
                ["--content-type", ""], ["--all", "--prefix", ""],
            ])
        func usage(arguments: [String]) async throws {
            try tool.fill()
            let output = try await tool.raw(["remove", "--store", tool.store] + arguments)
            output.expect(64, error: "Usage: cachestore remove")
            #expect(try tool.rows("SELECT entries FROM cache_stats") == [["entries": 3]])
        }
    }
}

import TestSupport

extension ToolTests {
    /// `import` and `export`.
    @Suite("archives", .serialized)
    struct Archives {
        private static let chromium = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../CacheStoreTestingTests/Recordings/chromium.har").standardizedFileURL
            .path(percentEncoded: false)

        let tool: Tool
        /// The file of an export.
        let file: String

        init() throws {
            tool = try Tool()
            file = tool.directory.path + "/out.har"
        }

        @Test("A recording of Chromium fills a store; another import adds nothing")
        func chromium() async throws {
            let first = try await tool("import", Self.chromium)
            first.expect(0, error: nil)
            #expect(first.text.hasPrefix("stored "))
            #expect(try await tool.stored("http://127.0.0.1:8462/empty") == "")
            #expect(try await tool.stored("http://127.0.0.1:8462/feed.json") == #"{"items": [{"title": "naïve €"}]}"#)
            func count(_ path: String) throws -> [[String: Printed]] {
                try tool.rows("SELECT count(*) AS entries FROM cache_entries WHERE url LIKE '%\(path)'")
            }
            #expect(try count("/tagged") == [["entries": 1]])
            #expect(try count("/counter") == [["entries": 0]])
            let entries = try tool.rows("SELECT entries FROM cache_stats")
            let second = try await tool("import", Self.chromium, "--json").json([String: Int].self)
            #expect(second["stored"] == 0)
            #expect(try tool.rows("SELECT entries FROM cache_stats") == entries)
            #expect(try await tool("check", "--digests").text.hasSuffix("sound\n"))
        }

        @Test("An exported store replays with the same bytes, and fills another store")
        func roundTrip() async throws {
            let bytes = Data(0...255)
            let source = tool.directory.path + "/bytes"
            try bytes.write(to: URL(filePath: source))
            try await tool("put", "http://a.test/bytes?token=SECRET", source, "--content-type", "image/x-own")
                .expect(0, error: nil)
            try await tool("put", "http://a.test/text", "-", input: "text\n").expect(0, error: nil)
            try await tool("put", "http://b.test/empty", "-", input: "").expect(0, error: nil)
            let output = try await tool("export", "--har", file)
            output.expect(0, error: "exported 3 responses")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(!text.contains("SECRET"))
            #expect(text.contains(#""text" : "text\n""#))

            let replay = try ReplayTransport(file: URL(filePath: file))
            for (path, body) in [("/bytes?token=OTHER", bytes), ("/text", Data("text\n".utf8))] {
                let response = try await replay.send(
                    HTTPRequest(method: .get, scheme: "http", authority: "a.test", path: path), content: nil)
                #expect(try await response.body.next() == body)
            }

            let other = tool.directory.path + "/other"
            let report = try await tool.raw(["import", file, "--store", other])
            #expect(report.text == "stored 3 responses, 261 B\n")
            let copied = try await tool.raw(["get", "http://a.test/text", "--policy", "cache-only", "--store", other])
            #expect(copied.text == "text\n")
        }

        @Test("A selection limits an export, and - writes to the standard output")
        func selection() async throws {
            try tool.fill([("http://a.test/1", "one"), ("http://b.test/2", "two")])
            let output = try await tool("export", "--har", "-", "--host", "b.test")
            output.expect(0, error: "exported 1 response")
            #expect(output.text.contains("http://b.test/2"))
            #expect(!output.text.contains("a.test"))
            #expect(try JSONSerialization.jsonObject(with: Data(output.text.utf8)) is [String: Any])
        }

        @Test("A status and field names that no response can have do not end an export")
        func alteredIndex() async throws {
            do {
                let store = try ResponseStore(directory: URL(filePath: tool.store))
                defer { store.close() }
                let metadata = EntryMetadata(
                    variant: String(repeating: "a:\n", count: 66_000), status: 1000, requestedAt: Date(),
                    receivedAt: Date())
                try await store.insert(Data([1]), metadata: metadata, for: CacheKey(url: "http://a.test/"))
            }
            let output = try await tool("export", "--har", "-")
            output.expect(0, error: "exported 1 response")
            #expect(output.text.contains(#""status" : 999"#))
        }

        @Test("Bodies that the archive lacks, and requests that no cache may keep, are counted")
        func leftOut() async throws {
            func entry(_ method: String, _ path: String, _ content: String, _ fields: String = "") -> String {
                """
                {"startedDateTime": "2026-01-01T00:00:00Z", "time": 1,
                 "request": {"method": "\(method)", "url": "http://a.test\(path)", "headers": []},
                 "response": {"status": 200, "headers": [\(fields)], "content": \(content)}}
                """
            }
            let noStore = #"{"name": "Cache-Control", "value": "no-store"}"#
            let fresh = #"{"name": "Cache-Control", "value": "max-age=9"}"#
            let entries = [
                entry("GET", "/a", #"{"size": 3, "text": "abc"}"#, fresh), entry("GET", "/b", #"{"size": 3}"#, fresh),
                entry("GET", "/c", #"{"size": 3, "text": "abc"}"#, noStore), entry("POST", "/d", #"{"size": 0}"#),
                entry("GET", "/a", #"{"size": 3, "text": "abc"}"#, fresh),
            ]
            let text = #"{"log": {"version": "1.2", "entries": [\#(entries.joined(separator: ","))]}}"#
            let output = try await tool("import", "-", input: text)
            #expect(
                output.text == """
                    stored 1 response, 3 B; left out 2 that a cache must not store, 1 no newer than what is stored, 1 \
                    without a usable body

                    """)
        }

        @Test("What is no archive is one line and changes nothing", arguments: ["", "{", "[]", #"{"log": {}}"#])
        func damaged(text: String) async throws {
            try await tool("import", "-", input: text).expect(2, error: "is no HTTP Archive (HAR 1.2)")
            try await tool("import", "/nonexistent").expect(2, error: "/nonexistent: No such file")
            try await tool("export").expect(64, error: "--har")
        }
    }
}

import TestSupport

extension ToolTests {
    @Suite("put", .serialized)
    struct Put {
        let tool: Tool

        init() throws { tool = try Tool() }

        @Test("Prints digest, size and URL of the stored body")
        func acknowledgement() async throws {
            let file = try tool.file("body", Data("hello".utf8))
            let output = try await tool("put", "HTTP://Example.com:80/a#b", file)
            output.expect(0, error: nil)
            #expect(
                output.text == """
                    stored 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 5 http://example.com/a

                    """)
            #expect(try await tool.stored("http://example.com/a") == "hello")
        }

        @Test("- is the standard input, and an empty body is stored")
        func standardInput() async throws {
            let large = String(repeating: "0123456789abcdef", count: 50_000)
            let output = try await tool("put", "http://a.test/", "-", input: large)
            #expect(output.text.hasSuffix(" 800000 http://a.test/\n"))
            #expect(try await tool.stored("http://a.test/") == large)
            let empty = try await tool("put", "http://a.test/empty", "-", "--json")
            #expect(
                try empty.json([String: Printed].self) == [
                    "bytes": 0, "url": "http://a.test/empty",
                    "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                ])
            #expect(try await tool.stored("http://a.test/empty") == "")
        }

        @Test("A new process serves the bodies of three processes without a request", .requirement("A1"))
        func survival() async throws {
            let origin = try await LoopbackOrigin { _ in .status(.notFound) }
            let bodies = ["/a": "first", "/b?page=2": "second", "/c": ""]
            for (path, body) in bodies {
                let output = try await tool("put", origin.url(path), "-", "--max-age", "0", "--etag", "1", input: body)
                output.expect(0, error: nil)
            }
            for (path, body) in bodies {
                let output = try await tool("get", origin.url(path), "--policy", "cache-first", "-v")
                #expect(output.exitCode == 0)
                #expect(output.text == body)
                #expect(output.errorText.hasPrefix("source=disk status=200 bytes=\(body.utf8.count) "))
            }
            #expect(origin.requestCount == 0)
        }

        @Test("Validators and type are stored, and sent once the response is stale")
        func validators() async throws {
            let date = "Sun, 06 Nov 1994 08:49:37 GMT"
            let origin = try await LoopbackOrigin { request in
                .resource("hello".utf8, for: request, etag: "\"abc\"", cacheControl: "max-age=60")
            }
            _ = try await tool(
                "put", origin.url("/a"), "-", "--max-age", "0", "--etag", "abc", "--last-modified", date,
                "--content-type", "text/plain; charset=utf-8", input: "hello")
            let sql = "SELECT etag, last_modified, content_type FROM cache_entries"
            #expect(
                try tool.rows(sql) == [
                    ["etag": "\"abc\"", "last_modified": .text(date), "content_type": "text/plain; charset=utf-8"]
                ])
            let output = try await tool("get", origin.url("/a"), "-v")
            #expect(output.text == "hello")
            #expect(output.errorText.hasPrefix("source=notModified "))
            let request = try #require(origin.requests.first)
            #expect(request.fields[.ifNoneMatch] == "\"abc\"")
            #expect(request.fields[.ifModifiedSince] == date)
        }

        @Test(
            "--etag adds missing quotes",
            arguments: [("abc", "\"abc\""), ("\"abc\"", "\"abc\""), ("W/\"abc\"", "W/\"abc\""), ("", "\"\"")])
        func entityTag(given: String, stored: String) async throws {
            _ = try await tool("put", "http://a.test/", "-", "--etag", given)
            #expect(try tool.rows("SELECT etag FROM cache_entries") == [["etag": .text(stored)]])
        }

        @Test("A response is fresh for a year, or for --max-age")
        func lifetime() async throws {
            _ = try await tool("put", "http://a.test/1", "-")
            _ = try await tool("put", "http://a.test/2", "-", "--max-age", "3600")
            let sql = """
                SELECT round((julianday(expires_at) - julianday('now')) * 24) AS hours FROM cache_entries ORDER BY key
                """
            #expect(try tool.rows(sql) == [["hours": 8760], ["hours": 1]])
        }

        struct Wish: CustomTestStringConvertible {
            let options: [String]
            let row: [String: Printed]

            init(_ options: [String], _ lifetime: Printed, isPinned: Printed, tags: Printed) {
                self.options = options
                row = ["lifetime": lifetime, "is_pinned": isPinned, "tags": tags]
            }

            var testDescription: String { options.joined(separator: " ") }
        }

        @Test(
            "Tags, pins and sessions are stored; omitted options keep their values",
            arguments: [
                Wish([], "permanent", isPinned: 0, tags: nil), Wish(["--pin"], "permanent", isPinned: 1, tags: nil),
                Wish(["--tag", "b", "--tag", "a", "--tag", "b"], "permanent", isPinned: 0, tags: #"["a","b"]"#),
                Wish(["--tag", "it's \"", "--pin"], "permanent", isPinned: 1, tags: #"["it's \""]"#),
                Wish(["--session"], "session", isPinned: 0, tags: nil),
            ])
        func options(_ wish: Wish) async throws {
            // Opens the store like the owning app: otherwise a session would end with each command.
            let app = try ResponseStore(directory: URL(filePath: tool.store))
            defer { app.close() }
            for options in [wish.options, []] {
                try await tool.raw(["put", "http://a.test/", "/dev/null", "--store", tool.store] + options)
                    .expect(0, error: nil)
                #expect(try tool.rows("SELECT lifetime, is_pinned, tags FROM cache_entries") == [wish.row])
            }
        }

        @Test("A session response is removed by the next command if no other process has the store open")
        func session() async throws {
            try await tool("put", "http://a.test/", "-", "--session", input: "x").expect(0, error: nil)
            #expect(try await tool.stored("http://a.test/") == nil)
        }

        @Test("An unreadable file stores nothing")
        func unreadable() async throws {
            let missing = "\(tool.directory.path)/missing"
            try await tool("put", "http://a.test/", missing).expect(2, error: "\(missing): No such file")
            try await tool("put", "http://a.test/", tool.directory.path)
                .expect(2, error: "\(tool.directory.path): Is a directory")
            #expect(try tool.rows("SELECT * FROM cache_entries").isEmpty)
        }

        @Test(
            "Invalid usage stores nothing",
            arguments: [
                ["--max-age", "-1"], ["--max-age=-1"], ["--max-age", "soon"], ["--etag", "a\nb"],
                ["--last-modified", "yesterday"], ["--content-type", "a\u{1}"], ["--tag", ""],
                ["--tag", String(repeating: "x", count: 257)], (0...64).flatMap { ["--tag", "\($0)"] },
            ])
        func usage(options: [String]) async throws {
            let output = try await tool.raw(["put", "http://a.test/", "-", "--store", tool.store] + options)
            #expect(output.exitCode == 64)
            #expect(!FileManager.default.fileExists(atPath: tool.store))
        }
    }
}

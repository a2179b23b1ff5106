import TestSupport

private let unusableURLs: [String] = [
    "", "x", "example.com", "/path", "http:", "http://", "http:///path", "https://?q", "ftp://a.test/",
    "file:///etc/passwd", "data:,x", "http://a b/", "http://user:secret@a.test/", "http://a.test:99999/",
    "http://a.test:x/", "http://[::1/", "://a.test", "http://" + String(repeating: "a", count: 40_000),
]

/// Without `get`, which also loads without a store.
private let everyCommand: [[String]] = [
    ["put", "http://a.test/", "/dev/null"], ["list"], ["stats"],
    ["show", "http://a.test/"], ["show", "http://a.test/", "--body"], ["sql", "SELECT 1"], ["check"],
    ["evict", "--max-bytes", "1"], ["remove", "http://a.test/"], ["snapshot", "/tmp/cachestore-snapshot-of-nothing"],
    ["evict", "--unused-for", "1d", "--dry-run"], ["remove", "--all"], ["remove", "--tag", "x", "--dry-run"],
    ["prefetch", "/dev/null"], ["watch", "--count", "1"],
]

extension ToolTests {
    /// Every error is one line that names its cause, with exit code 2. It stores no partial body, and keeps earlier
    /// responses.
    @Suite("bad input", .serialized)
    struct BadInput {
        let tool: Tool

        init() throws {
            tool = try Tool()
            try tool.fill([("http://a.test/before", "before")])
        }

        private func expectUnharmed(sourceLocation: SourceLocation = #_sourceLocation) async throws {
            #expect(try await tool.stored("http://a.test/before") == "before", sourceLocation: sourceLocation)
            let check = try await tool("check", "--digests").text
            #expect(check == "1 file, sound\n", sourceLocation: sourceLocation)
            let rows = try tool.rows("SELECT entries FROM cache_stats")
            #expect(rows == [["entries": 1]], sourceLocation: sourceLocation)
        }

        @Test("Unusable URLs", arguments: unusableURLs)
        func urls(url: String) async throws {
            let output = try await tool("get", url)
            let shown = url.replacing("user:secret@", with: "")
            output.expect(64, error: "\(shown.prefix(40).debugDescription.dropLast())")
            #expect(output.errorText.contains("cannot be loaded: "))
            #expect(output.errorText.utf8.count < 500)
            #expect(output.standardOutput.isEmpty)
        }

        @Test(
            "Unusable URLs, for every command",
            arguments: [["put", "ftp://a/", "/dev/null"], ["show", ""], ["remove", "x"], ["explain", "x"]])
        func unusableURL(command: [String]) async throws {
            try await tool.raw(command + ["--store", tool.store]).expect(64, error: "cannot be loaded: ")
            try await expectUnharmed()
        }

        struct Misbehaviour: CustomTestStringConvertible {
            let testDescription: String
            let delivery: OriginReply.Delivery
            let words: String

            init(_ name: String, _ delivery: OriginReply.Delivery, _ words: String) {
                testDescription = name
                self.delivery = delivery
                self.words = words
            }
        }

        @Test(
            "An origin that breaks the protocol",
            arguments: [
                Misbehaviour("resets", .resetting(afterBytes: 100), ""),
                Misbehaviour("resets before it answers", .resetBeforeHead, ""),
                Misbehaviour("declares more than it sends", .declaring(length: 10_000), "the body is incomplete"),
                Misbehaviour("leaves the last chunk out", .abortedChunked(afterBytes: 100), "the body is incomplete"),
                Misbehaviour("stalls", .stalling(afterBytes: 100), "no answer in time"),
                Misbehaviour("speaks no HTTP", .garbage(Array("\0\u{1}nonsense\r\n\r\n".utf8)), ""),
            ])
        func origins(_ misbehaviour: Misbehaviour) async throws {
            let body = [UInt8](repeating: 1, count: 1000)
            let origin = try await LoopbackOrigin { _ in
                .ok(body, cacheControl: "max-age=60").delivered(misbehaviour.delivery)
            }
            // Long enough for a busy machine; only the stall waits for the timeout.
            let timeout = misbehaviour.words == "no answer in time" ? "1" : "60"
            let output = try await tool("get", origin.url("/a"), "--timeout", timeout)
            output.expect(2, error: "\(origin.url("/a")): \(misbehaviour.words)")
            #expect(output.standardOutput.isEmpty)
            #expect(try await tool.stored(origin.url("/a")) == nil)
            try await expectUnharmed()
        }

        @Test("A refused connection, and an unknown host")
        func unreachable() async throws {
            let port = ClosedPort()
            try await tool("get", port.url("/")).expect(2, error: "\(port.url("/")): no connection: Connection refused")
            try await tool("get", "http://nowhere.invalid/").expect(
                2, error: "http://nowhere.invalid/: no connection: there is no host nowhere.invalid")
            try await expectUnharmed()
        }

        @Test("A failed replacement keeps the old body")
        func failedReplacement() async throws {
            let origin = try await LoopbackOrigin { request in
                let reply = OriginReply.ok("body \(request.serial)".utf8, cacheControl: "max-age=60")
                return request.serial == 1 ? reply : reply.delivered(.declaring(length: 1000))
            }
            #expect(try await tool("get", origin.url("/")).text == "body 1")
            try await tool("get", origin.url("/"), "--policy", "remote-only").expect(2, error: "the body is incomplete")
            #expect(try await tool.stored(origin.url("/")) == "body 1")
        }

        @Test("A file in place of the directory", arguments: everyCommand)
        func fileAsDirectory(command: [String]) async throws {
            let file = try tool.file("file", Data("mine".utf8))
            for path in [file, "\(file)/below"] {
                let output = try await tool.raw(command + ["--store", path])
                output.expect(2, error: "cannot use \(file)")
            }
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
        }

        @Test("The database of another program is named, and stays unchanged", arguments: everyCommand)
        func foreignIndex(command: [String]) async throws {
            let directory = tool.directory.url.appending(path: "other")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let index = directory.appending(path: "index.sqlite")
            let path = directory.resolvingSymlinksInPath().path(percentEncoded: false) + "/index.sqlite"
            let other = try Connection(path: path, role: .writer, busyTimeout: .seconds(1), creates: true)
            try other.execute("CREATE TABLE mine (x)")
            let foreign = try Data(contentsOf: index)
            let output = try await tool.raw(command + ["--store", directory.path(percentEncoded: false)])
            output.expect(2, error: "\(index.path(percentEncoded: false)) cannot be used as the index of a store")
            #expect(try Data(contentsOf: index) == foreign)
        }

        #if os(Linux)
        @Test("A path where no directory can be created")
        func unwritable() async throws {
            let output = try await tool.raw(["put", "http://a.test/", "/dev/null", "--store", "/proc/cachestore"])
            output.expect(2, error: "cannot use /proc/cachestore as a store: ")
        }
        #endif

        @Test("A store that cannot be opened fails no load: get warns, and stores nothing")
        func loadsWithoutStore() async throws {
            let origin = try await LoopbackOrigin { _ in .ok("body".utf8, cacheControl: "max-age=60") }
            let file = try tool.file("file", Data("mine".utf8))
            let long = tool.directory.url.path(percentEncoded: false) + String(repeating: "/long", count: 100)
            let temporary = tool.directory.url.appending(path: "temporary")
            try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
            var environment = ProcessInfo.processInfo.environment
            environment["TMPDIR"] = temporary.path(percentEncoded: false)
            for (path, reason) in [
                (file, "there is a file of that name"), ("\(file)/below", "there is a file of that name"),
                (long, "and SQLite takes at most"),
            ] {
                for urls in [[origin.url("/")], [origin.url("/1"), origin.url("/2")]] {
                    let output = try await tool.raw(["get"] + urls + ["--store", path], environment: environment)
                    output.expect(0, error: reason)
                    #expect(output.text == String(repeating: "body", count: urls.count))
                    #expect(output.errorText.hasPrefix("cachestore: warning: cannot use "))
                    #expect(output.errorText.hasSuffix("; nothing is stored\n"))
                }
                let absent = try await tool.raw(
                    ["get", origin.url("/"), "--policy", "cache-only", "--store", path], environment: environment)
                #expect(absent.exitCode == 1)
                try await tool.raw(["put", "http://a.test/", file, "--store", path]).expect(2, error: reason)
            }
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
            let left = try FileManager.default.contentsOfDirectory(atPath: temporary.path(percentEncoded: false))
            #expect(left.isEmpty, "the empty store is removed")
        }
    }
}

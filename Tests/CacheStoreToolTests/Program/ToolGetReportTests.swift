import TestSupport

private struct Report: Decodable {
    struct Seconds: Decodable {
        var total: Double
        var head: Double?
        var body: Double?
    }

    var url: String
    var error: String?
    var response_url: String?
    var status: Int?
    var source: String?
    var stale: Bool?
    var age: Int?
    var expires: String?
    var cache_status: String?
    var fields: [String]?
    var bytes: Int?
    var sha256: String?
    var body_file: String?
    var seconds: Seconds?
}

extension ToolTests {
    /// `get --json`, and the marks of `get -v`.
    @Suite("get, reported", .serialized)
    struct GetReport {
        let tool: Tool
        let origin: LoopbackOrigin

        init() async throws {
            tool = try Tool()
            origin = try await LoopbackOrigin { request in
                switch request.path {
                case "/fresh": .ok("hello".utf8, cacheControl: "max-age=3600")
                case "/unstored": .ok("hello".utf8, cacheControl: "no-store")
                case "/failing" where request.serial > 1: .status(.serviceUnavailable)
                case "/failing": .ok("hello".utf8, cacheControl: "max-age=0")
                default: .status(.notFound)
                }
            }
        }

        @Test("--json: the source of a response, its duration, and the file with the body")
        func json() async throws {
            let url = origin.url("/fresh")
            let first = try #require(try await tool("get", url, "--json").json([Report].self).first)
            #expect(first.url == url)
            #expect(first.response_url == url)
            #expect(first.status == 200)
            #expect(first.error == nil)
            #expect(first.source == "network")
            #expect(first.stale == false)
            #expect(first.bytes == 5)
            #expect(
                first.cache_status?.hasPrefix("CacheStore;fwd=uri-miss;fwd-status=200;ttl=3") == true,
                "\(first.cache_status ?? "")"
            )
            #expect(first.fields?.contains("Cache-Control: max-age=3600") == true)
            let seconds = try #require(first.seconds)
            #expect(seconds.total >= seconds.head ?? .infinity)
            #expect((seconds.body ?? -1) >= 0)
            let file = try #require(first.body_file)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "hello")
            #expect(file.hasPrefix(tool.store))

            let second = try #require(try await tool("get", url, "--json").json([Report].self).first)
            #expect(second.source == "disk")
            #expect(second.seconds?.head == nil)
            #expect(second.body_file == file)
            #expect(second.cache_status?.hasPrefix("CacheStore;hit;ttl=3") == true, "\(second.cache_status ?? "")")
            #expect(second.sha256 == first.sha256)
            #expect(second.expires == first.expires)
        }

        @Test("--json: the body goes to the file of -o, otherwise only to the store")
        func file() async throws {
            let file = "\(tool.directory.path)/out"
            let report = try await tool("get", origin.url("/unstored"), "--json", "-o", file).json([Report].self)
            #expect(report.first?.body_file == file)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "hello")
            let unstored = try await tool("get", origin.url("/unstored"), "--json").json([Report].self)
            #expect(unstored.first?.bytes == 5)
            #expect(unstored.first?.body_file == nil)
        }

        @Test("--jsonl: a line for each URL in order, also for a failure; the worst result sets the exit code")
        func several() async throws {
            let urls = [origin.url("/fresh"), origin.url("/nothing"), "http://127.0.0.1:9/", origin.url("/unstored")]
            let output = try await tool.raw(["get", "--jsonl", "--store", tool.store] + urls)
            output.expect(2, error: nil)
            let reports = try output.lines.map { try JSONDecoder().decode(Report.self, from: Data($0.utf8)) }
            #expect(reports.map(\.url) == urls)
            #expect(reports.map { $0.error == nil } == [true, false, false, true])
            #expect(reports[1].error == "\(urls[1]): the origin answered with status 404")
            #expect(reports[2].error?.hasPrefix("http://127.0.0.1:9/: ") == true, "\(reports[2].error ?? "")")
            #expect(reports[2].status == nil)
        }

        @Test("stats: negative counts of a damaged index count as zero")
        func negativeCounts() async throws {
            _ = try await tool("get", origin.url("/fresh"))
            let index = try Connection(path: tool.store + "/index.sqlite", role: .writer, busyTimeout: .seconds(5))
            try index.execute("UPDATE request SET hit_count = 1 << 62, miss_count = -(1 << 62) + 8")
            let output = try await tool("stats")
            output.expect(0, error: nil)
            #expect(output.text.contains("hit ratio                100.0%"), "\(output.text)")
        }

        @Test("Marks a stale response, and the error that it hides")
        func marks() async throws {
            let url = origin.url("/failing")
            let fresh = try await tool("get", url, "-v")
            #expect(!fresh.errorText.contains("stale="))
            #expect(!fresh.errorText.contains("error="))
            let stale = try await tool("get", url, "-v")
            #expect(stale.text == "hello")
            #expect(stale.exitCode == 0)
            let mark = " stale=yes error=\"\(url): the origin answered with status 503\" url=\(url)\n"
            #expect(stale.errorText.hasSuffix(mark), "\(stale.errorText)")
            let report = try await tool("get", url, "--json").json([Report].self)
            #expect(report.first?.stale == true)
            #expect(report.first?.error == "\(url): the origin answered with status 503")
        }
    }
}

import TestSupport

extension ToolTests {
    @Suite("stats", .serialized)
    struct StatsOutput {
        let tool: Tool

        init() throws { tool = try Tool() }

        /// Stores bodies as if they had been stored `age` seconds ago.
        private func fill(_ bodies: [(url: String, type: String?, byteCount: Int, age: Double)]) throws {
            let clock = ManualClock()
            var configuration = ResponseStore.Configuration()
            configuration.clock = clock.date
            let store = try ResponseStore(directory: URL(filePath: tool.store), configuration: configuration)
            defer { store.close() }
            for (number, body) in bodies.enumerated() {
                clock.set(Date() - body.age)
                let metadata = EntryMetadata(contentType: body.type, requestedAt: clock.now, receivedAt: clock.now)
                let bytes = Data(repeating: UInt8(truncatingIfNeeded: number), count: body.byteCount)
                try store.insert(bytes, metadata: metadata, for: CacheKey(url: body.url))
            }
        }

        private let hour = 3600.0
        private let day = 86_400.0

        private func fillWithFour() throws {
            try fill([
                ("http://b.test/1", "text/html; charset=utf-8", 6_000, 0),
                ("http://b.test/2", "TEXT/HTML", 1_500, 2 * hour),
                ("http://a.test/1", "image/png", 2_490, 40 * day),
                ("http://c.test/1", nil, 10, 20 * day),
            ])
        }

        @Test("The totals, then the bytes by group")
        func text() async throws {
            try fillWithFour()
            let output = try await tool("stats")
            output.expect(0, error: nil)
            #expect(
                output.text == """
                    entries             4
                    files               4
                    logical bytes       10.0 kB
                    physical bytes      10.0 kB
                    answers from store  0
                    failing keys        0
                    damaged bodies      0
                    derived bodies      0
                    derived bytes       0 B
                    eviction policy     least-recently-used

                    host           share  entries     bytes
                    ------------  ------  -------  --------  --------------------
                    b.test         75.0%        2    7.5 kB  ####################
                    a.test         24.9%        1    2.5 kB  #######
                    c.test          0.1%        1      10 B  #

                    content type   share  entries     bytes
                    ------------  ------  -------  --------  --------------------
                    text/html      75.0%        2    7.5 kB  ####################
                    image/png      24.9%        1    2.5 kB  #######
                    (none)          0.1%        1      10 B  #

                    last use       share  entries     bytes
                    ------------  ------  -------  --------  --------------------
                    < 1 hour       60.0%        1    6.0 kB  ####################
                    < 1 day        15.0%        1    1.5 kB  #####
                    < 1 week        0.0%        0       0 B
                    < 30 days       0.1%        1      10 B  #
                    older          24.9%        1    2.5 kB  ########

                    """)
        }

        private struct Report: Decodable, Equatable {
            var entries: Int
            var files: Int
            var logical_bytes: Int
            var physical_bytes: Int
            var hits: Int
            var failing_keys: Int
            var by_host: [Share]
            var by_content_type: [Share]
            var by_last_use: [Share]
        }

        private struct Share: Decodable, Equatable {
            var name: String?
            var groups: Int
            var entries: Int
            var bytes: Int
            var share: Double

            init(_ name: String?, groups: Int = 1, _ entries: Int, _ bytes: Int, _ share: Double) {
                (self.name, self.groups, self.entries, self.bytes, self.share) = (name, groups, entries, bytes, share)
            }
        }

        @Test("--json: the same numbers")
        func json() async throws {
            try fillWithFour()
            let output = try await tool("stats", "--json")
            let ages = [
                Share("< 1 hour", 1, 6_000, 0.6), Share("< 1 day", 1, 1_500, 0.15), Share("< 1 week", 0, 0, 0),
                Share("< 30 days", 1, 10, 0.001), Share("older", 1, 2_490, 0.249),
            ]
            let expected = Report(
                entries: 4, files: 4, logical_bytes: 10_000, physical_bytes: 10_000, hits: 0,
                failing_keys: 0,
                by_host: [
                    Share("b.test", 2, 7_500, 0.75), Share("a.test", 1, 2_490, 0.249), Share("c.test", 1, 10, 0.001),
                ],
                by_content_type: [
                    Share("text/html", 2, 7_500, 0.75), Share("image/png", 1, 2_490, 0.249), Share("", 1, 10, 0.001),
                ],
                by_last_use: ages)
            #expect(try output.json(Report.self) == expected)
        }

        @Test("The answers by kind, and the hit ratio")
        func answers() async throws {
            let origin = try await LoopbackOrigin { request in
                request.path == "/fresh"
                    ? .ok("hello".utf8, cacheControl: "max-age=3600")
                    : .resource("hello".utf8, for: request, etag: "\"1\"", cacheControl: "max-age=0")
            }
            for path in ["/fresh", "/fresh", "/fresh", "/fresh", "/stale", "/stale", "/fresh", "/fresh"] {
                _ = try await tool("get", origin.url(path))
            }
            let text = try await tool("stats").text
            #expect(
                text.contains(
                    """

                    answer                    share  requests
                    -----------------------  ------  --------  -------------
                    fresh, from the store     62.5%         5  #############
                    stale, from the store      0.0%         0
                    confirmed by the origin   12.5%         1  ###
                    from the origin           25.0%         2  #####
                    no answer, or a 5xx        0.0%         0
                    hit ratio                 62.5%            fresh and stale, of all requests

                    """), "\(text)")
            struct Answers: Decodable, Equatable {
                var requests: Int, hits: Int, stale: Int, revalidated: Int, misses: Int, errors: Int, hit_ratio: Double
            }
            struct Report: Decodable { var answers: Answers }
            #expect(
                try await tool("stats", "--json").json(Report.self).answers
                    == Answers(requests: 8, hits: 5, stale: 0, revalidated: 1, misses: 2, errors: 0, hit_ratio: 0.625))
        }

        @Test("An access makes an entry recent, however old it is")
        func lastUse() async throws {
            try fill([("http://a.test/", nil, 10, 40 * day)])
            #expect(try await tool("stats").lines.last?.hasPrefix("older         100.0%        1") == true)
            #expect(try await tool.stored("http://a.test/") != nil)
            #expect(try await tool("stats").lines.contains { $0.hasPrefix("< 1 hour      100.0%        1") })
        }

        @Test("Lists the ten largest groups; the rest are one group")
        func others() async throws {
            try fill((0..<13).map { ("http://h\($0).test/", "x/t\($0)", 100 + $0, 0) })
            let result = try await tool("stats", "--json").json(Report.self)
            for shares in [result.by_host, result.by_content_type] {
                #expect(shares.count == 11)
                #expect(shares.last == Share(nil, groups: 3, 3, 303, 303.0 / 1378))
            }
            let lines = try await tool("stats").lines
            #expect(lines.count { $0.hasPrefix("(3 others)     22.0%        3     303 B  ####################") } == 2)
            #expect(lines.contains { $0.hasPrefix("h12.test ") })
            #expect(!lines.contains { $0.hasPrefix("h2.test ") })
        }

        @Test(
            "An origin's content type takes one line of 80 columns, with control characters escaped",
            arguments: [
                ("a/\u{1B}[2Jb", #"a/\u{1b}[2jb "#), ("a/b\tc\u{7F}", #"a/b\tc\u{7f} "#), ("(none)", "(none) "),
                (String(repeating: "x", count: 5_000), "xxxxxxxxxxxxxxxxxxxxxxxxxxx… "),
                (String(repeating: "字", count: 5_000), "字字字字字字字字字字字字字… "), ("'; DROP TABLE entry; --", "' "),
                (";", "(none) "), (" ; a=b", "(none) "),
            ])
        func hostile(type: String, label: String) async throws {
            try fill([("http://a.test/", type, 10, 0)])
            let output = try await tool("stats")
            output.expect(0, error: nil)
            let lines = output.lines
            #expect(lines.contains { $0.hasPrefix(label) }, "\(output.text)")
            // The totals, then three tables of one, one and five rows, each after an empty line.
            #expect(lines.count == 26)
            let widths = lines.map { line in line.unicodeScalars.map { $0.isASCII ? 1 : 2 }.reduce(0, +) }
            #expect(widths.allSatisfy { $0 <= 80 })
        }

        @Test("An empty store has no chart, and one with empty bodies has no bars")
        func empty() async throws {
            try fill([])
            #expect(try await tool("stats").lines.count == 10)
            let result = try await tool("stats", "--json").json(Report.self)
            #expect(result.by_host.isEmpty)
            #expect(result.by_content_type.isEmpty)
            #expect(result.by_last_use.isEmpty)
            try fill([("http://a.test/", nil, 0, 0)])
            let text = try await tool("stats").text
            #expect(text.contains("\na.test          0.0%        1       0 B\n"))
            #expect(!text.contains("#"))
        }
    }
}

import TestSupport

@Suite("Recording of requests", .timeLimit(.minutes(5))) struct RequestRecordingTests {
    /// A fixture whose store records requests.
    private func fixture(_ transport: any HTTPTransport) throws -> LoaderFixture {
        let fixture = try LoaderFixture(transport: transport)
        try fixture.store.startRecordingRequests(capacity: 100)
        return fixture
    }

    /// Waits for `count` records, and returns each as `outcome method path status disk+network of length`.
    private func lines(_ fixture: LoaderFixture, _ count: Int) async throws -> [String] {
        var records: [RequestRecord] = []
        let end = ContinuousClock.now + .seconds(60)
        // A response with unread bytes is recorded at its release.
        while records.count < count {
            guard ContinuousClock.now < end else { throw NeverHappened() }
            await Task.yield()
            fixture.store.requests.flush()
            records = try fixture.store.requestRecords().records
        }
        return records.map { record in
            let path = record.url.replacing("https://example.com", with: "")
            let (status, length) = (
                record.status.map { "\($0)" } ?? "-", record.contentByteCount.map { "\($0)" } ?? "-"
            )
            let bytes = "\(record.diskByteCount)+\(record.networkByteCount) of \(length)"
            return "\(record.outcome) \(record.method) \(path) \(status) \(bytes)"
                + (record.isBackground ? " again" : "")
        }
    }

    @Test("Records a QUERY with its method")
    func query() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60", .contentLength: "4"]
        let fixture = try fixture(ScriptedTransport(.reply(200, fields, "rows")))
        let request = HTTPRequest.to("/a", method: .query, [.contentType: "application/sql"])
        for _ in 0..<2 { _ = try await fixture.cache.response(for: request).text }
        #expect(try await lines(fixture, 2) == ["miss QUERY /a 200 0+4 of 4", "hit QUERY /a 200 4+0 of 4"])
    }

    @Test("Records each request of a cache with its outcome, its status and its bytes")
    func cache() async throws {
        let isBroken = FirstTime()
        let transport = ScriptedTransport { (request, _) throws(TransportError) in
            switch request.path {
            case "/a?q=1":
                if request.headerFields[.ifNoneMatch] != nil, isBroken.isFirst() { return .reply(304, [:]) }
                if request.headerFields[.ifNoneMatch] != nil { throw TransportError(.cannotConnect) }
                return .reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\"", .contentLength: "10"], "0123456789")
            case "/lost": throw TransportError(.timedOut)
            default: return .reply(500, [:], "oops!")
            }
        }
        let fixture = try fixture(transport)
        let cache = fixture.cache
        #expect(try await cache.response(for: .to("/a?q=1")).text == "0123456789")
        _ = try await cache.response(for: .to("/a?q=1", [.range: "bytes=2-4"])).text
        var head = HTTPRequest.to("/a?q=1")
        head.method = .head
        _ = try await cache.response(for: head).text
        _ = try await cache.response(for: .to("/a?q=1", [.ifNoneMatch: "\"1\""])).text
        for try await _ in try #require(try cache.storedResponse(for: .to("/a?q=1"))).body {}
        fixture.clock.advance(by: 100)
        #expect(try await cache.response(for: .to("/a?q=1")).source == .notModified)
        _ = try await lines(fixture, 6)
        fixture.clock.advance(by: 100)
        #expect(try await cache.response(for: .to("/a?q=1")).text == "0123456789")
        _ = try await cache.response(for: .to("/b")).text
        _ = try await cache.response(for: .to("/lost")).text
        _ = try await lines(fixture, 9)
        _ = try await cache.response(for: .to("/none", [.cacheControl: "only-if-cached"])).text
        _ = try await lines(fixture, 10)
        // None of these calls is an answered request.
        #expect(try cache.storedResponse(for: .to("/none")) == nil)
        _ = try cache.explanation(of: .to("/a?q=1"))
        let expected = [
            "miss GET /a?q=1 200 0+10 of 10", "hit GET /a?q=1 206 3+0 of 3", "hit HEAD /a?q=1 200 0+0 of 0",
            "hit GET /a?q=1 304 0+0 of 0", "hit GET /a?q=1 200 10+0 of 10", "revalidated GET /a?q=1 200 0+0 of 10",
            "stale GET /a?q=1 200 10+0 of 10", "error GET /b 500 0+5 of -", "error GET /lost 504 0+0 of -",
            "error GET /none 504 0+0 of -",
        ]
        #expect(try await lines(fixture, 10) == expected)
        let records = try fixture.store.requestRecords().records
        #expect(records[0].keyChecksum == records[6].keyChecksum)
        #expect(records[0].keyChecksum != records[7].keyChecksum)
        #expect(records.allSatisfy { $0.processID == getpid() && $0.host == "example.com" })
        #expect(records[6].startedAt.timeIntervalSince(records[5].startedAt) == 100)
    }

    struct Reply: CustomTestStringConvertible {
        var status: HTTPResponse.Status = 200
        var fields: HTTPFields = [:]
        var request: HTTPFields = [:]
        var isShared = false
        /// The action, the section and the field.
        let expected: String
        var testDescription: String { expected }
    }

    @Test(
        "Records why a request was forwarded, and the rule and the field that decided about the reply",
        arguments: [
            Reply(fields: [.cacheControl: "max-age=60"], expected: "stored RFC 9111 §3 Cache-Control"),
            Reply(fields: [.expires: "0"], expected: "stored RFC 9111 §3 Expires"),
            Reply(expected: "stored RFC 9111 §3 -"),
            Reply(fields: [.cacheControl: "no-store"], expected: "relayed RFC 9111 §3 Cache-Control"),
            Reply(fields: [.cacheControl: "private"], isShared: true, expected: "relayed RFC 9111 §3 Cache-Control"),
            Reply(
                fields: [.cacheControl: "max-age=60"], request: [.authorization: "x"], isShared: true,
                expected: "relayed RFC 9111 §3 Authorization of the request"),
            Reply(
                request: [.cacheControl: "no-store"],
                expected: "relayed RFC 9111 §5.2.1.5 Cache-Control of the request"),
            Reply(fields: [.cacheControl: "max-age=60", .vary: "*"], expected: "relayed RFC 9111 §4.1 Vary"),
            Reply(status: 302, expected: "relayed RFC 9111 §3 -"),
            Reply(status: 412, expected: "relayed RFC 9110 §15.5.13 -"),
        ])
    func decisions(_ reply: Reply) async throws {
        let (status, fields) = (reply.status, reply.fields)
        let fixture = try LoaderFixture(
            transport: ScriptedTransport { _, _ in .reply(status, fields, "body") },
            policy: CachePolicy(isShared: reply.isShared))
        try fixture.store.startRecordingRequests(capacity: 100)
        _ = try await fixture.cache.response(for: .to("/a", reply.request)).text
        _ = try await lines(fixture, 1)
        let record = try #require(try fixture.store.requestRecords().records.first)
        #expect(record.forwardReason == .uriMiss)
        let decision = try #require(record.replyDecision)
        #expect("\(decision.action) \(decision.rule.section) \(decision.field ?? "-")" == reply.expected)
    }

    @Test("Records a validation with its reason, and nothing for a hit")
    func validation() async throws {
        let fixture = try fixture(
            ScriptedTransport { (request, _) in
                request.headerFields[.ifNoneMatch] == nil
                    ? .reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\""], "body") : .reply(304, [:])
            })
        for seconds in [0, 1, 100] {
            fixture.clock.advance(by: Double(seconds))
            _ = try await fixture.cache.response(for: .to("/a")).text
        }
        _ = try await lines(fixture, 3)
        let records = try fixture.store.requestRecords().records
        #expect(records.map(\.forwardReason) == [.uriMiss, nil, .stale])
        #expect(records.map { $0.replyDecision?.action } == [.stored, nil, .freshened])
    }

    @Test("Records neither user nor password of a URL, and no field")
    func credentials() async throws {
        let fixture = try fixture(ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "x") })
        let fields: HTTPFields = [.authorization: "Bearer secret-token", .cookie: "session=secret-cookie"]
        _ = try? await fixture.loader.load(ResourceRequest("https://user:secret-password@example.com/a"))
        _ = try await fixture.loader.load(ResourceRequest("https://example.com/b#secret-part", headerFields: fields))
        fixture.store.requests.flush()
        let bytes = try Data(contentsOf: fixture.directory.url.appending(path: "requests"))
        #expect(bytes.range(of: Data("example.com/b".utf8)) != nil)
        #expect(bytes.range(of: Data("secret".utf8)) == nil)
    }

    @Test("Times follow the cache's clock: to the head, and to the end of the body")
    func times() async throws {
        let clock = ManualClock()
        let (headGate, bodyGate) = (Gate(), Gate())
        let transport = ScriptedTransport { _, _ in
            await headGate.wait()
            let chunks = FirstTime()
            return TransportResponse(
                head: HTTPResponse(status: .ok),
                body: TransportBody { () async throws(TransportError) in
                    await bodyGate.wait()
                    return chunks.isFirst() ? Data("x".utf8) : nil
                })
        }
        let store = try ResponseStore(directory: TemporaryDirectory().url)
        try store.startRecordingRequests()
        var configuration = HTTPCache.Configuration()
        configuration.clock = clock.date
        let cache = HTTPCache(store: store, transport: transport, configuration: configuration)
        let task = Task { try await cache.response(for: .to("/a")) }
        await eventually { transport.requestCount != 0 }
        clock.advance(by: 2)
        headGate.open()
        let response = try await task.value
        clock.advance(by: 3)
        bodyGate.open()
        _ = try await response.data()
        store.requests.flush()
        let record = try #require(try store.requestRecords().records.first)
        #expect(record.latency == .seconds(2))
        #expect(record.duration == .seconds(5))
        withExtendedLifetime(response) {}
    }

    @Test("Requests that share a response are one miss; the rest are coalesced")
    func coalesced() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "max-age=60"], "body"))
        let fixture = try fixture(transport)
        let loads = (0..<3).map { _ in Task { try await fixture.cache.response(for: .to("/a")) } }
        await eventually { fixture.cache.counters.requests >= 3 && transport.requestCount > 0 }
        gate.open()
        var responses: [CachedResponse] = []
        for load in loads { responses.append(try await load.value) }
        for response in responses { #expect(try await response.text == "body") }
        let lines = try await lines(fixture, 3).sorted()
        #expect(lines.filter { $0 == "miss GET /a 200 0+4 of -" }.count == 1)
        #expect(lines.filter { $0.hasPrefix("coalesced GET /a 200 0+0") || $0.hasPrefix("hit") }.count == 2, "\(lines)")
    }

    @Test("A loader records each redirect step, and marks a background validation")
    func loader() async throws {
        let transport = ScriptedTransport { request, _ in
            switch request.path {
            case "/moved": .reply(301, [.location: "/a", .cacheControl: "max-age=600"])
            default:
                .reply(200, [.cacheControl: "max-age=60, stale-while-revalidate=600", .eTag: "\"1\""], "body")
            }
        }
        let fixture = try fixture(transport)
        let moved = ResourceRequest("https://example.com/moved", usesMemory: false)
        _ = try await fixture.loader.load(moved)
        var expected = ["miss GET /moved 301 0+0 of -", "miss GET /a 200 0+4 of -"]
        #expect(Set(try await lines(fixture, 2)) == Set(expected))
        _ = try await fixture.loader.load(moved)
        expected += ["hit GET /moved 301 0+0 of -", "hit GET /a 200 4+0 of 4"]
        #expect(Set(try await lines(fixture, 4)) == Set(expected))
        fixture.clock.advance(by: 100)
        _ = try await fixture.loader.load(moved)
        let lines = try await lines(fixture, 7)
        expected += ["hit GET /moved 301 0+0 of -", "stale GET /a 200 4+0 of 4", "miss GET /a 200 0+4 of - again"]
        #expect(lines.sorted() == expected.sorted())
    }

    @Test("Records a value from the store without suspension, but not a value from memory")
    func cachedValue() async throws {
        let fixture = try LoaderFixture(
            transport: ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "body") }
        ) { $0.memoryLimit = 1 << 20 }
        try fixture.store.startRecordingRequests()
        _ = try await fixture.loader.load(ResourceRequest("https://example.com/a", usesMemory: false))
        let question = try fixture.loader.cachedValue(for: "https://example.com/none")
        #expect(question == nil)
        for _ in 0..<2 {
            let value = try fixture.loader.cachedValue(for: "https://example.com/a")
            #expect(value != nil)
        }
        #expect(try await lines(fixture, 2) == ["miss GET /a 200 0+4 of -", "hit GET /a 200 4+0 of 4"])
    }

    @Test("The loaders of two processes record into one file once one process switches it on")
    func processes() async throws {
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
        let directory = try TemporaryDirectory()
        let store = try ResponseStore(directory: directory.url)
        try store.startRecordingRequests()
        let program = try ProcessRunner.builtProduct(named: "PrefetchScenario")
        let outputs = try await withThrowingTaskGroup(of: ProcessRunner.Output.self) { group in
            for role in ["first", "second"] {
                group.addTask {
                    try await ProcessRunner.run(program, [directory.path, origin.baseURL, role, "20", "2", "forwards"])
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for output in outputs { #expect(output.exitCode == 0, "\(output.errorText)") }
        let records = try store.requestRecords()
        #expect(records.lost == 0)
        // The greeting of each process, and 20 URLs, of which each process loads a share. A prefetch looks into the
        // store first, which is not a request.
        #expect(records.records.count >= 22)
        #expect(Set(records.records.map(\.processID)).count == 2)
        #expect(Set(records.records.map(\.outcome)).contains(.miss))
    }
}

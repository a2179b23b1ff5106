import CacheTier
import TestSupport

@Suite("Real engines") struct EngineTests {
    private func shareBodies(_ engine: any TierEngine, hasConditions: Bool) async throws {
        let bodies = ["/small": Data.noise(1000, seed: 1), "/large": Data.noise(1_000_000, seed: 2), "/empty": Data()]
        let groups = try #require(HTTPField.Name("Cache-Groups"))
        let origin = try await LoopbackOrigin { request in
            var reply = OriginReply.ok(bodies[request.path] ?? Data(), cacheControl: "max-age=600")
            reply.fields[groups] = "\"all\""
            return reply
        }
        let (first, second) = (try Machine(engine), try Machine(engine))
        let check = try await first.tier.check()
        #expect(check.hasConditionalWrites == hasConditions)
        #expect(check.reads.count == 6)
        for machine in [first, second] {
            for (path, body) in bodies { #expect(try await machine.get(origin.url(path)).body == body) }
        }
        #expect(origin.requestCount == 3)
        #expect(second.tier.statistics.hits == 3)
        for (number, scope) in [TierScope.partition, .tag("all", origin: origin.url("/"))].enumerated() {
            try await first.tier.removeAll(in: scope)
            // Times have whole seconds, so the first responses after a removal may count as older.
            var requestCount = 0
            for _ in 0..<30 where origin.requestCount > requestCount {
                requestCount = origin.requestCount
                try await Machine(engine).get(origin.url("/small"))
                if origin.requestCount > requestCount { try await Task.sleep(for: .milliseconds(300)) }
            }
            #expect(requestCount > 3 + number)
        }
    }

    @Test(
        "nginx with DAV works as an engine", .requirement("T1", "T8"), .enabled(if: EngineProcess.hasNginx),
        .timeLimit(.minutes(5)))
    func nginx() async throws {
        let process = try await EngineProcess.nginx()
        try await shareBodies(PlainEngine(process.url, transport: DefaultTransport()), hasConditions: false)
    }

    @Test(
        "moto's object store works as an engine", .requirement("T1", "T3"), .enabled(if: EngineProcess.hasMoto),
        .timeLimit(.minutes(5)))
    func s3() async throws {
        let process = try await EngineProcess.s3()
        try await shareBodies(
            S3Engine(
                process.url, region: "us-east-1",
                credentials: { S3Credentials(accessKeyID: "id", secretAccessKey: "secret", sessionToken: "token") },
                transport: DefaultTransport()), hasConditions: true)
    }

    @Test(
        "an engine that does not know the condition of a write gets the write without it, then no more conditions",
        .requirement("T3"), arguments: [405, 501], [true, false])
    func unknownCondition(status: Int, isS3: Bool) async throws {
        let transport = ScriptedTransport { request, _ in
            .reply(request.headerFields[.ifNoneMatch] == nil ? 201 : .init(code: status))
        }
        let engine: any TierEngine =
            isS3
            ? try S3Engine(
                "https://bucket.example", region: "r", credentials: { .init(accessKeyID: "i", secretAccessKey: "s") },
                transport: transport)
            : try PlainEngine("https://bucket.example/", conditionalWrites: true, transport: transport)
        #expect(engine.hasConditionalWrites)
        #expect(try await engine.put(Data("a".utf8), as: "a", onlyIfAbsent: true))
        #expect(!engine.hasConditionalWrites)
        #expect(try await engine.put(Data("b".utf8), as: "b", onlyIfAbsent: true))
        #expect(transport.requests.map { $0.headerFields[HTTPField.Name.ifNoneMatch] } == ["*", nil, nil])
    }

    @Test("an engine that refuses every write is asked with the condition again", .requirement("T3"))
    func refusedWrites() async throws {
        let engine = try PlainEngine(
            "https://bucket.example/", conditionalWrites: true, transport: ScriptedTransport { _, _ in .reply(405) })
        await #expect(throws: TierEngineError.self) { try await engine.put(Data(), as: "a", onlyIfAbsent: true) }
        #expect(engine.hasConditionalWrites)
    }

    @Test(
        "a killed or stopped engine fails no load, and is used again once it answers", .requirement("T6"),
        .enabled(if: EngineProcess.hasNginx), .timeLimit(.minutes(5)))
    func stopped() async throws {
        let process = try await EngineProcess.nginx()
        let engine = try PlainEngine(process.url, transport: DefaultTransport())
        let body = Data.noise(6_000_000, seed: 3)
        let origin = try await LoopbackOrigin { request in
            .ok(request.path == "/large" ? body : Data(request.path.utf8), cacheControl: "max-age=600")
        }
        try await Machine(engine).get(origin.url("/large"))
        let machine = try Machine(engine) {
            $0.deadline = .milliseconds(500)
            $0.bodyDeadline = .milliseconds(500)
        }
        func load(_ path: String, _ change: () throws -> Void = {}) async throws -> Data {
            let response = try await machine.cache.response(
                for: HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: path))
            try change()
            return try await response.data()
        }
        // Stops the engine during a body, and before heads.
        #expect(try await load("/large") { try process.signal(SIGSTOP) } == body)
        for number in 0..<4 { #expect(try await load("/stopped\(number)") == Data("/stopped\(number)".utf8)) }
        #expect(machine.tier.statistics.timeouts > 0)
        try process.signal(SIGCONT)
        await machine.tier.waitForWrites()
        let other = try Machine(engine)
        #expect(try await other.get(origin.url("/large")).body == body)
        #expect(other.tier.statistics.hits == 1)
        // Kills the engine during a body, and before heads.
        let third = try Machine(engine)
        let response = try await third.cache.response(
            for: HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/large"))
        try process.signal(SIGKILL)
        #expect(try await response.data() == body)
        for number in 0..<4 {
            #expect(try await third.get(origin.url("/killed\(number)")).body == Data("/killed\(number)".utf8))
        }
        #expect(third.tier.statistics.errors > 0)
    }
}

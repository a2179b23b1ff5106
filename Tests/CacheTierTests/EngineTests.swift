import CacheLoader
import CacheTier
import Foundation
import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

@Suite("Real engines")
struct EngineTests {
    private func shareBodies(_ engine: TierEngine) async throws {
        let bodies = ["/small": Data.noise(1000, seed: 1), "/large": Data.noise(1_000_000, seed: 2), "/empty": Data()]
        let groups = try #require(HTTPField.Name("Cache-Groups"))
        let origin = try await LoopbackOrigin { request in
            var reply = OriginReply.ok(bodies[request.path] ?? Data(), cacheControl: "max-age=600")
            reply.fields[groups] = "\"all\""
            return reply
        }
        let (first, second) = (try Machine(engine), try Machine(engine))
        try await first.tier.check()
        for machine in [first, second] {
            for (path, body) in bodies { #expect(try await machine.get(origin.url(path)).body == body) }
        }
        #expect(origin.requestCount == 3)
        #expect(second.tier.statistics.hits == 3)
        try await first.tier.removeAll(in: .partition)
        try await Machine(engine).get(origin.url("/small"))
        #expect(origin.requestCount == 4)
        try await Machine(engine).get(origin.url("/small"))
        #expect(origin.requestCount == 4)
        try await first.tier.removeAll(in: .tag("all", origin: origin.url("/")))
        try await Machine(engine).get(origin.url("/small"))
        #expect(origin.requestCount == 5)
    }

    /// Eight machines miss a URL while one of them asks the origin.
    private func stampede(_ engine: TierEngine) async throws -> (originRequests: Int, statistics: [TierStatistics]) {
        let gate = Gate()
        let origin = try await LoopbackOrigin { request in
            // The origin replies to the first request last.
            if request.serial == 1 { await gate.wait() }
            return .ok("a".utf8, cacheControl: "max-age=600")
        }
        let machines = try (0..<8).map { _ in
            try Machine(engine) {
                $0.leaseWait = .seconds(600)
                $0.leaseLifetime = .seconds(600)
            }
        }
        try await withThrowingTaskGroup(of: Data.self) { group in
            group.addTask { try await machines[0].get(origin.url("/a")).body }
            await gate.reached(1)
            for machine in machines.dropFirst() { group.addTask { try await machine.get(origin.url("/a")).body } }
            while machines[0].tier.hasConditionalWrites, machines.map(\.tier.statistics.waits).reduce(0, +) < 7 {
                try await Task.sleep(for: .milliseconds(10))
            }
            gate.open()
            for try await body in group { #expect(body == Data("a".utf8)) }
        }
        return (origin.requestCount, machines.map(\.tier.statistics))
    }

    @Test(
        "nginx with DAV works as an engine", .requirement("T1", "T8"), .enabled(if: EngineProcess.hasNginx),
        .timeLimit(.minutes(20)))
    func nginx() async throws {
        let process = try await EngineProcess.nginx()
        try await shareBodies(.plain(process.url, transport: DefaultTransport()))
    }

    @Test(
        "nginx has no conditional writes, as a check reports: each machine asks the origin once", .requirement("T10"),
        .enabled(if: EngineProcess.hasNginx), .timeLimit(.minutes(20)))
    func nginxStampede() async throws {
        let process = try await EngineProcess.nginx()
        let engine = try TierEngine.plain(process.url, conditionalWrites: true, transport: DefaultTransport())
        let machine = try Machine(engine)
        try await machine.tier.check()
        #expect(!machine.tier.hasConditionalWrites)
        let (originRequests, statistics) = try await stampede(engine)
        #expect(originRequests <= 8)
        #expect(statistics.allSatisfy { $0.waits == 0 })
    }

    @Test(
        "with moto's conditional writes, eight machines that miss a URL ask the origin once", .requirement("T10"),
        .enabled(if: EngineProcess.hasMoto), .timeLimit(.minutes(20)))
    func s3Stampede() async throws {
        let process = try await EngineProcess.s3()
        let engine = try TierEngine.s3(
            process.url, region: "us-east-1",
            credentials: { S3Credentials(accessKeyID: "id", secretAccessKey: "secret") }, transport: DefaultTransport())
        let machine = try Machine(engine)
        try await machine.tier.check()
        #expect(machine.tier.hasConditionalWrites)
        let (originRequests, statistics) = try await stampede(engine)
        #expect(originRequests == 1)
        #expect(statistics.map(\.leases) == [1, 0, 0, 0, 0, 0, 0, 0])
        #expect(statistics.map(\.waitedHits) == [0, 1, 1, 1, 1, 1, 1, 1])
    }

    @Test(
        "moto's object store works as an engine", .requirement("T1", "T3"), .enabled(if: EngineProcess.hasMoto),
        .timeLimit(.minutes(20)))
    func s3() async throws {
        let process = try await EngineProcess.s3()
        try await shareBodies(
            .s3(
                process.url, region: "us-east-1",
                credentials: { S3Credentials(accessKeyID: "id", secretAccessKey: "secret", sessionToken: "token") },
                transport: DefaultTransport()))
    }

    @Test(
        "a killed or stopped engine fails no load, and is used again once it answers", .requirement("T6"),
        .enabled(if: EngineProcess.hasNginx), .timeLimit(.minutes(20)))
    func stopped() async throws {
        let process = try await EngineProcess.nginx()
        let engine = try TierEngine.plain(process.url, transport: DefaultTransport())
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
        for number in 0..<4 {
            #expect(try await load("/stopped\(number)") == Data("/stopped\(number)".utf8))
        }
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

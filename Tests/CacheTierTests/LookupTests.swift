import CacheTier
import TestSupport

@Suite("Lookups in a tier") struct LookupTests {
    @Test(
        "the age stated by a cache in front of the engine counts, also in a list and beyond all numbers",
        .requirement("T7"), arguments: ["61", "61, 3", "99999999999999999999"])
    func ageInFront(_ age: String) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        try await Machine(server).get(origin.url("/a"))
        server.setFault { request in
            guard request.path.contains("/resp/"), let object = server.objects[request.path] else { return nil }
            return OriginReply(
                fields: [.lastModified: OriginDate.text(secondsSince1970: object.lastModified), .age: age],
                body: object.bytes)
        }
        #expect(try await Machine(server).get(origin.url("/a")).body == Data("2".utf8))
    }

    @Test("a cancelled load counts neither for nor against the engine, and asks no origin", .requirement("T6"))
    func cancellation() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
        let machine = try Machine(server)
        for number in 0..<5 {
            let gate = Gate()
            server.setFault { _ in
                await gate.wait()
                return nil
            }
            let load = Task { try await machine.get(origin.url("/\(number)")) }
            await gate.reached(1)
            load.cancel()
            await #expect(throws: (any Error).self) { try await load.value }
            gate.open()
        }
        #expect(machine.tier.statistics.timeouts == 0)
        #expect(!machine.tier.isBreakerOpen)
        #expect(origin.requestCount == 0)
    }

    @Test("the origin answers a range of a body that is stored as a separate object", .requirement("T1"))
    func rangeOfLongBody() async throws {
        let server = try await ObjectServer()
        let body = Data.noise(100_000, seed: 1)
        let origin = try await LoopbackOrigin { request in
            guard request.fields[.range] != nil else { return .ok(body, cacheControl: "max-age=60", etag: "\"1\"") }
            var reply = OriginReply.ok(body[2...4], cacheControl: "max-age=60", etag: "\"1\"")
            reply.status = .partialContent
            reply.fields[.contentRange] = "bytes 2-4/100000"
            return reply
        }
        try await Machine(server).get(origin.url("/a"))
        let range = try await Machine(server).get(origin.url("/a"), [.range: "bytes=2-4"])
        #expect(range.status == 206)
        #expect(range.body == body[2...4])
        #expect(origin.requestCount == 2)
    }

    struct Reason: Sendable, CustomTestStringConvertible {
        let expected: String
        var fields: HTTPFields = [:]
        var seconds = 0
        var isBodyGone = false
        var testDescription: String { "\(expected), \(fields), \(seconds) s" }
    }

    @Test(
        "Cache-Status names the reason why a record of the tier does not answer", .requirement("W02"),
        arguments: [
            Reason(expected: "stale", seconds: 61),
            Reason(expected: "request", fields: [.cacheControl: "no-cache"]),
            Reason(expected: "request", fields: [.cacheControl: "max-age=5"], seconds: 10),
            Reason(expected: "bypass", fields: [.range: "bytes=2-4"]),
            Reason(expected: "miss", isBodyGone: true),
        ])
    func reason(_ reason: Reason) async throws {
        let server = try await ObjectServer()
        let body = Data.noise(100_000, seed: 1)
        let origin = try await LoopbackOrigin { _ in .ok(body, cacheControl: "max-age=60", etag: "\"1\"") }
        try await Machine(server).get(origin.url("/a"))
        server.time += reason.seconds
        if reason.isBodyGone { for name in server.names("cas") { server.objects[name] = nil } }
        let answer = try await Machine(server).send(origin, "/a", reason.fields)
        #expect(answer.head.headerFields.cacheStatus == "tier;fwd=\(reason.expected)")
    }

    @Test(
        "the tier does not keep a reply that contradicts itself or its request", .requirement("T2"),
        arguments: [
            (.partialContent, [.contentRange: "bytes 0-0/1"]), (.ok, [.contentLength: "1, 2"]),
        ] as [(HTTPResponse.Status, HTTPFields)])
    func malformedReply(_ status: HTTPResponse.Status, _ contradiction: HTTPFields) async throws {
        let server = try await ObjectServer()
        let fields = HTTPFields([HTTPField(name: .cacheControl, value: "max-age=60")] + contradiction)
        let machine = try Machine(server)
        let transport = TieredTransport(tier: machine.tier, origin: ScriptedTransport(.reply(status, fields, "a")))
        let response = try await transport.send(
            HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/a"), content: nil)
        while try await response.body.next() != nil {}
        await machine.tier.waitForWrites()
        #expect(response.head.status == status)
        #expect(server.names("resp").isEmpty)
        #expect(machine.tier.statistics.writes == 0)
    }
}

import CacheLoader
import CacheStoreTesting
import CacheTier
import Foundation
import HTTPTypes
import LoopbackOrigin
import Synchronization
import TestSupport
import Testing

@Suite("Lookups in a tier")
struct LookupTests {
    @Test(
        "of several matching responses, the one with the later Date answers", .requirement("T1"),
        arguments: [true, false])
    func mostRecent(_ isVariantLater: Bool) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { request in
            let isVariant = (request.serial == 2) == isVariantLater
            var reply = OriginReply.ok((isVariant ? "variant" : "plain").utf8, cacheControl: "max-age=600")
            reply.fields[.date] = OriginDate.text(secondsSince1970: server.time + request.serial)
            if isVariant { reply.fields[.vary] = "Accept-Language" }
            return reply
        }
        for _ in 0..<2 { try await Machine(server).get(origin.url("/a"), [.cacheControl: "no-cache"]) }
        #expect(server.names("resp").count == 2)
        let hit = try await Machine(server).get(origin.url("/a"))
        #expect(hit.body == Data((isVariantLater ? "variant" : "plain").utf8))
        #expect(origin.requestCount == 2)
    }

    @Test(
        "the age stated by a cache in front of the engine counts, also in a list and beyond all numbers",
        .requirement("T7"),
        arguments: ["61", "61, 3", "99999999999999999999"])
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

    @Test("a hit counts as a success of the engine even if another object could not be read", .requirement("T6"))
    func partialFailure() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
        let paths = (0..<6).map { "/\($0)" }
        for path in paths { try await Machine(server).get(origin.url(path)) }
        server.setFault { $0.path.contains("/vary/") ? .status(.internalServerError) : nil }
        let machine = try Machine(server)
        for path in paths { try await machine.get(origin.url(path)) }
        #expect(machine.tier.statistics.hits == 6)
        #expect(machine.tier.statistics.errors == 0)
        #expect(!machine.tier.isBreakerOpen)
    }

    @Test(
        "a cancelled load does not count for or against the engine, and asks the origin for nothing",
        .requirement("T6"))
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
        "after a separate body that does not begin in time, the tier reads no separate bodies for a pause",
        .requirement("T6"))
    func bodyThatDoesNotBegin() async throws {
        let server = try await ObjectServer()
        let body = Data.noise(100_000, seed: 1)
        let origin = try await LoopbackOrigin { _ in .ok(body, cacheControl: "max-age=60", etag: "\"1\"") }
        try await Machine(server).get(origin.url("/a"))
        let never = Gate()
        let uptime = Mutex(Duration.zero)
        // The gate that ends the current load's deadline.
        let deadline = Mutex(Gate())
        server.setFault { request in
            guard request.path.contains("/cas/") else { return nil }
            uptime.withLock { $0 += .milliseconds(50) }
            deadline.withLock { $0 }.open()
            await never.wait()
            return nil
        }
        let machine = try Machine(server) {
            $0.deadline = .milliseconds(50)
            $0.uptime = { uptime.withLock { $0 } }
            $0.sleep = { duration in
                guard duration == .milliseconds(50) else { return try await Task.sleep(for: duration) }
                await deadline.withLock { $0 }.wait()
            }
        }
        // Neither the first body nor the probe's body begins, so the pause doubles.
        for (time, requestCount) in [(0.0, 1), (0.5, 1), (2, 2), (3.5, 2), (4.5, 3)] {
            uptime.withLock { $0 = .seconds(time) }
            deadline.withLock { $0 = Gate() }
            _ = try await machine.send(origin)
            #expect(server.requests.filter { $0.method == .get && $0.path.contains("/cas/") }.count == requestCount)
        }
        #expect(machine.tier.statistics.timeouts == 3)
        never.open()
    }

    @Test(
        "a failure of the origin waits for the tier if both were asked concurrently", .requirement("T9"),
        arguments: [OriginReply.status(.serviceUnavailable), OriginReply().delivered(.resetBeforeHead)])
    func failureAtOnce(_ failure: OriginReply) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { request in
            request.path == "/a" && request.serial > 1 ? failure : .ok(request.path.utf8, cacheControl: "max-age=60")
        }
        try await Machine(server).get(origin.url("/a"))
        let machine = try Machine(server)
        // Without hits, requests ask tier and origin concurrently.
        for number in 0..<HedgingPlan.leastMeasurements { try await machine.get(origin.url("/\(number)")) }
        let gate = Gate()
        server.setFault { _ in
            await gate.wait()
            return nil
        }
        let requestCount = origin.requestCount
        async let response = machine.get(origin.url("/a"))
        while origin.requestCount == requestCount { await Task.yield() }
        gate.open()
        #expect(try await response.body == Data("/a".utf8))
        #expect(machine.tier.statistics.hits == 1)
        #expect(machine.tier.statistics.lateHits == 0)
    }

    @Test(
        "a hit after the origin's response counts as late, not as a hit", .requirement("T9"),
        arguments: [true, false])
    func raceAtOnce(_ isLate: Bool) async throws {
        let server = try await ObjectServer()
        let (engine, never) = (Gate(), Gate())
        let origin = try await LoopbackOrigin { request in
            if !isLate, request.path == "/a", request.serial > 1 { await never.wait() }
            return .ok(request.path.utf8, cacheControl: "max-age=60")
        }
        try await Machine(server).get(origin.url("/a"))
        let machine = try Machine(server)
        // Without hits, requests ask tier and origin concurrently.
        for number in 0..<HedgingPlan.leastMeasurements { try await machine.get(origin.url("/\(number)")) }
        server.setFault { _ in
            await engine.wait()
            return nil
        }
        if !isLate { engine.open() }
        let response = try await machine.send(origin, "/a")
        engine.open()
        while try await response.body.next() != nil {}
        await machine.tier.waitForWrites()
        let counts = machine.tier.statistics
        #expect(counts.hits == (isLate ? 0 : 1))
        #expect(counts.lateHits == (isLate ? 1 : 0))
        #expect(counts.misses == HedgingPlan.leastMeasurements)
        #expect(counts.writes == HedgingPlan.leastMeasurements)
        never.open()
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

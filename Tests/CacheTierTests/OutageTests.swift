import CacheTier
import TestSupport

@Suite("Outages of a tier") struct OutageTests {
    @Test(
        "no failure of the engine fails a load", .requirement("T6"),
        arguments: [
            OriginReply.status(.internalServerError), .status(.forbidden), .status(HTTPResponse.Status(code: 507)),
            OriginReply().delivered(.resetBeforeHead),
            OriginReply().delivered(.garbage(Array("nonsense\r\n\r\n".utf8))),
            OriginReply(body: Array("abc".utf8)).delivered(.declaring(length: 1000)),
        ])
    func failures(_ reply: OriginReply) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
        // The clock stands still, so the pause of the breaker does not end.
        let machine = try Machine(server) { $0.uptime = { .zero } }
        server.setFault { _ in reply }
        for number in 0..<5 {
            #expect(try await machine.get(origin.url("/\(number)")).body == Data("/\(number)".utf8))
        }
        #expect(machine.tier.statistics.errors == 5)
        #expect(machine.tier.isBreakerOpen)
        let requestCount = server.requests.count
        try await machine.get(origin.url("/5"))
        #expect(server.requests.count == requestCount)
        #expect(machine.tier.statistics.skipped == 1)
    }

    @Test("a full disk of the engine drops writes and fails no load", .requirement("T6"))
    func fullDisk() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
        let machine = try Machine(server)
        server.setFault { $0.method == .put ? .status(HTTPResponse.Status(code: 507)) : nil }
        try await machine.get(origin.url("/a"))
        #expect(machine.tier.statistics.failedWrites == 1)
        // The engine still answers reads, so the breaker stays closed.
        #expect(!machine.tier.isBreakerOpen)
        await #expect(throws: TierError.self) { try await machine.tier.removeAll(in: .partition) }
        await #expect(throws: TierError.self) { try await machine.tier.check() }
        server.setFault(nil)
        try await machine.get(origin.url("/b"))
        #expect(machine.tier.statistics.writes == 1)
    }

    @Test("a silent engine delays a load by no more than the deadline", .requirement("T6"))
    func deadline() async throws {
        let server = try await ObjectServer()
        let gate = Gate()
        server.setFault { _ in
            await gate.wait()
            return nil
        }
        let clock = ManualClock()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let machine = try Machine(server) {
            $0.deadline = .milliseconds(50)
            $0.sleep = clock.sleep
        }
        async let response = machine.cache.response(
            for: HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/a"))
        // The lookup, and the limits of its first two requests.
        await clock.waitForSleeps(3)
        #expect(clock.sleeps.filter { $0 == .milliseconds(50) }.count == 1)
        #expect(origin.requestCount == 0)
        clock.advance(by: .milliseconds(50))
        #expect(try await response.status == .ok)
        #expect(machine.tier.statistics.timeouts == 1)
        gate.open()
    }

    @Test(
        "the origin completes a body if the tier fails in the middle", .requirement("T5"),
        arguments: [
            OriginReply.Delivery.stalling(afterBytes: 150_000), .resetting(afterBytes: 150_000),
            .declaring(length: 150_000),
        ])
    func bodyOnTheWay(_ delivery: OriginReply.Delivery) async throws {
        let server = try await ObjectServer()
        let body = Data.noise(300_000, seed: 3)
        let origin = try await LoopbackOrigin { _ in .ok(body, cacheControl: "max-age=60", etag: "\"1\"") }
        try await Machine(server).get(origin.url("/a"))
        server.setFault { request in
            guard request.path.contains("/cas/"), let object = server.objects[request.path] else { return nil }
            var bytes = object.bytes
            if case .declaring(let length) = delivery { bytes = Array(bytes.prefix(length)) }
            let reply = OriginReply(
                fields: [.lastModified: OriginDate.text(secondsSince1970: object.lastModified)], body: bytes)
            if case .declaring = delivery { return reply }
            return reply.delivered(delivery)
        }
        let machine = try Machine(server) { $0.bodyDeadline = .milliseconds(200) }
        #expect(try await machine.get(origin.url("/a")).body == body)
        #expect(origin.requestCount == 2)
        // A reset may discard sent bytes. If even the first chunk is lost, the lookup is a miss.
        #expect(machine.tier.statistics.resumedBodies + machine.tier.statistics.misses == 1)
    }

    @Test(
        "delivers nothing after a damaged chunk: the rest comes from the origin", .requirement("T5"),
        arguments: [true, false])
    func damagedChunk(_ isSame: Bool) async throws {
        let server = try await ObjectServer()
        let body = Data.noise(300_000, seed: 4)
        let origin = try await LoopbackOrigin { request in
            .ok(request.serial == 1 || isSame ? body : .noise(300_000, seed: 5), cacheControl: "max-age=60")
        }
        try await Machine(server).get(origin.url("/a"))
        let name = try #require(server.names("cas").first)
        server.objects[name]?.bytes[200_000] ^= 1
        let machine = try Machine(server)
        let response = try await machine.send(origin)
        var received = Data()
        do {
            while let chunk = try await response.body.next() { received += chunk }
            #expect(isSame)
            #expect(received == body)
        } catch {
            // A body must not mix two representations.
            #expect(!isSame)
            #expect(error.code == .truncated)
            #expect(received == body.prefix(196_608))
        }
        // A further read repeats the end.
        if isSame {
            #expect(try await response.body.next() == nil)
        } else {
            await #expect(throws: TransportError.self) { try await response.body.next() }
        }
        #expect(machine.tier.statistics.refused.damagedBodies == 1)
        #expect(machine.tier.statistics.resumedBodies == 1)
    }

    @Test(
        "a body that neither the tier nor the origin can complete is truncated", .requirement("T5"),
        arguments: [true, false])
    func completedByNobody(_ isReset: Bool) async throws {
        let server = try await ObjectServer()
        let body = Data.noise(300_000, seed: 4)
        let origin = try await LoopbackOrigin { request in
            let reply = OriginReply.ok(body, cacheControl: "max-age=60")
            guard request.serial > 1 else { return reply }
            return isReset ? reply.delivered(.resetBeforeHead) : .status(.serviceUnavailable)
        }
        try await Machine(server).get(origin.url("/a"))
        server.objects[try #require(server.names("cas").first)]?.bytes[200_000] ^= 1
        let response = try await Machine(server).send(origin)
        do {
            while try await response.body.next() != nil {}
            Issue.record("a body without its end")
        } catch {
            #expect(error.code == .truncated)
        }
    }

    @Test(
        "a body that the tier lost in part fails at most one load, also on a read-only machine", .requirement("T5"),
        arguments: [true, false], [true, false])
    func shortBody(_ canWrite: Bool, _ isSame: Bool) async throws {
        let server = try await ObjectServer()
        let body = Data.noise(300_000, seed: 4)
        let other = Data.noise(300_000, seed: 5)
        let origin = try await LoopbackOrigin { request in
            .ok(request.serial == 1 || isSame ? body : other, cacheControl: "max-age=60")
        }
        try await Machine(server).get(origin.url("/a"))
        let name = try #require(server.names("cas").first)
        server.objects[name]?.bytes.removeLast(200_000)
        let keys = try TierKeys(
            names: Data(repeating: 1, count: 32), writing: nil,
            reading: [.hmac(id: "1", secret: Data(repeating: 2, count: 32))])
        let machine = try Machine(server, keys: canWrite ? nil : keys)
        for number in 0..<3 {
            let response = try await machine.send(origin)
            var received = Data()
            do {
                while let chunk = try await response.body.next() { received += chunk }
                #expect(received == (isSame ? body : other))
            } catch {
                #expect(number == 0)
                #expect(!isSame)
                #expect(error.code == .truncated)
            }
            await machine.tier.waitForWrites()
            // A machine that can write deletes the record for all machines.
            if number == 0 { #expect(server.names("resp").isEmpty == canWrite) }
        }
        #expect(machine.tier.statistics.resumedBodies == 1)
        #expect(machine.tier.statistics.refused.damagedBodies == 1)
        #expect(machine.tier.statistics.hits == (canWrite ? 2 : 1))
    }

    @Test("the check of a silent engine ends", .requirement("T6"), arguments: [HTTPRequest.Method.put, .get, .delete])
    func silentCheck(_ method: HTTPRequest.Method) async throws {
        let server = try await ObjectServer()
        let gate = Gate()
        server.setFault { request in
            if request.method == method { await gate.wait() }
            return nil
        }
        let machine = try Machine(server) { $0.sleep = { _ in await gate.reached(1) } }
        await #expect(throws: TierError.self) { try await machine.tier.check() }
        gate.open()
    }

    @Test("a record from the future is a miss, as after the engine's clock was set back", .requirement("T7"))
    func clockSetBack() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        try await Machine(server).get(origin.url("/a"))
        server.time -= 3600
        let machine = try Machine(server)
        try await machine.get(origin.url("/a"))
        #expect(origin.requestCount == 2)
        #expect(machine.tier.statistics.refused.fromFuture == 1)
    }

    @Test("bodies beyond the limit are delivered, not written, and counted", .requirement("T6"))
    func bound() async throws {
        let server = try await ObjectServer()
        let body = Data.noise(100_000, seed: 6)
        let origin = try await LoopbackOrigin { _ in .ok(body, cacheControl: "max-age=60") }
        for change in [
            { @Sendable (configuration: inout SharedTier.Configuration) in configuration.maxPendingBytes = 99_999 },
            { @Sendable (configuration: inout SharedTier.Configuration) in configuration.maxBodyBytes = 99_999 },
        ] {
            let machine = try Machine(server, change)
            #expect(try await machine.get(origin.url("/a")).body == body)
            #expect(machine.tier.statistics.droppedWrites == 1)
        }
        #expect(server.names("resp").isEmpty)
        #expect(server.names("cas").isEmpty)
    }
}

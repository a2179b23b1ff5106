import CacheTier
import TestSupport

@Suite("Writes to a tier") struct WritingTests {
    @Test("writes the body, then its record, then once the object of the URL", .requirement("T3"))
    func order() async throws {
        let server = try await ObjectServer()
        let body = Data.noise(100_000, seed: 1)
        let origin = try await LoopbackOrigin { _ in
            var reply = OriginReply.ok(body, cacheControl: "max-age=60")
            reply.fields[.vary] = "Accept-Language"
            return reply
        }
        for _ in 0..<2 { try await Machine(server).get(origin.url("/a"), [.cacheControl: "no-cache"]) }
        let folders = server.requests.filter { $0.method == .put }.compactMap { request in
            ["cas", "resp", "key"].first { request.path.contains("/v2/\($0)/") }
        }
        #expect(folders == ["cas", "resp", "key", "cas", "resp"])
    }

    @Test("the age of a record includes each started second before its write", .requirement("T7"))
    func heldTime() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let uptime = Mutex(Duration.zero)
        let machine = try Machine(server) { $0.uptime = { uptime.withLock { $0 } } }
        let response = try await machine.send(origin, "/a")
        uptime.withLock { $0 = .milliseconds(2100) }
        while try await response.body.next() != nil {}
        await machine.tier.waitForWrites()
        #expect(try await Machine(server).get(origin.url("/a")).fields.ageSeconds == 3)
    }

    @Test("a body whose write takes longer than a record may be late is a hit", .requirement("T7"))
    func slowBody() async throws {
        let body = String(repeating: "a", count: 100_000)
        let fleet = MemoryFleet { _, _ in .reply(200, [.cacheControl: "max-age=60"], body) }
        let uptime = Mutex(Duration.zero)
        let clock = fleet.clock
        fleet.engine.setFault { (operation, name) throws(TierEngineError) in
            guard operation == .put, name.contains("/cas/") else { return }
            clock.advance(by: .seconds(35))
            uptime.withLock { $0 += .seconds(35) }
        }
        try await fleet.machine { $0.uptime = { uptime.withLock { $0 } } }.send("/a")
        let answer = try await fleet.machine().send("/a")
        #expect(answer.body == body)
        #expect(answer.fields.ageSeconds == 35)
        #expect(fleet.origin.requests.count == 1)
    }

    @Test("while the breaker is open, nothing is written", .requirement("T6"))
    func openBreaker() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
        let machine = try Machine(server)
        let response = try await machine.send(origin, "/a")
        server.setFault { _ in .status(.internalServerError) }
        for number in 0..<5 { try await machine.get(origin.url("/\(number)")) }
        #expect(machine.tier.isBreakerOpen)
        server.setFault(nil)
        let (requestCount, dropped) = (server.requests.count, machine.tier.statistics.droppedWrites)
        while try await response.body.next() != nil {}
        await machine.tier.waitForWrites()
        #expect(server.requests.count == requestCount)
        #expect(machine.tier.statistics.droppedWrites == dropped + 1)
    }

    @Test("a response is written after a lookup that the engine did not answer", .requirement("T6"))
    func afterFailedLookup() async throws {
        let fleet = MemoryFleet { _, _ in .reply(200, [.cacheControl: "max-age=60"], "a") }
        let hasFailed = Mutex(false)
        fleet.engine.setFault { (operation, _) throws(TierEngineError) in
            let isFirst = hasFailed.withLock { hasFailed in
                defer { hasFailed = true }
                return !hasFailed
            }
            if isFirst { throw .unavailable("not yet awake") }
        }
        let machine = try fleet.machine()
        try await machine.send("/a")
        #expect(machine.tier.statistics.errors == 1)
        #expect(machine.tier.statistics.writes == 1)
        try await fleet.machine().send("/a")
        #expect(fleet.origin.requests.count == 1)
    }

    @Test("a removal during a request also applies if the engine did not answer the lookup", .requirement("T6"))
    func removalAfterFailedLookup() async throws {
        let fleet = MemoryFleet { _, _ in .reply(200, [.cacheControl: "max-age=60"], "a") }
        let other = try fleet.machine()
        try await other.send("/a")
        let machine = try fleet.machine()
        fleet.engine.setFault { (operation, _) throws(TierEngineError) in
            if operation == .get { throw .unavailable("not yet awake") }
        }
        let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a")
        let response = try await machine.transport.send(request, content: nil)
        fleet.engine.setFault(nil)
        try await other.tier.removeAll(in: .url("https://example.com/a"))
        while try await response.body.next() != nil {}
        await machine.tier.waitForWrites()
        #expect(machine.tier.statistics.writes == 0)
        #expect(machine.tier.statistics.droppedWrites == 1)
    }

    @Test("a removal between the lookup and the first write of a URL stays", .requirement("T6"))
    func removalBeforeFirstWrite() async throws {
        let fleet = MemoryFleet { _, serial in .reply(200, [.cacheControl: "max-age=60"], "\(serial)") }
        let machine = try fleet.machine()
        let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a")
        let response = try await machine.transport.send(request, content: nil)
        try await fleet.machine().tier.removeAll(in: .url("https://example.com/a"))
        while try await response.body.next() != nil {}
        await machine.tier.waitForWrites(within: .seconds(100))
        // An unconditional write would replace the removal in the object of the URL.
        #expect(try await fleet.machine().send("/a").body == "2")
    }

    @Test("a body abandoned by its reader releases its space", .requirement("T6"))
    func abandonedBody() async throws {
        let server = try await ObjectServer()
        let body = Data.noise(300_000, seed: 1)
        let origin = try await LoopbackOrigin { _ in .ok(body, cacheControl: "max-age=60") }
        let machine = try Machine(server) { $0.maxPendingBytes = 300_000 }
        do {
            let response = try await machine.send(origin, "/a")
            #expect(try await response.body.next() != nil)
        }
        let response = try await machine.send(origin, "/b")
        while try await response.body.next() != nil {}
        await machine.tier.waitForWrites()
        #expect(machine.tier.statistics.writes == 1)
        #expect(machine.tier.statistics.droppedWrites == 0)
    }
}

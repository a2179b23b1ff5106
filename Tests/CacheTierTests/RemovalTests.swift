import CacheTier
import TestSupport

@Suite("Removal from a tier") struct RemovalTests {
    private static let groups = HTTPField.Name("Cache-Groups")
    private static let invalidation = HTTPField.Name("Cache-Group-Invalidation")

    /// A fleet whose origin answers with its serial number, and with tags.
    private func fleet(
        tags: String = "\"one\", \"two\"", hasConditionalWrites: Bool = true,
        before: @escaping @Sendable (HTTPRequest, Int) -> Void = { _, _ in }
    ) -> MemoryFleet {
        MemoryFleet(hasConditionalWrites: hasConditionalWrites) { request, serial in
            before(request, serial)
            var fields: HTTPFields = [.cacheControl: "max-age=600"]
            if let name = request.method == .get ? Self.groups : Self.invalidation { fields[name] = tags }
            return .reply(200, fields, "\(serial)")
        }
    }

    struct Removal: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let scope: TierScope
        var partition = ""
        var isRemoved = true
    }

    private static let removals = [
        Removal(testDescription: "everything", scope: .partition),
        Removal(testDescription: "the host", scope: .host("Example.com")),
        Removal(testDescription: "the URL", scope: .url("HTTPS://example.com/a#b")),
        Removal(testDescription: "a tag", scope: .tag("two", origin: "https://example.com/page")),
        Removal(testDescription: "another host", scope: .host("other.example"), isRemoved: false),
        Removal(testDescription: "another URL", scope: .url("https://example.com/b"), isRemoved: false),
        Removal(testDescription: "another tag", scope: .tag("One", origin: "https://example.com"), isRemoved: false),
        Removal(
            testDescription: "a tag of another origin", scope: .tag("one", origin: "http://example.com"),
            isRemoved: false),
        Removal(testDescription: "another partition", scope: .partition, partition: "b", isRemoved: false),
    ]

    @Test("a removal reaches all machines, and no other response", .requirement("T8", "T11"), arguments: removals)
    func removal(_ c: Removal) async throws {
        let fleet = fleet()
        let (first, running) = (try fleet.machine(), try fleet.machine())
        #expect(try await first.send("/a").body == "1")
        #expect(try await running.send("/a").body == "1")
        try await fleet.machine { $0.partition = c.partition }.tier.removeAll(in: c.scope)
        fleet.clock.advance(by: .seconds(2))
        #expect(try await running.send("/a").body == (c.isRemoved ? "2" : "1"))
        #expect(try await fleet.machine().send("/a").body == (c.isRemoved ? "2" : "1"))
        #expect(try await first.send("/a").body == (c.isRemoved ? "2" : "1"))
    }

    @Test(
        "a fill that began before a removal is never visible after it", .requirement("T8", "T11"),
        arguments: [.partition, .host("example.com"), .tag("one", origin: "https://example.com")] as [TierScope],
        [true, false])
    func race(_ scope: TierScope, _ isKnown: Bool) async throws {
        let fleet = fleet()
        let remover = try fleet.machine()
        if isKnown { try await remover.send("/a") }
        let (machine, serial) = (try fleet.machine(), fleet.origin.requests.count + 1)
        let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a")
        var uncached = request
        uncached.headerFields[.cacheControl] = "no-cache"
        // The origin has answered with its old state; the removal overtakes the write.
        let response = try await machine.transport.send(uncached, content: nil)
        fleet.clock.advance(by: .seconds(5))
        try await remover.tier.removeAll(in: scope)
        fleet.clock.advance(by: .seconds(5))
        while try await response.body.next() != nil {}
        await machine.tier.waitForWrites(within: .seconds(100))
        #expect(try await fleet.machine().send("/a").body == "\(serial + 1)")
        #expect(try await machine.send("/a").body == "\(serial + 1)")
    }

    @Test(
        "after an unsafe request, neither its machine nor another one answers with the older response",
        .requirement("T8"), arguments: [true, false])
    func unsafe(_ hasConditionalWrites: Bool) async throws {
        let fleet = fleet(tags: "", hasConditionalWrites: hasConditionalWrites)
        let (machine, other) = (try fleet.machine(), try fleet.machine())
        try await other.send("/a")
        try await other.send("/b")
        let before = try await machine.transport.send(
            HTTPRequest(
                method: .get, scheme: "https", authority: "example.com", path: "/a",
                headerFields: [.cacheControl: "no-cache"]), content: nil)
        try await machine.send("/a", method: .put)
        #expect(machine.tier.statistics.removals == 1)
        // A response from before the unsafe request must not return.
        while try await before.body.next() != nil {}
        await machine.tier.waitForWrites(within: .seconds(100))
        fleet.clock.advance(by: .seconds(3))
        #expect(try await other.send("/a").body == "5")
        #expect(try await machine.send("/a").body == "5")
        #expect(try await other.send("/b").body == "2")
    }

    @Test("an unsafe request removes the tags that its response names", .requirement("T11"))
    func unsafeTags() async throws {
        let fleet = fleet(tags: "\"one\"")
        let machine = try fleet.machine()
        try await machine.send("/a")
        try await machine.send("/other", method: .post)
        fleet.clock.advance(by: .seconds(3))
        #expect(try await fleet.machine().send("/a").body == "3")
    }

    @Test("a removal by an unsafe request counts immediately, and is repeated to the engine", .requirement("T8"))
    func outage() async throws {
        let fleet = fleet(tags: "")
        let next = Gate()
        let pauses = Mutex<[Duration]>([])
        let machine = try fleet.machine {
            $0.sleep = { duration in
                // The deadlines.
                guard duration <= .seconds(30) else { return try await Task.sleep(for: duration) }
                pauses.withLock { $0.append(duration) }
                await next.wait()
            }
        }
        try await machine.send("/a")
        fleet.engine.setFault { (operation, _) throws(TierEngineError) in
            if operation == .put { throw .refused("PUT 507") }
        }
        try await machine.send("/a", method: .put)
        #expect(machine.tier.pendingRemovalCount == 1)
        fleet.clock.advance(by: .seconds(3))
        #expect(try await machine.send("/a").body == "3")
        for count in 1...7 {
            await next.reached(count)
            if count == 7 { fleet.engine.setFault(nil) }
            next.admit()
        }
        await eventually { machine.tier.statistics.removals != 0 }
        #expect(machine.tier.pendingRemovalCount == 0)
        #expect(pauses.withLock { $0 } == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
        fleet.clock.advance(by: .seconds(3))
        #expect(try await fleet.machine().send("/a").body == "4")
    }

    @Test("a removal that waits behind other writes survives a wait that ends early", .requirement("T8"))
    func impatientWait() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let machine = try Machine(server) { $0.writers = 1 }
        try await machine.get(origin.url("/a"))
        let gate = Gate()
        server.setFault { request in
            if request.method == .put { await gate.wait() }
            return nil
        }
        let other = try await machine.send(origin, "/b")
        while try await other.body.next() != nil {}
        await gate.reached(1)
        _ = try await machine.send(origin, "/a", method: .post)
        await machine.tier.waitForWrites(within: .zero)
        #expect(machine.tier.pendingRemovalCount == 1)
        gate.open()
        _ = try await machine.send(origin, "/a", method: .post)
        await machine.tier.waitForWrites(within: .seconds(100))
        #expect(machine.tier.pendingRemovalCount == 0)
        let requestCount = origin.requestCount
        try await Machine(server).get(origin.url("/a"))
        #expect(origin.requestCount == requestCount + 1)
    }

    @Test("a removal throws if either of its objects is not recorded", .requirement("T8"), arguments: [1, 2])
    func failing(_ number: Int) async throws {
        let fleet = fleet()
        let count = Mutex(0)
        fleet.engine.setFault { (operation, _) throws(TierEngineError) in
            let isFailing = count.withLock { count in
                if operation == .put { count += 1 }
                return operation == .put && count == number
            }
            if isFailing { throw .refused("PUT 507") }
        }
        await #expect(throws: TierError.engine("PUT 507")) {
            try await fleet.machine().tier.removeAll(in: .host("example.com"))
        }
    }

    @Test("a machine polls one object, and reads the scopes again only after it has changed", .requirement("T8"))
    func polling() async throws {
        let fleet = fleet()
        let uptime = Mutex(Duration.zero)
        let machine = try fleet.machine {
            $0.removalDelay = .seconds(5)
            $0.uptime = { uptime.withLock { $0 } }
        }
        func reads() -> Int {
            let requests = fleet.engine.requests
            fleet.engine.removeRequests()
            return requests.count { $0.operation == .get && $0.name.contains("/removed/") }
        }
        try await machine.send("/a")
        // Nothing was ever removed, so no scope is read.
        #expect(reads() == 1)
        for path in ["/b", "/a", "/c"] { try await machine.send(path) }
        #expect(reads() == 0)
        uptime.withLock { $0 = .seconds(5) }
        try await machine.send("/a")
        #expect(reads() == 1)
        try await fleet.machine().tier.removeAll(in: .host("other.example"))
        fleet.engine.removeRequests()
        uptime.withLock { $0 = .seconds(9) }
        try await machine.send("/a")
        #expect(reads() == 0)
        uptime.withLock { $0 = .seconds(10) }
        try await machine.send("/a")
        // The poll, everything, the host, and two tags.
        #expect(reads() == 5)
        try await machine.send("/a")
        #expect(reads() == 0)
        #expect(fleet.origin.requests.count == 3)
    }

    @Test("an object of a removal that cannot be opened counts as a removal", .requirement("T4"))
    func forged() async throws {
        let fleet = fleet()
        try await fleet.machine().send("/a")
        try await fleet.machine().tier.removeAll(in: .partition)
        fleet.clock.advance(by: .seconds(2))
        #expect(try await fleet.machine().send("/a").body == "2")
        fleet.clock.advance(by: .seconds(2))
        for name in fleet.engine.names where name.contains("/removed/") {
            _ = try await fleet.engine.put(Data("forged".utf8), as: name, onlyIfAbsent: false)
        }
        let machine = try fleet.machine()
        #expect(try await machine.send("/a").body == "3")
        #expect(machine.tier.statistics.refused.malformed > 0)
    }

    @Test("a response with more than 32 tags is not written, and is counted", .requirement("T11"), arguments: [32, 33])
    func bound(_ count: Int) async throws {
        let fleet = fleet(tags: (0..<count).map { "\"t\($0)\"" }.joined(separator: ", "))
        let machine = try fleet.machine()
        #expect(try await machine.send("/a").body == "1")
        #expect(machine.tier.statistics.droppedWrites == count - 32)
        #expect(try await fleet.machine().send("/a").body == (count == 32 ? "1" : "2"))
    }

    @Test("a machine that cannot write counts its own unsafe requests, informs no other machine", .requirement("T8"))
    func reader() async throws {
        let fleet = fleet(tags: "")
        try await fleet.machine().send("/a")
        let keys = try TierKeys(
            names: Data(repeating: 1, count: 32), writing: nil,
            reading: [.hmac(id: "1", secret: Data(repeating: 2, count: 32))])
        let tier = SharedTier(engine: fleet.engine, keys: keys)
        let machine = MemoryMachine(tier: tier, transport: TieredTransport(tier: tier, origin: fleet.origin))
        #expect(try await machine.send("/a").body == "1")
        try await machine.send("/a", method: .put)
        #expect(try await machine.send("/a").body == "3")
        #expect(try await fleet.machine().send("/a").body == "1")
        await #expect(throws: TierError.readOnly) { try await tier.removeAll(in: .partition) }
    }
}

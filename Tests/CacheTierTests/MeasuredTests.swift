import CacheTier
import TestSupport

/// The requests that an operator counts, on an engine that counts them.
@Suite("The requests of a tier to its engine and to the origin") struct MeasuredTests {
    private func fleet(
        hasConditionalWrites: Bool = true, deadline: Duration = .seconds(120), byteCount: Int = 10
    ) -> MemoryFleet {
        MemoryFleet(hasConditionalWrites: hasConditionalWrites, deadline: deadline) { request, _ in
            .reply(
                200, [.cacheControl: "max-age=3600", .eTag: "\"1\""],
                String(repeating: "a", count: byteCount) + (request.path ?? ""))
        }
    }

    @Test("unsafe requests to other URLs leave 300 of 300 responses, and write nothing", .requirement("T8"))
    func beacons() async throws {
        let fleet = fleet()
        let machine = try fleet.machine()
        for number in 0..<300 { try await machine.send("/\(number)") }
        _ = fleet.takeRequests()
        for number in 0..<1500 { try await machine.send("/beacon?id=\(number)", method: .post, host: "other.example") }
        let cost = fleet.takeRequests()
        #expect(cost.gets <= 1500)
        #expect(cost.puts == 0)
        let (reader, before) = (try fleet.machine(), fleet.origin.requests.count)
        for number in 0..<300 { try await reader.send("/\(number)") }
        #expect(reader.tier.statistics.hits == 300)
        #expect(fleet.origin.requests.count == before)
    }

    @Test("the tier answers 300 of 300 requests even if the origin is faster", .requirement("T9"))
    func nearOrigin() async throws {
        let fleet = fleet()
        let writer = try fleet.machine()
        for number in 0..<300 { try await writer.send("/\(number)") }
        let before = fleet.origin.requests.count
        // The engine answers after other tasks have run, and the origin without a pause.
        fleet.engine.setFault { (_, _) throws(TierEngineError) in for _ in 0..<20 { await Task.yield() } }
        let reader = try fleet.machine()
        for number in 0..<300 { try await reader.send("/\(number)") }
        #expect(fleet.origin.requests.count == before)
        #expect(reader.tier.statistics.hits == 300)
    }

    @Test("the first machine of a tier writes all of its responses", .requirement("T1"), arguments: [true, false])
    func firstFill(_ hasConditionalWrites: Bool) async throws {
        let fleet = fleet(hasConditionalWrites: hasConditionalWrites)
        let machine = try fleet.machine()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<1000 { group.addTask { try await machine.send("/\(number)") } }
            try await group.waitForAll()
        }
        #expect(machine.tier.statistics.writes == 1000)
        #expect(machine.tier.statistics.droppedWrites == 0)
    }

    @Test("a hit costs at most 3 reads, and a fill at most 2 writes, 3 with a long body", .requirement("T1"))
    func events() async throws {
        for (byteCount, reads, writes) in [(10, 2, 2), (100_000, 3, 3)] {
            let fleet = fleet(byteCount: byteCount)
            let settings: (inout SharedTier.Configuration) -> Void = { $0.removalDelay = .seconds(5) }
            let writer = try fleet.machine(settings)
            try await writer.send("/warm")
            _ = fleet.takeRequests()
            try await writer.send("/a")
            let fill = fleet.takeRequests()
            #expect(fill.gets == 1)
            #expect(fill.puts == writes)
            let reader = try fleet.machine(settings)
            try await reader.send("/warm")
            _ = fleet.takeRequests()
            try await reader.send("/a")
            #expect(fleet.takeRequests().gets == reads)
            // The object of the URL is remembered.
            try await reader.send("/a")
            #expect(fleet.takeRequests().gets == reads - 1)
            #expect(reader.tier.statistics.hits == 3)
        }
    }

    @Test("a 304 for 300 kB costs less than 2 kB of writes, and answers with the record's body", .requirement("T5"))
    func validation() async throws {
        let fleet = MemoryFleet { request, _ in
            request.headerFields[.ifNoneMatch] == "\"1\""
                ? .reply(304, [.cacheControl: "max-age=60", .eTag: "\"1\""])
                : .reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\""], String(repeating: "a", count: 300_000))
        }
        try await fleet.machine().send("/a")
        fleet.clock.advance(by: .seconds(61))
        fleet.engine.removeRequests()
        let cold = try fleet.machine()
        let response = try await cold.send("/a")
        #expect(response.status == 200)
        #expect(response.body.utf8.count == 300_000)
        #expect(cold.tier.statistics.validations == 1)
        #expect(fleet.origin.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
        let writes = fleet.engine.requests.filter { $0.operation == .put }
        #expect(writes.count == 1)
        #expect(writes.map(\.byteCount).reduce(0, +) < 2000)
        let reader = try fleet.machine()
        try await reader.send("/a")
        #expect(reader.tier.statistics.hits == 1)
        #expect(fleet.origin.requests.count == 2)
    }

    @Test(
        "an engine that takes 80 milliseconds answers within S3's deadline, and not within one of 50",
        .requirement("T6"), arguments: [500, 50])
    func slowEngine(_ deadline: Int) async throws {
        let fleet = fleet(deadline: .milliseconds(deadline))
        let clock = fleet.clock
        try await fleet.machine().send("/a")
        fleet.engine.setFault { (_, _) throws(TierEngineError) in
            do { try await clock.sleep(.milliseconds(80)) } catch { throw .unavailable("cancelled") }
        }
        let machine = try fleet.machine {
            $0.sleep = { duration in
                // Only the deadline of the lookup runs on this clock.
                guard duration == .milliseconds(deadline) else { return try await Task.sleep(for: duration) }
                try await clock.sleep(duration)
            }
        }
        async let response = machine.transport.send(
            HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a"), content: nil)
        // The deadline, the poll of removals, and the object of the URL; then the record.
        await clock.waitForSleeps(3)
        clock.advance(by: .milliseconds(min(deadline, 80)))
        if deadline > 80 {
            await clock.waitForSleeps(4)
            clock.advance(by: .milliseconds(80))
        }
        _ = try await response
        #expect(machine.tier.statistics.hits == (deadline == 500 ? 1 : 0))
        #expect(machine.tier.statistics.timeouts == (deadline == 500 ? 0 : 1))
        #expect(fleet.origin.requests.count == (deadline == 500 ? 1 : 2))
        fleet.engine.setFault(nil)
        clock.advance(by: .seconds(1))
    }

    @Test("the engines' default deadlines are 100 milliseconds, and 500 for S3")
    func deadlines() throws {
        let plain = try PlainEngine("http://127.0.0.1:9/tier", transport: DefaultTransport())
        let s3 = try S3Engine(
            "http://127.0.0.1:9/bucket", region: "r",
            credentials: { S3Credentials(accessKeyID: "", secretAccessKey: "") },
            transport: DefaultTransport())
        let keys = try Machine.keys()
        #expect(SharedTier(engine: plain, keys: keys).deadline == .milliseconds(100))
        #expect(SharedTier(engine: s3, keys: keys).deadline == .milliseconds(500))
        var configuration = SharedTier.Configuration()
        configuration.deadline = .milliseconds(7)
        #expect(SharedTier(engine: s3, keys: keys, configuration: configuration).deadline == .milliseconds(7))
    }

    @Test(
        "writes run side by side, as many as the setting permits, and a stop is bounded", .requirement("T6"),
        .timeLimit(.minutes(10)))
    func stop() async throws {
        let fleet = fleet()
        let gate = Gate()
        fleet.engine.setFault { (operation, _) throws(TierEngineError) in if operation == .put { await gate.wait() } }
        let machine = try fleet.machine {
            $0.writers = 4
            $0.sleep = { duration in
                guard duration == .milliseconds(1) else { return try await Task.sleep(for: duration) }
            }
        }
        for number in 0..<10 {
            let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/\(number)")
            let response = try await machine.transport.send(request, content: nil)
            while try await response.body.next() != nil {}
        }
        await gate.reached(4)
        await machine.tier.waitForWrites(within: .milliseconds(1))
        #expect(machine.tier.statistics.droppedWrites == 6)
        gate.open()
        await machine.tier.waitForWrites(within: .seconds(100))
        #expect(machine.tier.statistics.writes == 4)
    }
}

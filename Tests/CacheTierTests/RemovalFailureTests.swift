import CacheLoader
import CacheStoreTesting
import CacheTier
import Foundation
import HTTPTypes
import LoopbackOrigin
import Synchronization
import TestSupport
import Testing

@Suite("Removal with failing engines and writes")
struct RemovalFailureTests {
    /// Reads a URL through the transport, bypassing the machine's store.
    private func load(
        _ machine: Machine, _ origin: LoopbackOrigin, _ path: String = "/a", method: HTTPRequest.Method = .get
    ) async throws -> String {
        let transport = TieredTransport(tier: machine.tier, origin: DefaultTransport())
        let response = try await transport.send(
            HTTPRequest(method: method, scheme: "http", authority: origin.authority, path: path), content: nil)
        var body = Data()
        while let chunk = try await response.body.next() { body += chunk }
        await machine.tier.waitForWrites()
        return String(decoding: body, as: UTF8.self)
    }

    private static let readers = Result {
        try TierKeys(
            names: Data(repeating: 1, count: 32), writing: nil,
            reading: [.hmac(id: "1", secret: Data(repeating: 2, count: 32))])
    }

    @Test("a response from between two unsafe requests never answers after the second", .requirement("T8"))
    func betweenUnsafe() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        let never = Gate()
        let machine = try Machine(server) {
            $0.epochLifetime = .seconds(5)
            $0.uptime = { .zero }
            $0.sleep = { _ in await never.wait() }
        }
        #expect(try await load(machine, origin) == "1")
        server.setFault { request in
            let isRemoval = request.method == .put && request.path.contains("/epoch/")
            return isRemoval ? .status(.serviceUnavailable) : nil
        }
        for number in 1...3 {
            _ = try await load(machine, origin, method: .put)
            let body = try await load(machine, origin)
            #expect(body == "\(number * 2 + 1)")
        }
        #expect(machine.tier.statistics.hits == 0)
        #expect(machine.tier.pendingRemovalCount == 1)
    }

    @Test(
        "a failed removal by an unsafe request stays in force, and is repeated until the engine accepts it",
        .requirement("T8"))
    func failedRemoval() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        let uptime = Mutex(Duration.zero)
        let (pause, arrival) = (Gate(), Gate())
        let machine = try Machine(server) {
            $0.epochLifetime = .seconds(5)
            $0.uptime = { uptime.withLock { $0 } }
            $0.sleep = { duration in
                if duration == .seconds(1) { await pause.wait() } else { try await Task.sleep(for: duration) }
            }
        }
        #expect(try await load(machine, origin) == "1")
        server.setFault { request in
            let isRemoval = request.method == .put && request.path.contains("/epoch/")
            return isRemoval ? .status(.serviceUnavailable) : nil
        }
        #expect(try await load(machine, origin, method: .put) == "2")
        #expect(machine.tier.statistics.failedWrites == 1)
        uptime.withLock { $0 = .seconds(100) }
        #expect(try await load(machine, origin) == "3")
        #expect(!machine.tier.isBreakerOpen)
        // The other machines do not know of the removal yet.
        #expect(try await load(Machine(server), origin) == "1")
        server.setFault { request in
            if request.method == .put { await arrival.wait() }
            return nil
        }
        await pause.reached(1)
        pause.open()
        await arrival.reached(1)
        arrival.open()
        await machine.tier.waitForWrites()
        #expect(machine.tier.pendingRemovalCount == 0)
        #expect(try await load(Machine(server), origin) == "4")
        #expect(try await load(machine, origin) == "4")
    }

    @Test(
        "an epoch that the engine lost is a miss, is replaced, and opens no breaker", .requirement("T8"),
        arguments: [true, false])
    func lost(_ canWrite: Bool) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        let writer = try Machine(server)
        #expect(try await load(writer, origin) == "1")
        try await writer.tier.removeAll(in: .partition)
        let machine = canWrite ? writer : try Machine(server, keys: Self.readers.get())
        #expect(try await load(machine, origin, "/b") == "2")
        for name in server.names("epoch") { server.objects[name] = nil }
        // As many as the threshold of the breaker.
        for number in 3...7 { #expect(try await load(machine, origin, "/\(number)") == "\(number)") }
        #expect(machine.tier.statistics.errors == 0)
        #expect(!machine.tier.isBreakerOpen)
        #expect(machine.tier.statistics.unusableEpochs == 0)
        #expect(server.names("epoch").isEmpty != canWrite)
        // Records from before the removal stay removed.
        #expect(try await load(machine, origin) == "8")
        if canWrite { #expect(try await load(Machine(server), origin) == "8") }
    }

    @Test(
        "a lost epoch restores no removed record, also for machines that start later", .requirement("T8"),
        arguments: [true, false])
    func lostBeforeStart(_ canWrite: Bool) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        let writer = try Machine(server)
        #expect(try await load(writer, origin) == "1")
        try await writer.tier.removeAll(in: .partition)
        for name in server.names("epoch") { server.objects[name] = nil }
        let keys = canWrite ? nil : try Self.readers.get()
        #expect(try await load(Machine(server, keys: keys), origin) == "2")
        #expect(try await load(Machine(server, keys: keys), origin) == (canWrite ? "2" : "3"))
    }

    @Test("a record contains only epochs that the engine had before the origin was asked", .requirement("T8"))
    func newEpochs() async throws {
        let server = try await ObjectServer()
        let remover = try Machine(server)
        let origin = try await LoopbackOrigin { request in
            // The removal overtakes the reply and replaces the epochs that the request wrote.
            if request.serial == 1 {
                #expect(server.names("epoch").count == 4)
                try? await remover.tier.removeAll(in: .partition)
            }
            return .ok("\(request.serial)".utf8, cacheControl: "max-age=60")
        }
        let machine = try Machine(server)
        #expect(try await load(machine, origin) == "1")
        #expect(machine.tier.statistics.newEpochs == 4)
        #expect(machine.tier.statistics.writes == 1)
        #expect(try await load(Machine(server), origin) == "2")
    }

    @Test("an epoch whose write began before a removal and arrives after it still removes", .requirement("T8"))
    func lateFirstEpoch() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        let (late, writer) = (try Machine(server), try Machine(server))
        let gate = Gate()
        server.setFault { request in
            if request.method == .put { await gate.wait() }
            return nil
        }
        // Both machines found no epoch.
        async let lateBody = load(late, origin, "/late")
        await gate.reached(4)
        server.setFault(nil)
        #expect(try await load(writer, origin) == "1")
        try await writer.tier.removeAll(in: .partition)
        gate.open()
        _ = try await lateBody
        #expect(try await load(Machine(server), origin) == "3")
        #expect(try await load(writer, origin) == "3")
    }

    @Test(
        "on an engine without conditional writes, machines that write the first epochs concurrently agree",
        .requirement("T8"))
    func firstEpochs() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        let machines = try (0..<2).map { _ in try Machine(server) { $0.epochLifetime = .seconds(5) } }
        let gate = Gate()
        server.setFault { request in
            guard request.path.contains("/epoch/") else { return nil }
            if request.method == .put { await gate.wait() }
            if request.method == .get, server.objects[request.path] != nil {
                // All writes come before the first read of an epoch.
                while machines.map(\.tier.statistics.newEpochs) != [4, 4] { await Task.yield() }
            }
            return nil
        }
        try await withThrowingTaskGroup(of: String.self) { group in
            for machine in machines { group.addTask { try await load(machine, origin) } }
            await gate.reached(8)
            gate.open()
            try await group.waitForAll()
        }
        for machine in machines {
            _ = try await load(machine, origin)
            #expect(machine.tier.statistics.hits == 1)
        }
    }

    @Test(
        "a load waits for the write of an epoch up to the deadline; after it, its response is not written",
        .requirement("T8"))
    func slowEpochs() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        let clock = ManualClock()
        let uptime = Mutex(Duration.zero)
        let machine = try Machine(server) {
            $0.deadline = .milliseconds(50)
            $0.writeDeadline = .seconds(10)
            $0.sleep = clock.sleep
            $0.uptime = {
                uptime.withLock { uptime in
                    uptime += .nanoseconds(1)
                    return uptime
                }
            }
        }
        let gate = Gate()
        server.setFault { request in
            if request.method == .put { await gate.wait() }
            return nil
        }
        async let first = load(machine, origin)
        await gate.reached(4)
        // The rest of the deadline after the lookup.
        while !clock.sleeps.contains(where: { $0 < .milliseconds(50) }) { await Task.yield() }
        clock.advance(by: .milliseconds(50))
        #expect(try await first == "1")
        #expect(machine.tier.statistics.droppedWrites == 1)
        #expect(machine.tier.statistics.timeouts == 0)
        gate.open()
        while machine.tier.statistics.newEpochs < 4 { await Task.yield() }
        #expect(try await load(machine, origin) == "2")
        #expect(try await load(Machine(server), origin) == "2")
    }

    @Test(
        "an epoch that was replaced earlier, or comes from a cache in front of the engine, does not count",
        .requirement("T8"))
    func rolledBack() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        let machine = try Machine(server)
        try await machine.tier.removeAll(in: .partition)
        let name = try #require(server.names("epoch").first)
        #expect(try await load(machine, origin) == "1")
        let old = server.objects[name]
        try await machine.tier.removeAll(in: .partition)
        server.objects[name] = old
        #expect(try await load(machine, origin) == "2")
        #expect(machine.tier.statistics.unusableEpochs == 1)
        #expect(server.requests.contains { $0.path == name && $0.fields[.cacheControl] == "no-cache" })
        let reader = try Machine(server)
        server.setFault { request in
            guard request.path == name, let object = server.objects[name] else { return nil }
            return OriginReply(
                fields: [.lastModified: OriginDate.text(secondsSince1970: object.lastModified), .age: "100"],
                body: object.bytes)
        }
        #expect(try await load(reader, origin) == "3")
        #expect(reader.tier.statistics.unusableEpochs == 1)
        #expect(!reader.tier.isBreakerOpen)
    }

    @Test("a read-only machine ignores records that its own unsafe request invalidated", .requirement("T8"))
    func readersUnsafe() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=600") }
        #expect(try await load(Machine(server), origin) == "1")
        let uptime = Mutex(Duration.zero)
        let reader = try Machine(server, keys: Self.readers.get()) { $0.uptime = { uptime.withLock { $0 } } }
        #expect(try await load(reader, origin) == "1")
        #expect(try await load(reader, origin, method: .put) == "2")
        #expect(try await load(reader, origin) == "3")
        let writer = try Machine(server)
        func write() async throws { try await writer.get(origin.url("/a"), [.cacheControl: "no-cache"]) }
        // A response from the minute after the request does not answer, and does not end the rule.
        server.time += 30
        uptime.withLock { $0 = .seconds(30) }
        try await write()
        #expect(try await load(reader, origin) == "5")
        server.time += 70
        uptime.withLock { $0 = .seconds(100) }
        #expect(try await load(reader, origin) == "6")
        // A record of a later response answers.
        try await write()
        #expect(try await load(reader, origin) == "7")
        #expect(origin.requestCount == 7)
    }

    @Test("the removal of a URL accepts other spellings of its scheme and host", .requirement("T8"))
    func spelling() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        #expect(try await load(Machine(server), origin) == "1")
        try await Machine(server).tier.removeAll(in: .url("HTTP://\(origin.authority)/a#part"))
        #expect(try await load(Machine(server), origin) == "2")
    }

    @Test(
        "lookups that wait for an epoch share one read and one write of it", .requirement("T9"),
        arguments: [true, false])
    func joined(_ isNew: Bool) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        if !isNew { try await Machine(server).get(origin.url("/a")) }
        func count(_ method: HTTPRequest.Method) -> Int {
            server.requests.filter { $0.path.contains("/epoch/") && $0.method == method }.count
        }
        let before = (reads: count(.get), writes: count(.put))
        // Advances with each reading, so that no two events have the same time.
        let uptime = Mutex(Duration.zero)
        let machine = try Machine(server) {
            $0.epochLifetime = .seconds(5)
            $0.uptime = {
                uptime.withLock { uptime in
                    uptime += .nanoseconds(1)
                    return uptime
                }
            }
        }
        let (epochs, rest) = (Gate(), Gate())
        rest.open()
        server.setFault { request in
            await (request.path.contains("/epoch/") ? epochs : rest).wait()
            return nil
        }
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<10 { group.addTask { try await load(machine, origin) } }
            // Two more requests for each lookup.
            await rest.reached(20)
            epochs.open()
            for try await body in group { #expect(body == "a") }
        }
        // A lookup may read a new epoch again before its write.
        #expect(isNew ? count(.get) >= before.reads + 4 : count(.get) == before.reads + 4)
        #expect(count(.put) == before.writes + (isNew ? 4 : 0))
    }
}

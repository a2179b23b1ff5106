import CacheLoader
import CacheStoreTesting
import CacheTier
import Foundation
import HTTPTypes
import LoopbackOrigin
import Synchronization
import TestSupport
import Testing

@Suite("Leases of one machine", .timeLimit(.minutes(20)))
struct LeaseTests {
    private static let deadline = Duration.milliseconds(50)

    /// A machine whose head deadlines pass once the gate admits them. Pauses of waits take no time.
    private func machine(_ server: ObjectServer, deadlines gate: Gate) throws -> Machine {
        try Machine(leasing: server) {
            $0.deadline = Self.deadline
            $0.writeDeadline = .seconds(3600)
            $0.leaseWait = .milliseconds(200)
            $0.sleep = { duration in
                if duration == Self.deadline { return await gate.wait() }
                if duration > .milliseconds(200) { try await Task.sleep(for: duration) }
            }
        }
    }

    private func readAll(_ response: TransportResponse) async throws -> Data {
        var received = Data()
        while let chunk = try await response.body.next() { received += chunk }
        return received
    }

    @Test(
        "a machine whose transport repeats the PUT of its lease holds the lease, and does not wait for it",
        .requirement("T10"),
        arguments: [false, true])
    func repeatedPut(_ isTakeover: Bool) async throws {
        let server = try await ObjectServer()
        let gate = Gate()
        let origin = try await LoopbackOrigin { request in
            if isTakeover, request.serial == 1 { await gate.wait() }
            return .ok("a".utf8, cacheControl: "max-age=60")
        }
        let dead = Task { isTakeover ? try await Machine(leasing: server).get(origin.url("/a")).body : Data() }
        if isTakeover { await gate.reached(1) }
        server.time += 10
        server.setFault { request in
            // The first of two requests.
            if request.isAboutLease, request.method == .put, server.objects[request.path] == nil {
                server.objects[request.path] = .init(bytes: request.body, lastModified: server.time)
            }
            return nil
        }
        let machine = try machine(server, deadlines: Gate())
        let response = try await machine.send(origin)
        #expect(server.leases.count == 1)
        #expect(try await readAll(response) == Data("a".utf8))
        await machine.tier.waitForWrites()
        let counts = machine.tier.statistics
        #expect(counts.leases == 1)
        #expect(counts.writes == 1)
        #expect(counts.waits == (isTakeover ? 1 : 0))
        #expect(server.leases.isEmpty)
        gate.open()
        _ = try await dead.value
    }

    @Test("a lease that the machine could not read after a repeated PUT ends with its load", .requirement("T10"))
    func repeatedPutWithoutLook() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let hasFailed = Mutex(false)
        server.setFault { request in
            guard request.isAboutLease else { return nil }
            if request.method == .put, server.objects[request.path] == nil {
                server.objects[request.path] = .init(bytes: request.body, lastModified: server.time)
            }
            let isFirstLook = request.method == .get && !hasFailed.withLock { $0 }
            if isFirstLook { hasFailed.withLock { $0 = true } }
            return isFirstLook ? .status(.serviceUnavailable) : nil
        }
        let machine = try Machine(leasing: server)
        let response = try await machine.send(origin)
        #expect(server.leases.count == 1)
        #expect(try await readAll(response) == Data("a".utf8))
        await machine.tier.waitForWrites()
        #expect(machine.tier.statistics.waits == 0)
        #expect(machine.tier.statistics.writes == 1)
        #expect(server.leases.isEmpty)
    }

    @Test(
        "a lease whose PUT has no answer delays its load by the deadline; if taken, it ends with the load",
        .requirement("T10"),
        arguments: [true, false])
    func unanswered(_ isOwn: Bool) async throws {
        let server = try await ObjectServer()
        let (gate, silence, deadlines) = (Gate(), Gate(), Gate())
        let origin = try await LoopbackOrigin { request in
            if !isOwn, request.serial == 1 { await gate.wait() }
            return .ok("a".utf8, cacheControl: "max-age=60")
        }
        let other = Task { isOwn ? Data() : try await Machine(leasing: server).get(origin.url("/a")).body }
        if !isOwn { await gate.reached(1) }
        server.setFault { request in
            guard request.isAboutLease, request.method == .put else { return nil }
            if isOwn { server.objects[request.path] = .init(bytes: request.body, lastModified: server.time) }
            deadlines.admit()
            await silence.wait()
            return .status(.created)
        }
        let machine = try machine(server, deadlines: deadlines)
        let response = try await machine.send(origin)
        #expect(server.leases.count == 1)
        #expect(try await readAll(response) == Data("a".utf8))
        await machine.tier.waitForWrites()
        #expect(server.leases.isEmpty == isOwn)
        let counts = machine.tier.statistics
        #expect(counts.leases == 0)
        #expect(counts.waits == 0)
        #expect(counts.writes == 1)
        #expect(counts.timeouts == 0)
        #expect(counts.errors == 0)
        silence.open()
        gate.open()
        _ = try await other.value
    }

    @Test(
        "an unanswered DELETE of a lease delays no load and no end of another lease", .requirement("T10"),
        arguments: [true, false])
    func hangingDelete(_ isGivenUp: Bool) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok(Data.noise(200_000, seed: 1), cacheControl: "max-age=60") }
        let (gate, first) = (Gate(), FirstTime())
        server.setFault { request in
            guard request.isAboutLease, request.method == .delete, first.isFirst() else { return nil }
            await gate.wait()
            return nil
        }
        let machine = try Machine(leasing: server)
        do {
            let response = try await machine.send(origin)
            if !isGivenUp { _ = try await readAll(response) }
        }
        await gate.reached(1)
        for path in ["/b", "/c"] {
            #expect(try await readAll(machine.send(origin, path)).count == 200_000)
        }
        await until { machine.tier.statistics.writes == (isGivenUp ? 2 : 3) && server.leases.count == 1 }
        gate.open()
        await machine.tier.waitForWrites()
        #expect(server.leases.isEmpty)
    }

    @Test("a machine does not end an expired lease that another machine took over", .requirement("T10"))
    func lateEnd() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "no-store") }
        let gate = Gate()
        let uptime = Mutex(Duration.zero)
        server.setFault { request in
            // Notes of other responses fill both places of the queue.
            if request.isAboutLease, request.method == .put, request.fields[.ifNoneMatch] == nil { await gate.wait() }
            return nil
        }
        let machine = try Machine(leasing: server) { $0.uptime = { uptime.withLock { $0 } } }
        for path in ["/a", "/b", "/c"] { _ = try await machine.send(origin, path) }
        await gate.reached(2)
        uptime.withLock { $0 = .seconds(10) }
        gate.open()
        await machine.tier.waitForWrites()
        let notes = server.requests.filter {
            $0.isAboutLease && $0.method == .put && $0.fields[.ifNoneMatch] == nil
        }
        #expect(notes.count == 2)
    }

    @Test(
        "a request that only the origin may answer takes no lease", .requirement("T10"),
        arguments: [
            ["Pragma": "no-cache"], ["Cache-Control": "no-cache=\"Foo\""], ["If-Match": "\"1\""],
            ["If-Unmodified-Since": "Sun, 06 Nov 1994 08:49:37 GMT"],
        ])
    func onlyOrigin(_ fields: [String: String]) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let machine = try Machine(leasing: server)
        let sent = HTTPFields(
            try fields.map { HTTPField(name: try #require(HTTPField.Name($0.key)), value: $0.value) })
        _ = try await readAll(machine.send(origin, "/a", sent))
        #expect(server.requests.filter(\.isAboutLease).isEmpty)
    }

    @Test("a lease lasts at least two seconds, because engines count whole seconds", .requirement("T10"))
    func shortLifetime() async throws {
        let server = try await ObjectServer()
        let gate = Gate()
        let origin = try await LoopbackOrigin.holding(gate)
        let machines = try (0..<2).map { _ in try Machine(leasing: server) { $0.leaseLifetime = .milliseconds(500) } }
        async let first = machines[0].get(origin.url("/a")).body
        await gate.reached(1)
        async let second = machines[1].get(origin.url("/a")).body
        await until { machines[1].tier.statistics.waits == 1 || origin.requestCount == 2 }
        gate.open()
        _ = try await (first, second)
        #expect(origin.requestCount == 1)
        #expect(server.leases.isEmpty)
    }

    @Test(
        "a load cancelled while it takes its lease deletes the lease, and is no verdict on the engine",
        .requirement("T6", "T10"))
    func cancellation() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
        let machine = try Machine(leasing: server)
        let gate = Gate()
        server.setFault { request in
            guard request.isAboutLease, request.method == .put else { return nil }
            server.objects[request.path] = .init(bytes: request.body, lastModified: server.time)
            await gate.wait()
            return .status(.created)
        }
        var loads: [Task<Void, any Error>] = []
        // As many as the threshold of the breaker.
        for number in 1...5 {
            loads.append(Task { _ = try await machine.send(origin, "/\(number)") })
            await gate.reached(number)
        }
        #expect(server.leases.count == 5)
        for load in loads { load.cancel() }
        for load in loads {
            await #expect(throws: TransportError.self) { try await load.value }
        }
        await machine.tier.waitForWrites()
        #expect(server.leases.isEmpty)
        gate.open()
        let counts = machine.tier.statistics
        #expect(counts.timeouts == 0)
        #expect(counts.errors == 0)
        #expect(counts.leases == 0)
        #expect(!machine.tier.isBreakerOpen)
        #expect(origin.requestCount == 0)
    }

    @Test(
        "the lease ends after a 304 of the origin, whether it freshens the record or not", .requirement("T10"),
        arguments: [true, false])
    func freshening(_ isStrong: Bool) async throws {
        let server = try await ObjectServer()
        let tag = isStrong ? "\"1\"" : "W/\"1\""
        let origin = try await LoopbackOrigin { request in
            var reply = OriginReply.ok("a".utf8, cacheControl: "max-age=60", etag: tag)
            if request.fields[.ifNoneMatch] != nil {
                reply.status = .notModified
                reply.body = []
            }
            return reply
        }
        try await Machine(leasing: server).get(origin.url("/a"))
        server.time += 61
        let machine = try Machine(leasing: server)
        let requestCount = server.requests.count
        #expect(try await machine.send(origin, "/a", [.ifNoneMatch: tag]).head.status == .notModified)
        await machine.tier.waitForWrites()
        let changes = server.requests.dropFirst(requestCount).filter {
            $0.method != .get && ($0.isAboutLease || $0.path.contains("/resp/"))
        }
        #expect(changes.map(\.method) == (isStrong ? [.put, .put, .delete] : [.put, .delete]))
        #expect(machine.tier.statistics.writes == (isStrong ? 1 : 0))
        #expect(server.leases.isEmpty)
    }

    @Test("variants have separate leases once the tier knows the names in Vary", .requirement("T10"))
    func variants() async throws {
        let server = try await ObjectServer()
        let gate = Gate()
        let origin = try await LoopbackOrigin { request in
            let language = request.fields[.acceptLanguage] ?? ""
            if language == "de" { await gate.wait() }
            var reply = OriginReply.ok(language.utf8, cacheControl: "max-age=60")
            reply.fields[.vary] = "Accept-Language"
            return reply
        }
        try await Machine(leasing: server).get(origin.url("/a"), [.acceptLanguage: "fr"])
        let machines = try (0..<3).map { _ in try Machine(leasing: server) { $0.leaseWait = .milliseconds(200) } }
        async let first = machines[0].get(origin.url("/a"), [.acceptLanguage: "de"]).body
        await gate.reached(1)
        #expect(try await machines[1].get(origin.url("/a"), [.acceptLanguage: "en"]).body == Data("en".utf8))
        #expect(machines[1].tier.statistics.waits == 0)
        #expect(machines[1].tier.statistics.leases == 1)
        async let third = machines[2].get(origin.url("/a"), [.acceptLanguage: "de"]).body
        await until { machines[2].tier.statistics.waits + machines[2].tier.statistics.leases == 1 }
        #expect(machines[2].tier.statistics.waits == 1)
        gate.open()
        #expect(try await [first, third] == [Data("de".utf8), Data("de".utf8)])
    }

    @Test(
        "a load that outlives its lease does not delete the lease of another machine", .requirement("T10"),
        arguments: [(9.0, false), (9.5, true)], [true, false])
    func longLoad(_ c: (seconds: Double, isOver: Bool), isGivenUp: Bool) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok(Data.noise(200_000, seed: 1), cacheControl: "max-age=60") }
        let uptime = Mutex(Duration.zero)
        let machine = try Machine(leasing: server) { $0.uptime = { uptime.withLock { $0 } } }
        do {
            let response = try await machine.send(origin)
            #expect(server.leases.count == 1)
            uptime.withLock { $0 = .seconds(c.seconds) }
            if !isGivenUp { _ = try await readAll(response) }
        }
        await machine.tier.waitForWrites()
        #expect(machine.tier.statistics.writes == (isGivenUp ? 0 : 1))
        #expect(server.leases.isEmpty != c.isOver)
    }

    @Test(
        "after a conflict (409) with another conditional write, a machine waits only if a lease exists",
        .requirement("T10"),
        arguments: [true, false])
    func conflict(_ hasOther: Bool) async throws {
        let server = try await ObjectServer()
        let gate = Gate()
        let origin = try await LoopbackOrigin { request in
            if hasOther, request.serial == 1 { await gate.wait() }
            return .ok("a".utf8, cacheControl: "max-age=60")
        }
        let other = Task { hasOther ? try await Machine(leasing: server).get(origin.url("/a")).body : Data() }
        if hasOther { await gate.reached(1) }
        server.setFault { $0.isAboutLease && $0.method == .put ? .status(.conflict) : nil }
        let machine = try Machine(leasing: server)
        async let body = machine.get(origin.url("/a")).body
        await until { machine.tier.statistics.waits == 1 || origin.requestCount == (hasOther ? 2 : 1) }
        gate.open()
        #expect(try await body == Data("a".utf8))
        _ = try await other.value
        let counts = machine.tier.statistics
        #expect(counts.waits == 1)
        #expect(counts.leases == 0)
        #expect(counts.waitedHits == (hasOther ? 1 : 0))
        #expect(origin.requestCount == 1)
    }
}

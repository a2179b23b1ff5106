import CacheLoader
import CacheTier
import Foundation
import HTTPTypes
import LoopbackOrigin
import Synchronization
import TestSupport
import Testing

@Suite("Machines that miss the same response", .timeLimit(.minutes(20)))
struct StampedeTests {
    @Test("one of eight machines asks the origin, and the others wait for its response", .requirement("T10"))
    func fleet() async throws {
        let server = try await ObjectServer()
        let gate = Gate()
        let origin = try await LoopbackOrigin { _ in
            await gate.wait()
            return .ok("a".utf8, cacheControl: "max-age=86400")
        }
        let machines = try (0..<8).map { _ in try Machine(leasing: server) }
        try await withThrowingTaskGroup(of: Data.self) { group in
            for machine in machines {
                for _ in 0..<50 { group.addTask { try await machine.get(origin.url("/a")).body } }
            }
            await until { machines.map(\.tier.statistics.waits).reduce(0, +) >= 7 }
            gate.open()
            for try await body in group { #expect(body == Data("a".utf8)) }
        }
        #expect(origin.requestCount == 1)
        let counts = machines.map(\.tier.statistics)
        #expect(counts.map(\.leases).reduce(0, +) == 1)
        #expect(counts.map(\.misses).reduce(0, +) == 1)
        #expect(counts.map(\.waitedHits).reduce(0, +) == 7)
        #expect(server.names("lease").isEmpty)
    }

    @Test(
        "on an engine that ignores or refuses conditions, each of eight machines asks the origin once",
        .requirement("T10"),
        arguments: [nil, 501, 405, 400])
    func withoutConditions(_ code: Int?) async throws {
        let server = try await ObjectServer()
        server.ignoresConditions = true
        server.setFault { request in
            guard let code, request.fields[.ifNoneMatch] != nil else { return nil }
            return .status(HTTPResponse.Status(code: code))
        }
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=86400") }
        let machines = try (0..<8).map { _ in try Machine(leasing: server) }
        try await withThrowingTaskGroup(of: Data.self) { group in
            for machine in machines {
                for _ in 0..<20 { group.addTask { try await machine.get(origin.url("/a")).body } }
            }
            for try await body in group { #expect(body == Data("a".utf8)) }
        }
        #expect(origin.requestCount <= 8)
        // The first lease detects it.
        let asking = machines.filter { $0.tier.statistics.leases > 0 }
        #expect(asking.allSatisfy { !$0.tier.hasConditionalWrites })
        if code == 501 || code == 405 { #expect(machines.contains { !$0.tier.hasConditionalWrites }) }
        #expect(machines.contains { $0.tier.statistics.writes > 0 })
        #expect(asking.isEmpty == (code != nil))
        #expect(machines.allSatisfy { $0.tier.statistics.waits == 0 })
        let requestCount = server.requests.filter { $0.fields[.ifNoneMatch] != nil }.count
        if let machine = asking.first { try await machine.get(origin.url("/b")) }
        #expect(server.requests.filter { $0.fields[.ifNoneMatch] != nil }.count == requestCount)
        #expect(server.names("lease").isEmpty)
    }

    @Test("check detects whether an engine honours conditions", .requirement("T10"), arguments: [true, false])
    func check(_ ignoresConditions: Bool) async throws {
        let server = try await ObjectServer()
        server.ignoresConditions = ignoresConditions
        let machine = try Machine(leasing: server)
        try await machine.tier.check()
        #expect(machine.tier.hasConditionalWrites != ignoresConditions)
        #expect(server.objects.isEmpty)
    }

    struct Unwritten: Sendable, CustomTestStringConvertible {
        let name: String
        let reply: OriginReply
        var leavesNote = true
        var testDescription: String { name }
    }

    @Test(
        "a response that the tier does not store releases the waiting machines immediately", .requirement("T10"),
        arguments: [
            Unwritten(name: "no-store", reply: .ok("a".utf8, cacheControl: "no-store")),
            Unwritten(name: "private", reply: .ok("a".utf8, cacheControl: "private, max-age=60")),
            Unwritten(name: "too long", reply: .ok("a longer body".utf8, cacheControl: "max-age=60")),
            Unwritten(name: "client error", reply: .status(.forbidden)),
            Unwritten(name: "too many requests", reply: .status(.tooManyRequests), leavesNote: false),
            Unwritten(name: "server error", reply: .status(.internalServerError), leavesNote: false),
            Unwritten(name: "no response", reply: OriginReply().delivered(.resetBeforeHead), leavesNote: false),
            Unwritten(
                name: "a body that breaks off",
                reply: OriginReply(fields: [.cacheControl: "max-age=60"], body: Array("abc".utf8))
                    .delivered(.declaring(length: 6)), leavesNote: false),
        ])
    func released(_ c: Unwritten) async throws {
        let server = try await ObjectServer()
        let gate = Gate()
        let origin = try await LoopbackOrigin.holding(gate, c.reply)
        let first = try Machine(leasing: server) { $0.maxBodyBytes = 8 }
        let second = try Machine(leasing: server) { $0.maxBodyBytes = 8 }
        let loads = [first, second].map { machine in
            { @Sendable in _ = try? await machine.get(origin.url("/a")) }
        }
        async let one: Void = loads[0]()
        await gate.reached(1)
        async let two: Void = loads[1]()
        await until { second.tier.statistics.waits == 1 }
        gate.open()
        _ = await (one, two)
        #expect(origin.requestCount >= 2)
        #expect(second.tier.statistics.waitedHits == 0)
        #expect(second.tier.statistics.misses == 1)
        await first.tier.waitForWrites()
        await second.tier.waitForWrites()
        if c.leavesNote {
            #expect(server.names("lease").count == 1)
        } else {
            await until { server.names("lease").isEmpty }
        }
    }

    @Test("an abandoned load or a failed write ends the lease", .requirement("T10"), arguments: [true, false])
    func abandoned(_ isGivenUp: Bool) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok(Data.noise(200_000, seed: 1), cacheControl: "max-age=60") }
        let machine = try Machine(leasing: server)
        if isGivenUp {
            #expect(try await machine.send(origin).head.status == .ok)
        } else {
            server.setFault { request in
                let isBody = request.method == .put && request.path.contains("/cas/")
                return isBody ? .status(HTTPResponse.Status(code: 507)) : nil
            }
            try await machine.get(origin.url("/a"))
        }
        await until { server.names("lease").isEmpty }
        #expect(machine.tier.statistics.leases == 1)
        #expect(machine.tier.statistics.writes == 0)
    }

    @Test("the note that waiting is useless lasts for a lease's lifetime, and saves requests", .requirement("T10"))
    func notes() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "no-store") }
        let uptime = Mutex(Duration.zero)
        let (first, second) = (
            try Machine(leasing: server) { $0.uptime = { uptime.withLock { $0 } } },
            try Machine(leasing: server) { $0.uptime = { uptime.withLock { $0 } } }
        )
        func leaseRequests() -> Int {
            server.requests.filter(\.isAboutLease).count
        }
        try await first.get(origin.url("/a"))
        #expect(leaseRequests() == 2)
        try await first.get(origin.url("/a"))
        #expect(leaseRequests() == 2)
        try await second.get(origin.url("/a"))
        #expect(leaseRequests() == 4)
        #expect(second.tier.statistics.leases == 0)
        try await second.get(origin.url("/a"))
        #expect(leaseRequests() == 4)
        uptime.withLock { $0 = .seconds(10) }
        server.time += 10
        try await second.get(origin.url("/a"))
        #expect(second.tier.statistics.leases == 1)
        #expect(origin.requestCount == 5)
    }

    @Test(
        "a machine waits for a lease at most up to its bound, and takes over an expired lease", .requirement("T10"),
        arguments: [9, 10, -11])
    func dead(_ elapsed: Int) async throws {
        let server = try await ObjectServer()
        let gate = Gate()
        let origin = try await LoopbackOrigin.holding(gate)
        let first = try Machine(leasing: server)
        async let stuck = first.get(origin.url("/a"))
        await gate.reached(1)
        server.time += elapsed
        let pauses = Mutex<[Duration]>([])
        let second = try Machine(leasing: server) {
            $0.leaseWait = .milliseconds(200)
            $0.sleep = { duration in
                guard duration <= .milliseconds(200) else { return try await Task.sleep(for: duration) }
                pauses.withLock { $0.append(duration) }
            }
        }
        #expect(try await second.get(origin.url("/a")).body == Data("a".utf8))
        #expect(origin.requestCount == 2)
        let isLive = elapsed == 9
        #expect(pauses.withLock { $0.reduce(.zero, +) } == (isLive ? .milliseconds(200) : .zero))
        #expect(second.tier.statistics.leases == (isLive ? 0 : 1))
        gate.open()
        #expect(try await stuck.body == Data("a".utf8))
    }

    @Test("a forged lease is ignored", .requirement("T4", "T10"))
    func forged() async throws {
        let server = try await ObjectServer()
        let gate = Gate()
        let origin = try await LoopbackOrigin.holding(gate)
        let first = try Machine(leasing: server)
        async let stuck = first.get(origin.url("/a"))
        await gate.reached(1)
        let name = try #require(server.leases.first)
        server.change(name) { $0[40] ^= 1 }
        let second = try Machine(leasing: server)
        try await second.get(origin.url("/a"))
        #expect(second.tier.statistics.leases == 1)
        #expect(second.tier.statistics.refused.forged == 1)
        gate.open()
        _ = try await stuck
    }

    @Test(
        "an engine that does not answer for a lease fails no load, and each machine asks the origin",
        .requirement("T10"))
    func failingLeases() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        for (code, method) in [(500, HTTPRequest.Method.put), (403, .put), (500, .get)] {
            server.objects = [:]
            server.setFault { request in
                guard request.path.contains("/lease/") else { return nil }
                if request.method == method { return .status(HTTPResponse.Status(code: code)) }
                // Another machine has the lease.
                return request.method == .put ? .status(.preconditionFailed) : nil
            }
            let machine = try Machine(leasing: server)
            #expect(try await machine.get(origin.url("/a")).body == Data("a".utf8))
            #expect(machine.tier.statistics.leases == 0)
            #expect(machine.tier.statistics.writes == 1)
        }
    }

    struct Bypass: Sendable, CustomTestStringConvertible {
        let fields: HTTPFields
        var method = HTTPRequest.Method.get
        var testDescription: String { "\(method) \(fields)" }
    }

    @Test(
        "a request that demands the origin's response, or whose response is not stored, neither takes a lease nor waits",
        .requirement("T10"),
        arguments: [
            Bypass(fields: [.cacheControl: "no-cache"]), Bypass(fields: [.cacheControl: "max-age=0"]),
            Bypass(fields: [.cacheControl: "no-store"]), Bypass(fields: [.range: "bytes=0-0"]),
            Bypass(fields: [:], method: .head),
        ])
    func bypass(_ c: Bypass) async throws {
        let server = try await ObjectServer()
        let gate = Gate()
        let origin = try await LoopbackOrigin.holding(gate)
        let first = try Machine(leasing: server)
        async let stuck = first.get(origin.url("/a"))
        await gate.reached(1)
        let second = try Machine(leasing: server)
        #expect(try await second.send(origin, "/a", c.fields, method: c.method).head.status.kind == .successful)
        #expect(second.tier.statistics.waits == 0)
        #expect(second.tier.statistics.leases == 0)
        gate.open()
        _ = try await stuck
    }

    @Test("a request that asks tier and origin concurrently takes no lease", .requirement("T9", "T10"))
    func hedged() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
        let machine = try Machine(leasing: server)
        for number in 0..<HedgingPlan.leastMeasurements + 1 { try await machine.get(origin.url("/\(number)")) }
        #expect(machine.tier.statistics.leases == HedgingPlan.leastMeasurements)
    }
}

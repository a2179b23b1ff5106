import CacheLoader
import CacheTier
import Foundation
import HTTPTypes
import LoopbackOrigin
import Synchronization
import TestSupport
import Testing

@Suite("Removal from a tier")
struct RemovalTests {
    @Test("T8: a removal reaches all machines", arguments: ["partition", "host", "url"])
    func removal(_ kind: String) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let (first, second) = (try Machine(server), try Machine(server))
        try await first.get(origin.url("/a"))
        let scope: TierScope =
            switch kind {
            case "partition": .partition
            case "host": .host(origin.authority)
            default: .url(origin.url("/a"))
            }
        try await second.tier.removeAll(in: scope)
        let third = try Machine(server)
        try await third.get(origin.url("/a"))
        #expect(origin.requestCount == 2)
        #expect(third.tier.statistics.hits == 0)
        try await Machine(server).get(origin.url("/a"))
        #expect(origin.requestCount == 2)
    }

    @Test("T8: a removal of another host or partition removes nothing")
    func otherScope() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        try await Machine(server).get(origin.url("/a"))
        try await Machine(server).tier.removeAll(in: .host("other.example"))
        try await Machine(server) { $0.partition = "b" }.tier.removeAll(in: .partition)
        try await Machine(server).get(origin.url("/a"))
        #expect(origin.requestCount == 1)
    }

    @Test("T8: a fill that began before a removal is never visible after it")
    func race() async throws {
        let server = try await ObjectServer()
        let remover = try Machine(server)
        let origin = try await LoopbackOrigin { request in
            // The origin has read its old state; the removal overtakes the reply.
            if request.serial == 1 { try? await remover.tier.removeAll(in: .partition) }
            return .ok("\(request.serial)".utf8, cacheControl: "max-age=60")
        }
        try await Machine(server).get(origin.url("/a"))
        #expect(server.names("resp").count == 1)
        #expect(try await Machine(server).get(origin.url("/a")).body == Data("2".utf8))
    }

    @Test("T8: the success of an unsafe request removes the responses of its URL")
    func unsafeMethod() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        let machine = try Machine(server)
        try await machine.get(origin.url("/a"))
        try await machine.get(origin.url("/a"), method: .put)
        #expect(try await Machine(server).get(origin.url("/a")).body == Data("3".utf8))
    }

    @Test("T4: an epoch that cannot be read is a miss", arguments: [true, false])
    func unreadable(_ isForged: Bool) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let writer = try Machine(server)
        try await writer.tier.removeAll(in: .partition)
        try await writer.get(origin.url("/a"))
        let name = try #require(server.names("epoch").first)
        if isForged {
            server.objects[name]?.bytes[60] ^= 1
        } else {
            server.setFault { $0.path == name ? .status(.internalServerError) : nil }
        }
        let machine = try Machine(server)
        try await machine.get(origin.url("/a"))
        #expect(origin.requestCount == 2)
        #expect(machine.tier.statistics.hits == 0)
        #expect(machine.tier.statistics.refused.forged == (isForged ? 1 : 0))
    }

    @Test("T8: an epoch is read once in its lifetime")
    func lifetime() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let uptime = Mutex(Duration.zero)
        let machine = try Machine(server) {
            $0.epochLifetime = .seconds(5)
            $0.uptime = { uptime.withLock { $0 } }
        }
        func reads() -> Int { server.requests.filter { $0.path.contains("/epoch/") }.count }
        try await machine.get(origin.url("/a"))
        #expect(reads() == 3)
        uptime.withLock { $0 = .seconds(4.9) }
        try await machine.get(origin.url("/b"))
        #expect((3...4).contains(reads()))
        let before = reads()
        uptime.withLock { $0 = .seconds(10) }
        try await machine.get(origin.url("/c"))
        #expect(reads() > before + 1)
    }

    @Test("T8: in 100,000 interleavings of fills, removals and readers, nothing removed is seen after the lifetime")
    func model() {
        var generator = SeededGenerator()
        var (served, violations) = (0, 0)
        for _ in 0..<100_000 {
            let run = Interleaving.run(using: &generator)
            served += run.served
            violations += run.violations
        }
        #expect(violations == 0, "\(generator)")
        #expect(served > 10_000)
    }
}

/// A model of the protocol: machines share one record and one epoch; each step is one request of one machine.
private struct Interleaving {
    private enum Phase {
        case idle
        case epochRead(String?, start: Duration, isFill: Bool)
        case originAsked(String, version: Int)
        case removing(version: Int)
    }

    private static let lifetime = Duration.seconds(5)

    private var now = Duration.zero
    private var version = 0
    private var epoch = ""
    private var record: (version: Int, epoch: String)?
    /// The versions before which responses are removed, with the times of the removals.
    private var removals: [(version: Int, time: Duration)] = []
    private var tables = [EpochTable](repeating: EpochTable(lifetime: lifetime), count: 4)
    private var phases = [Phase](repeating: .idle, count: 4)
    private(set) var served = 0
    private(set) var violations = 0

    static func run(using generator: inout SeededGenerator) -> Interleaving {
        var model = Interleaving()
        for _ in 0..<24 {
            let random = generator.next()
            model.now += .milliseconds(Int(random >> 8 & 0x7FF))
            model.step(Int(random & 3), Int(random >> 2 & 0x3F))
        }
        return model
    }

    private mutating func step(_ machine: Int, _ choice: Int) {
        switch phases[machine] {
        case .idle where choice < 12:
            // The origin changes, and then the removal is written.
            version += 1
            phases[machine] = .removing(version: version)
        case .idle:
            let read =
                tables[machine].current("e", at: now) ?? tables[machine].note(epoch, of: "e", at: now)
            phases[machine] = .epochRead(read, start: now, isFill: choice < 38)
        case .removing(let version):
            epoch = "\(removals.count + 1)"
            _ = tables[machine].note(epoch, of: "e", at: now)
            removals.append((version, now))
            phases[machine] = .idle
        case .epochRead(let read?, _, isFill: true):
            phases[machine] = .originAsked(read, version: version)
        case .originAsked(let read, let version):
            record = (version, read)
            phases[machine] = .idle
        case .epochRead(let read, let start, isFill: false):
            phases[machine] = .idle
            guard let record, record.epoch == read else { return }
            served += 1
            let isRemoved = removals.contains { record.version < $0.version && $0.time <= start - Self.lifetime }
            if isRemoved { violations += 1 }
        case .epochRead(nil, _, isFill: true):
            phases[machine] = .idle
        }
    }
}

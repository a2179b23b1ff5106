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
    @Test("a removal reaches all machines", .requirement("T8"), arguments: ["partition", "host", "url"])
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

    @Test("a removal of another host or partition has no effect", .requirement("T8"))
    func otherScope() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        try await Machine(server).get(origin.url("/a"))
        try await Machine(server).tier.removeAll(in: .host("other.example"))
        try await Machine(server) { $0.partition = "b" }.tier.removeAll(in: .partition)
        try await Machine(server).get(origin.url("/a"))
        #expect(origin.requestCount == 1)
    }

    @Test("a fill that began before a removal is never visible after it", .requirement("T8"))
    func race() async throws {
        let server = try await ObjectServer()
        let remover = try Machine(server)
        let origin = try await LoopbackOrigin { request in
            // The origin read its old state; the removal overtakes the reply.
            if request.serial == 1 { try? await remover.tier.removeAll(in: .partition) }
            return .ok("\(request.serial)".utf8, cacheControl: "max-age=60")
        }
        try await Machine(server).get(origin.url("/a"))
        #expect(server.names("resp").count == 1)
        #expect(try await Machine(server).get(origin.url("/a")).body == Data("2".utf8))
    }

    @Test("the success of an unsafe request removes the responses of its URL", .requirement("T8"))
    func unsafeMethod() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        let machine = try Machine(server)
        try await machine.get(origin.url("/a"))
        try await machine.get(origin.url("/a"), method: .put)
        #expect(try await Machine(server).get(origin.url("/a")).body == Data("3".utf8))
    }

    @Test(
        "an unreadable epoch is a miss; an unauthenticated one is replaced", .requirement("T4"),
        arguments: [true, false])
    func unreadable(_ isForged: Bool) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let writer = try Machine(server)
        try await writer.tier.removeAll(in: .partition)
        let name = try #require(server.names("epoch").first)
        try await writer.get(origin.url("/a"))
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
        guard isForged else { return }
        // The machine that could not read the epoch replaced it.
        try await Machine(server).get(origin.url("/a"))
        #expect(origin.requestCount == 2)
    }

    @Test(
        "after the engine is restored to an older state, a running machine replaces the older epochs",
        .requirement("T8"),
        arguments: [29, 31])
    func setBack(_ seconds: Int) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=6000") }
        let uptime = Mutex(Duration.zero)
        let machine = try Machine(server) { $0.uptime = { uptime.withLock { $0 } } }
        try await machine.get(origin.url("/a"))
        let before = server.objects
        try await machine.tier.removeAll(in: .partition)
        uptime.withLock { $0 = .seconds(seconds) }
        server.objects = before
        // A copy of the engine may lag by less than 30 seconds.
        let isReplaced = seconds > 30
        try await machine.get(origin.url("/a"), [.cacheControl: "no-cache"])
        #expect(origin.requestCount == 2)
        #expect(machine.tier.statistics.newEpochs == (isReplaced ? 5 : 4))
        let other = try await Machine(server).get(origin.url("/a")).body
        #expect(other == Data((isReplaced ? "2" : "1").utf8))
        #expect(origin.requestCount == 2)
    }

    @Test("an epoch is read once per lifetime", .requirement("T8"))
    func lifetime() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let uptime = Mutex(Duration.zero)
        let machine = try Machine(server) {
            $0.epochLifetime = .seconds(5)
            $0.uptime = { uptime.withLock { $0 } }
        }
        func reads() -> Int { server.requests.filter { $0.path.contains("/epoch/") && $0.method == .get }.count }
        try await machine.get(origin.url("/a"))
        // The engine lacks four epochs; each is read again after its write.
        #expect(reads() == 8)
        uptime.withLock { $0 = .seconds(4.9) }
        try await machine.get(origin.url("/b"))
        // The URL may belong to another group.
        #expect(reads() == 8 || reads() == 10)
        let before = reads()
        uptime.withLock { $0 = .seconds(10) }
        try await machine.get(origin.url("/c"))
        #expect(reads() > before + 1)
    }

    @Test("the age of an epoch in a cache in front of the engine counts towards its lifetime", .requirement("T8"))
    func cachedEpoch() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8, cacheControl: "max-age=60") }
        try await Machine(server).get(origin.url("/a"))
        server.setFault { request in
            guard request.path.contains("/epoch/"), let object = server.objects[request.path] else { return nil }
            return OriginReply(
                fields: [.lastModified: OriginDate.text(secondsSince1970: object.lastModified), .age: "4"],
                body: object.bytes)
        }
        let uptime = Mutex(Duration.zero)
        let machine = try Machine(server) {
            $0.epochLifetime = .seconds(5)
            $0.uptime = { uptime.withLock { $0 } }
        }
        func load() async throws -> Data {
            let response = try await TieredTransport(tier: machine.tier, origin: DefaultTransport()).send(
                HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/a"), content: nil)
            return try await response.body.next() ?? Data()
        }
        #expect(try await load() == Data("1".utf8))
        server.setFault(nil)
        try await Machine(server).tier.removeAll(in: .partition)
        uptime.withLock { $0 = .seconds(1) }
        #expect(try await load() == Data("2".utf8))
    }

    @Test("after a removal, the removing machine ignores reads that began during its write", .requirement("T8"))
    func readDuringWrite() {
        var table = EpochTable(lifetime: .seconds(5))
        table.wrote("0", to: "e", from: .seconds(0), to: .seconds(1))
        #expect(table.note("0", of: "e", at: .seconds(3), .init(uptime: .seconds(4), stamp: nil)) == .value("0"))
        table.wrote("1", to: "e", from: .seconds(2), to: .seconds(5))
        #expect(table.current("e", at: .seconds(5)) == nil)
        #expect(table.note("0", of: "e", at: .seconds(1), .init(uptime: .seconds(6), stamp: nil)) == .unsettled)
        #expect(table.note("0", of: "e", at: .seconds(4), .init(uptime: .seconds(6), stamp: nil)) == .unsettled)
        #expect(table.note("1", of: "e", at: .seconds(5), .init(uptime: .seconds(6), stamp: nil)) == .value("1"))
        #expect(table.current("e", at: .seconds(6)) == "1")
        // A value that was read before another write ended.
        _ = table.note("2", of: "e", at: .seconds(8), .init(uptime: .seconds(9), stamp: nil))
        table.wrote("3", to: "e", from: .seconds(7), to: .seconds(10))
        table.wrote("2", to: "e", from: .seconds(7), to: .seconds(11))
        #expect(table.current("e", at: .seconds(11)) == nil)
    }
}

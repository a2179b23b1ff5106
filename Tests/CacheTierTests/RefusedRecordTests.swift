import CacheTier
import TestSupport

/// A record in the tier that the machines' loaders refuse, such as the page of a captive portal.
@Suite("Records of a tier that loaders refuse", .timeLimit(.minutes(5))) struct RefusedRecordTests {
    private struct NoNumber: Error {}

    private let number = ClosureProcessor<Data, Int>(ProcessorID("number")) { data, _ in
        guard let number = Int(String(decoding: data, as: UTF8.self)) else { throw NoNumber() }
        return number
    }

    /// A loader with an empty store.
    private func loader(_ machine: Machine) throws -> ResourceLoader {
        var configuration = ResourceLoader.Configuration()
        configuration.retry = .never
        configuration.contentTypes = ["text/plain"]
        let transport = TieredTransport(tier: machine.tier, origin: DefaultTransport())
        return ResourceLoader(store: try .temporary(), transport: transport, configuration: configuration)
    }

    private struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reply: OriginReply
    }

    private static func page(_ fields: HTTPFields) -> OriginReply {
        var reply = OriginReply.ok("portal".utf8, cacheControl: "max-age=86400", contentType: "text/plain")
        for field in fields { reply.fields[field.name] = field.value }
        return reply
    }

    private static let cases = [
        Case(testDescription: "refused by the processor", reply: page([:])),
        Case(testDescription: "undecodable", reply: page([.contentEncoding: "gzip"])),
        Case(testDescription: "of a refused type", reply: page([.contentType: "text/html"])),
    ]

    /// Returns an origin that answers once with a page, and afterwards with 42.
    private func origin(_ page: OriginReply) async throws -> LoopbackOrigin {
        try await LoopbackOrigin { request in
            request.serial == 1
                ? page : .ok("42".utf8, cacheControl: "max-age=86400", contentType: "text/plain")
        }
    }

    @Test("A refused record is replaced: the load succeeds, and so does the next machine's", arguments: cases)
    private func record(_ page: Case) async throws {
        let server = try await ObjectServer()
        let origin = try await origin(page.reply)
        try await Machine(server).get(origin.url("/a"), [.acceptEncoding: "gzip, deflate"])
        let poisoned = server.objects.filter { $0.key.contains("/v2/resp/") }.mapValues(\.bytes)
        let machine = try Machine(server)
        let loaded = try await loader(machine).load(origin.url("/a"), as: number)
        await machine.tier.waitForWrites()
        #expect(loaded.value == 42)
        #expect(origin.requestCount == 2)
        #expect(machine.tier.statistics.hits == 1, "the page")
        let replaced = server.objects.filter { $0.key.contains("/v2/resp/") }.mapValues(\.bytes)
        #expect(replaced.keys.sorted() == poisoned.keys.sorted())
        #expect(replaced != poisoned)
        let second = try Machine(server)
        let shared = try await loader(second).load(origin.url("/a"), as: number)
        #expect(shared.value == 42)
        #expect(shared.headerFields.contains(.age))
        #expect(second.tier.statistics.hits == 1)
        #expect(origin.requestCount == 2)
    }

    @Test("A page that a prefetch stored in the machine and in the tier is replaced in both")
    func prefetched() async throws {
        let server = try await ObjectServer()
        let origin = try await origin(Self.page([:]))
        let machine = try Machine(server)
        let loader = try loader(machine)
        #expect(await loader.prefetch([ResourceRequest(origin.url("/a"))]).finished().loaded == 1)
        await machine.tier.waitForWrites()
        #expect(try await loader.load(origin.url("/a"), as: number).value == 42)
        await machine.tier.waitForWrites()
        #expect(try await loader.load(origin.url("/a"), as: number).source == .disk)
        #expect(try await self.loader(Machine(server)).load(origin.url("/a"), as: number).value == 42)
        #expect(origin.requestCount == 2)
    }
}

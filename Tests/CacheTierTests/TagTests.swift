import CacheLoader
import CacheTier
import Foundation
import HTTPTypes
import LoopbackOrigin
import Synchronization
import TestSupport
import Testing

@Suite("Removal by tag")
struct TagTests {
    /// An origin whose responses have these tags, and their serial numbers as bodies.
    private func origin(
        _ tags: [String], before reply: @escaping @Sendable (OriginRequest) async -> Void = { _ in }
    ) async throws -> LoopbackOrigin {
        let name = try #require(HTTPField.Name("Cache-Groups"))
        let invalidation = try #require(HTTPField.Name("Cache-Group-Invalidation"))
        let list = tags.map { "\"\($0)\"" }.joined(separator: ", ")
        return try await LoopbackOrigin { request in
            await reply(request)
            var response = OriginReply.ok("\(request.serial)".utf8, cacheControl: "max-age=600")
            response.fields[request.method == .get ? name : invalidation] = list
            return response
        }
    }

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

    struct Removal: Sendable, CustomTestStringConvertible {
        let name: String
        let tag: String
        var host: String?
        var partition = ""
        let isRemoved: Bool
        var testDescription: String { name }
    }

    @Test(
        "a removal by tag reaches all machines, and leaves other responses", .requirement("T11"),
        arguments: [
            Removal(name: "first tag", tag: "one", isRemoved: true),
            Removal(name: "last tag", tag: "two", isRemoved: true),
            Removal(name: "another tag", tag: "three", isRemoved: false),
            Removal(name: "another case", tag: "One", isRemoved: false),
            Removal(name: "another origin", tag: "one", host: "other.example", isRemoved: false),
            Removal(name: "another partition", tag: "one", partition: "b", isRemoved: false),
        ])
    func removal(_ c: Removal) async throws {
        let server = try await ObjectServer()
        let origin = try await origin(["one", "two"])
        #expect(try await load(Machine(server), origin) == "1")
        #expect(try await load(Machine(server), origin) == "1")
        let remover = try Machine(server) { $0.partition = c.partition }
        try await remover.tier.removeAll(in: .tag(c.tag, origin: "HTTP://\(c.host ?? origin.authority)/page"))
        #expect(try await load(Machine(server), origin) == (c.isRemoved ? "2" : "1"))
        #expect(try await load(Machine(server), origin) == (c.isRemoved ? "2" : "1"))
        for name in server.objects.keys {
            #expect(!name.contains("one"))
            #expect(!name.contains("two"))
        }
    }

    @Test(
        "a fill that began before a removal by tag is never visible after it, for known and new tags",
        .requirement("T11"),
        arguments: [true, false])
    func race(_ isKnown: Bool) async throws {
        let server = try await ObjectServer()
        let remover = try Machine(server)
        let authority = Mutex("")
        let origin = try await origin(["one"]) { request in
            // The origin read its old state; the removal overtakes the reply.
            guard request.path == "/a", request.serial == (isKnown ? 2 : 1) else { return }
            try? await remover.tier.removeAll(in: .tag("one", origin: "http://\(authority.withLock { $0 })"))
        }
        authority.withLock { $0 = origin.authority }
        if isKnown { _ = try await load(Machine(server), origin, "/b") }
        let machine = try Machine(server)
        let first = try await load(machine, origin)
        #expect(machine.tier.statistics.droppedWrites == 1)
        #expect(machine.tier.statistics.writes == 0)
        #expect(try await load(Machine(server), origin) != first)
    }

    @Test("a response with more than 32 tags is not written, and is counted", .requirement("T11"), arguments: [32, 33])
    func bound(_ count: Int) async throws {
        let server = try await ObjectServer()
        let origin = try await origin((0..<count).map { "t\($0)" })
        let machine = try Machine(server)
        #expect(try await load(machine, origin) == "1")
        #expect(machine.tier.statistics.droppedWrites == count - 32)
        #expect(try await load(Machine(server), origin) == (count == 32 ? "1" : "2"))
    }

    @Test(
        "a lost, forged or unreadable epoch of a tag is a miss", .requirement("T11"),
        arguments: ["lost", "forged", "unreadable"])
    func unusable(_ kind: String) async throws {
        let server = try await ObjectServer()
        let origin = try await origin(["one"])
        #expect(try await load(Machine(server), origin) == "1")
        let name = try #require(server.names("tag").first)
        switch kind {
        case "lost": server.objects[name] = nil
        case "forged": server.objects[name]?.bytes[60] ^= 1
        default: server.setFault { $0.path == name ? .status(.internalServerError) : nil }
        }
        let reader = try Machine(server, keys: Self.readers.get())
        #expect(try await load(reader, origin) == "2")
        #expect(reader.tier.statistics.errors == (kind == "unreadable" ? 1 : 0))
        let writer = try Machine(server)
        #expect(try await load(writer, origin) == "3")
        #expect(try await load(Machine(server), origin) == (kind == "unreadable" ? "4" : "3"))
    }

    @Test(
        "the success of an unsafe request removes the tags that its response names", .requirement("T11"),
        arguments: [true, false])
    func unsafe(_ canWrite: Bool) async throws {
        let server = try await ObjectServer()
        let origin = try await origin(["one"])
        #expect(try await load(Machine(server), origin) == "1")
        let machine = try Machine(server, keys: canWrite ? nil : Self.readers.get())
        #expect(try await load(machine, origin) == "1")
        #expect(try await load(machine, origin, "/other", method: .post) == "2")
        #expect(try await load(machine, origin) == "3")
        // A read-only machine does not inform other machines.
        #expect(try await load(Machine(server), origin) == (canWrite ? "3" : "1"))
    }

    @Test(
        "a removal by tag throws if either of its two epochs is not recorded", .requirement("T11"),
        arguments: ["epoch", "tag"])
    func failing(_ folder: String) async throws {
        let server = try await ObjectServer()
        let machine = try Machine(server)
        server.setFault { request in
            let isFailing = request.method == .put && request.path.contains("/\(folder)/")
            return isFailing ? .status(.internalServerError) : nil
        }
        await #expect(throws: TierError.self) {
            try await machine.tier.removeAll(in: .tag("one", origin: "http://example.com"))
        }
        // The common epoch comes first.
        #expect(server.names("epoch").count == (folder == "epoch" ? 0 : 1))
        #expect(server.names("tag").isEmpty)
    }

    @Test("the epochs of tags are read once per lifetime", .requirement("T11"))
    func lifetime() async throws {
        let server = try await ObjectServer()
        let origin = try await origin(["one", "two"])
        for path in ["/a", "/b"] { _ = try await load(Machine(server), origin, path) }
        let machine = try Machine(server) { $0.epochLifetime = .seconds(5) }
        func reads() -> Int { server.requests.filter { $0.path.contains("/tag/") && $0.method == .get }.count }
        let before = reads()
        for path in ["/a", "/b", "/a"] { _ = try await load(machine, origin, path) }
        #expect(machine.tier.statistics.hits == 3)
        #expect(reads() == before + 2)
    }
}

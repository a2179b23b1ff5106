import CacheTier
import Crypto
import TestSupport

@Suite("Replies of the origin that the tier does not keep", .timeLimit(.minutes(5))) struct OriginReplyTests {
    struct Later: Sendable, CustomTestStringConvertible {
        let name: String
        var reply = OriginReply.ok("2".utf8, cacheControl: "max-age=600")
        var fields: HTTPFields = [.cacheControl: "no-cache"]
        /// Whether the older record still answers other machines.
        var keepsRecord = false
        var testDescription: String { name }

        static func unchanged(_ cacheControl: String) -> OriginReply {
            var reply = OriginReply(fields: [.cacheControl: cacheControl, .eTag: "\"1\""])
            reply.status = .notModified
            return reply
        }

        static var old: OriginReply {
            var reply = OriginReply.ok("0".utf8, cacheControl: "max-age=60")
            reply.fields[.date] = OriginDate.text(secondsSince1970: 1_700_000_000 - 70)
            reply.fields[.age] = "70"
            return reply
        }

        static var cookie: OriginReply {
            var reply = OriginReply.ok("2".utf8, cacheControl: "max-age=600")
            reply.fields[.setCookie] = "a=b"
            return reply
        }
    }

    @Test(
        "after a newer reply that the tier must not keep, the older record answers no machine", .requirement("T1"),
        arguments: [
            Later(name: "no-store", reply: .ok("2".utf8, cacheControl: "no-store")),
            Later(name: "no-cache", reply: .ok("2".utf8, cacheControl: "no-cache")),
            Later(name: "stale at once", reply: .ok("2".utf8, cacheControl: "max-age=0")),
            Later(name: "a 304 with no-store", reply: Later.unchanged("no-store"), fields: Self.validation),
            Later(name: "a 304 with max-age=0", reply: Later.unchanged("max-age=0"), fields: Self.validation),
            // Another user may get another response.
            Later(name: "private", reply: .ok("2".utf8, cacheControl: "private, max-age=600"), keepsRecord: true),
            Later(
                name: "private, no-store", reply: .ok("2".utf8, cacheControl: "private, no-store"), keepsRecord: true),
            Later(
                name: "no-store, with credentials", reply: .ok("2".utf8, cacheControl: "no-store"),
                fields: [.cacheControl: "no-cache", .authorization: "Basic YTpi"], keepsRecord: true),
            Later(name: "an older reply", reply: Later.old, keepsRecord: true),
            Later(name: "forbidden", reply: .status(.forbidden), keepsRecord: true),
            Later(name: "server error", reply: .status(.internalServerError), keepsRecord: true),
            Later(name: "with a cookie", reply: Later.cookie, keepsRecord: true),
            Later(name: "the machine stores nothing", fields: [.cacheControl: "no-cache, no-store"], keepsRecord: true),
        ])
    func newer(_ later: Later) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { request in
            request.serial == 2 ? later.reply : .ok("1".utf8, cacheControl: "max-age=600", etag: "\"1\"")
        }
        try await Machine(server).get(origin.url("/a"))
        #expect(server.names("resp").count == 1)
        let machine = try Machine(server)
        _ = try await machine.send(origin, "/a", later.fields).data()
        await machine.tier.waitForWrites()
        #expect(origin.requestCount == 2)
        #expect(server.names("resp").count == (later.keepsRecord ? 1 : 0))
        try await Machine(server).get(origin.url("/a"))
        #expect(origin.requestCount == (later.keepsRecord ? 2 : 3))
    }

    @Test("a 304 that is already stale keeps a stale record, and a later 304 freshens it", .requirement("T5"))
    func staleAtOnce() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { request in
            guard request.fields[.ifNoneMatch] != nil else {
                return .ok("1".utf8, cacheControl: "max-age=10", etag: "\"1\"")
            }
            return Later.unchanged(request.serial == 2 ? "max-age=0" : "max-age=600")
        }
        try await Machine(server).get(origin.url("/a"))
        server.time += 20
        for _ in 0..<2 {
            let machine = try Machine(server)
            _ = try await machine.send(origin, "/a", [.ifNoneMatch: "\"1\""])
            await machine.tier.waitForWrites()
        }
        #expect(try await Machine(server).get(origin.url("/a")).body == Data("1".utf8))
        #expect(origin.requestCount == 3)
    }

    private static let validation: HTTPFields = [.cacheControl: "no-cache", .ifNoneMatch: "\"1\""]

    struct Stated: Sendable, CustomTestStringConvertible {
        let name: String
        let field: String
        let value: String
        let isKept: Bool
        var testDescription: String { name }

        static func digest(_ text: String) -> String {
            "sha-256=:\(Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()):"
        }
    }

    @Test(
        "a body is kept only with the length and the digests in its head, under any policy", .requirement("T4"),
        arguments: [
            Stated(name: "right digest", field: "Repr-Digest", value: Stated.digest("abc"), isKept: true),
            Stated(name: "wrong digest", field: "Repr-Digest", value: Stated.digest("abd"), isKept: false),
            Stated(name: "wrong Content-Digest", field: "Content-Digest", value: Stated.digest(""), isKept: false),
            Stated(name: "right length", field: "Content-Length", value: "3", isKept: true),
            Stated(name: "too short", field: "Content-Length", value: "4", isKept: false),
            Stated(name: "too long", field: "Content-Length", value: "2", isKept: false),
        ])
    func stated(_ stated: Stated) async throws {
        let server = try await ObjectServer()
        let field = HTTPField(name: try #require(HTTPField.Name(stated.field)), value: stated.value)
        // Some transports do not compare the length themselves.
        let origin = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=600"] + [field], "abc") }
        let machine = try Machine(server)
        let response = try await TieredTransport(tier: machine.tier, origin: origin).send(
            HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a"), content: nil)
        #expect(try await response.data() == Data("abc".utf8))
        await machine.tier.waitForWrites()
        #expect(server.names("resp").count == (stated.isKept ? 1 : 0))
        #expect(machine.tier.statistics.droppedWrites == (stated.isKept ? 0 : 1))
    }

    @Test(
        "a 304 for an older record does not restore it over a newer one", .requirement("T5"), arguments: [3, 100_000])
    func confirmedTooLate(_ byteCount: Int) async throws {
        let server = try await ObjectServer()
        let gate = Gate()
        let (old, new) = (Data.noise(byteCount, seed: 1), Data.noise(byteCount, seed: 2))
        let origin = try await LoopbackOrigin { request in
            guard request.fields[.ifNoneMatch] == "\"1\"" else {
                return request.serial == 1
                    ? .ok(old, cacheControl: "max-age=10", etag: "\"1\"")
                    : .ok(new, cacheControl: "max-age=600", etag: "\"2\"")
            }
            await gate.wait()
            return Later.unchanged("max-age=600")
        }
        try await Machine(server).get(origin.url("/a"))
        server.time += 20
        let machine = try Machine(server)
        async let confirmation = machine.send(origin, "/a", [.ifNoneMatch: "\"1\""])
        await gate.reached(1)
        try await Machine(server).get(origin.url("/a"), [.cacheControl: "no-cache"])
        gate.open()
        #expect(try await confirmation.head.status == .notModified)
        await machine.tier.waitForWrites()
        #expect(machine.tier.statistics.writes == 0)
        #expect(try await Machine(server).get(origin.url("/a")).body == new)
    }
}

extension TransportResponse {
    fileprivate func data() async throws -> Data {
        var received = Data()
        while let chunk = try await body.next() { received += chunk }
        return received
    }
}

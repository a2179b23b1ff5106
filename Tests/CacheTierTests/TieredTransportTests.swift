import CacheTier
import TestSupport

@Suite("Tiered transport") struct TieredTransportTests {
    @Test(
        "A response of one machine answers another machine's miss without the origin", .requirement("T1"),
        arguments: [20, 300_000])
    func sharing(_ byteCount: Int) async throws {
        let server = try await ObjectServer()
        let body = Data.noise(byteCount, seed: 1)
        let origin = try await LoopbackOrigin { _ in .ok(body, cacheControl: "max-age=600", etag: "\"1\"") }
        let (first, second) = (try Machine(server), try Machine(server))
        let miss = try await first.get(origin.url("/news"))
        #expect(miss.fields.cacheStatus.contains("tier;fwd=uri-miss"))
        server.time += 30
        let hit = try await second.get(origin.url("/news"))
        #expect(hit.body == body)
        #expect(hit.fields.cacheStatus.contains("tier;hit;ttl=5"))
        #expect(hit.fields.ageSeconds.map { (29...32).contains($0) } == true)
        #expect(origin.requestCount == 1)
        #expect(first.tier.statistics.writes == 1)
        #expect(second.tier.statistics.hits == 1)
        #expect(server.names("resp").count == 1)
        #expect(server.names("cas").count == (byteCount > 65_536 ? 1 : 0))
        #expect(server.names("vary").isEmpty)
        for name in server.objects.keys {
            #expect(!name.contains("127.0.0.1"))
            #expect(!name.contains("news"))
        }
    }

    @Test("Interim responses of the origin reach the caller; a hit of the tier has none")
    func interimResponses() async throws {
        let server = try await ObjectServer()
        let origin = ScriptedTransport(.reply(200, [.cacheControl: "max-age=600"], "page").preceded(by: 103))
        let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a")
        for expected in [1, 0] {
            let machine = try Machine(server, origin: origin)
            let count = Mutex(0)
            let response = try await machine.cache.response(for: request) { _ in count.withLock { $0 += 1 } }
            #expect(try await response.data() == Data("page".utf8))
            await machine.tier.waitForWrites()
            #expect(count.withLock { $0 } == expected)
        }
        let post = HTTPRequest(method: .post, scheme: "https", authority: "example.com", path: "/a")
        let count = Mutex(0)
        _ = try await Machine(server, origin: origin).cache.response(for: post) { _ in count.withLock { $0 += 1 } }
        #expect(count.withLock { $0 } == 1)
        #expect(origin.requestCount == 2)
    }

    @Test("Each variant has its record, and Vary selects it", .requirement("T1"))
    func variants() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { request in
            var reply = OriginReply.ok((request.fields[.acceptLanguage] ?? "").utf8, cacheControl: "max-age=600")
            reply.fields[.vary] = "Accept-Language"
            return reply
        }
        let first = try Machine(server)
        for language in ["de", "en"] { try await first.get(origin.url("/a"), [.acceptLanguage: language]) }
        let second = try Machine(server)
        for language in ["de", "en"] {
            let hit = try await second.get(origin.url("/a"), [.acceptLanguage: language])
            #expect(hit.body == Data(language.utf8))
        }
        #expect(origin.requestCount == 2)
        try await second.get(origin.url("/a"), [.acceptLanguage: "fr"])
        #expect(origin.requestCount == 3)
        #expect(server.names("resp").count == 3)
        #expect(server.names("key").count == 1)
    }

    @Test("A fresh record answers a conditional request with a 304, and freshens the store", .requirement("T1"))
    func revalidation() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60", etag: "\"1\"") }
        let (first, second) = (try Machine(server), try Machine(server))
        let clock = ManualClock(Date())
        second.cache.configuration.clock = clock.date
        try await second.get(origin.url("/a"))
        clock.advance(by: .seconds(61))
        server.time += 61
        try await first.get(origin.url("/a"), [.cacheControl: "no-cache"])
        #expect(origin.requestCount == 2)
        let freshened = try await second.get(origin.url("/a"))
        #expect(freshened.body == Data("a".utf8))
        #expect(origin.requestCount == 2)
        #expect(second.tier.statistics.hits == 1)
    }

    @Test("A 304 of the origin freshens the tier's stale record", .requirement("T1"), arguments: [20, 100_000])
    func freshening(_ byteCount: Int) async throws {
        let server = try await ObjectServer()
        let body = Data.noise(byteCount, seed: 1)
        let origin = try await LoopbackOrigin { request in
            var reply = OriginReply.ok(body, cacheControl: "max-age=60", etag: "\"1\"")
            reply.fields[.contentLanguage] = "l\(request.serial)"
            if let tag = request.fields[.ifNoneMatch] {
                reply.status = .notModified
                reply.fields[.eTag] = tag == "\"2\"" ? nil : tag
                reply.body = []
            }
            return reply
        }
        let first = try Machine(server)
        let clock = ManualClock(Date())
        first.cache.configuration.clock = clock.date
        try await first.get(origin.url("/a"))
        clock.advance(by: .seconds(61))
        server.time += 61
        #expect(try await first.get(origin.url("/a")).body == body)
        #expect(first.tier.statistics.writes == 2)
        let records = server.objects.filter { $0.key.contains("/resp/") }
        #expect(records.values.allSatisfy { $0.lastModified == server.time })
        server.time += 50
        let hit = try await Machine(server).get(origin.url("/a"))
        #expect(hit.body == body)
        #expect(hit.fields[.contentLanguage] == "l2")
        #expect(hit.fields.ageSeconds.map { (49...52).contains($0) } == true)
        #expect(origin.requestCount == 2)
        // A 304 for another representation freshens nothing.
        server.time += 61
        try await Machine(server).get(origin.url("/a"), [.ifNoneMatch: "\"2\""])
        let last = try Machine(server)
        try await last.get(origin.url("/a"))
        #expect(last.tier.statistics.hits == 0)
    }

    @Test("A record that contains its body answers HEAD and ranges", .requirement("T1"))
    func headAndRange() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("0123456789".utf8, cacheControl: "max-age=60", etag: "\"1\"") }
        try await Machine(server).get(origin.url("/a"))
        let head = try await Machine(server).get(origin.url("/a"), method: .head)
        #expect(head.status == 200)
        #expect(head.body.isEmpty)
        let range = try await Machine(server).get(origin.url("/a"), [.range: "bytes=2-4"])
        #expect(range.status == 206)
        #expect(range.body == Data("234".utf8))
        #expect(origin.requestCount == 1)
    }

    @Test("Eight machines that miss together ask at most once each; later machines never ask", .requirement("T1"))
    func fleet() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=86400") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                let machine = try Machine(server)
                for _ in 0..<50 {
                    group.addTask {
                        let body = try await machine.get(origin.url("/a")).body
                        #expect(body == Data("a".utf8))
                    }
                }
            }
            try await group.waitForAll()
        }
        let requestCount = origin.requestCount
        #expect(requestCount <= 8)
        for _ in 0..<3 { try await Machine(server).get(origin.url("/a")) }
        #expect(origin.requestCount == requestCount)
        #expect(server.names("resp").count == 1)
    }

    struct Storing: Sendable, CustomTestStringConvertible {
        let name: String
        var status = HTTPResponse.Status.ok
        var response: HTTPFields
        var request: HTTPFields = [:]
        let isKept: Bool
        var isKeptForOneUser: Bool?
        var testDescription: String { name }
    }

    @Test(
        "The tier holds only responses that a shared cache may store and use", .requirement("T2"),
        arguments: [
            Storing(name: "max-age", response: [.cacheControl: "max-age=60"], isKept: true),
            Storing(name: "s-maxage", response: [.cacheControl: "s-maxage=60"], isKept: true, isKeptForOneUser: false),
            Storing(
                name: "private", response: [.cacheControl: "private, max-age=60"], isKept: false, isKeptForOneUser: true
            ),
            Storing(name: "no-store", response: [.cacheControl: "no-store, max-age=60"], isKept: false),
            Storing(name: "no-cache", response: [.cacheControl: "no-cache, max-age=60"], isKept: false),
            Storing(name: "no lifetime", response: [:], isKept: false),
            Storing(
                name: "Authorization", response: [.cacheControl: "max-age=60"], request: [.authorization: "Basic x"],
                isKept: false, isKeptForOneUser: true),
            Storing(
                name: "Authorization, public", response: [.cacheControl: "public, max-age=60"],
                request: [.authorization: "Basic x"], isKept: true),
            Storing(
                name: "Set-Cookie", response: [.cacheControl: "max-age=60", .setCookie: "a=b"], isKept: false,
                isKeptForOneUser: true),
            Storing(
                name: "Set-Cookie, public", response: [.cacheControl: "public, max-age=60", .setCookie: "a=b"],
                isKept: true),
            Storing(
                name: "Set-Cookie, s-maxage",
                response: [.cacheControl: "s-maxage=60, max-age=60", .setCookie: "a=b"], isKept: true),
            Storing(name: "not found", status: .notFound, response: [.cacheControl: "max-age=60"], isKept: true),
            Storing(name: "gone", status: .gone, response: [.cacheControl: "max-age=60"], isKept: true),
            Storing(
                name: "server error", status: .internalServerError, response: [.cacheControl: "max-age=60"],
                isKept: false),
            Storing(name: "Vary: *", response: [.cacheControl: "max-age=60", .vary: "*"], isKept: false),
            Storing(
                name: "request with no-store", response: [.cacheControl: "max-age=60"],
                request: [.cacheControl: "no-store"], isKept: false),
        ])
    func storing(_ c: Storing) async throws {
        let origin = try await LoopbackOrigin { _ in
            OriginReply(status: c.status, fields: c.response, body: Array("a".utf8))
        }
        for (isShared, isKept) in [(true, c.isKept), (false, c.isKeptForOneUser ?? c.isKept)] {
            let server = try await ObjectServer()
            let machine = try Machine(server) { $0.policy.isShared = isShared }
            try await machine.get(origin.url("/a"), c.request)
            #expect(server.names("resp").count == (isKept ? 1 : 0), "isShared: \(isShared)")
        }
    }

    @Test("In a user's partition, other credentials do not select the response", .requirement("T2"))
    func credentials() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { request in
            .ok((request.fields[.authorization] ?? "").utf8, cacheControl: "private, max-age=60")
        }
        for credentials in ["Basic a", "Basic b", "Basic a"] {
            let machine = try Machine(server) { $0.policy = CachePolicy() }
            let response = try await machine.get(origin.url("/a"), [.authorization: credentials])
            #expect(response.body == Data(credentials.utf8))
        }
        #expect(origin.requestCount == 2)
    }

    @Test(
        "The age follows the tier's clock, also on machines with other clocks", .requirement("T7"),
        arguments: [-3600, 0, 3600])
    func clocks(_ seconds: Int) async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=86400") }
        func machine(_ offset: Int) throws -> (SharedTier, TieredTransport) {
            let tier = try Machine(server) { $0.clock = { Date() + TimeInterval(offset) } }.tier
            return (tier, TieredTransport(tier: tier, origin: DefaultTransport()))
        }
        let (writer, reader) = (try machine(seconds), try machine(-seconds))
        let request = HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/a")
        let miss = try await writer.1.send(request, content: nil)
        while try await miss.body.next() != nil {}
        await writer.0.waitForWrites()
        for elapsed in [0, 1000, 7200] {
            server.time += elapsed
            let hit = try await reader.1.send(request, content: nil)
            let age = try #require(hit.head.headerFields.ageSeconds)
            // A slow system adds the time for which the writer held the response.
            let expected = elapsed + (elapsed == 7200 ? 1000 : 0)
            #expect((expected...expected + 1).contains(age))
        }
    }

}

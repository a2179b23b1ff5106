import CacheInspector
import TestSupport

@Suite("Live requests as an HTTP Archive")
struct ArchiveTests {
    private static let bodies: [String: Data] = [
        "/text": Data("naïve €\n".utf8), "/bytes": Data(0...255), "/empty": Data(),
        "/marked": Data([0xEF, 0xBB, 0xBF, 0x61]), "/coded": Data("coded".utf8),
    ]
    // `printf coded | gzip -n`
    private static let gzip = Data(base64Encoded: "H4sIAAAAAAAAA0vOT0lNAQCKRH5mBQAAAA==") ?? Data()

    private let panel: Panel
    private let cache: HTTPCache

    init() throws {
        let clock = ManualClock()
        panel = try Panel(clock: clock)
        try panel.store.startRecordingRequests()
        let origin = ScriptedTransport { (request, _) throws(TransportError) in
            let path = String((request.path ?? "").prefix { $0 != "?" })
            var fields: HTTPFields = [.cacheControl: path == "/private" ? "no-store" : "max-age=60"]
            if path == "/vary" { fields[.vary] = request.path?.split(separator: "?").last.map(String.init) }
            if path == "/coded" { fields[.contentEncoding] = "gzip" }
            let body = path == "/coded" ? Self.gzip : Self.bodies[path] ?? Data("private".utf8)
            return TransportResponse(head: HTTPResponse(status: .ok, headerFields: fields), body: TransportBody(body))
        }
        cache = HTTPCache(store: panel.store, transport: origin, clock: clock)
    }

    private func get(_ path: String, _ fields: HTTPFields = [:], host: String = "a.example") async throws {
        let request = HTTPRequest(method: .get, scheme: "https", authority: host, path: path, headerFields: fields)
        _ = try await cache.response(for: request).data()
    }

    /// Waits until so many requests are recorded.
    private func waitForRecords(_ count: Int) async throws {
        try await eventually {
            try await panel.store.flush()
            return try panel.store.requestRecords().records.count == count
        }
    }

    private func replay(_ answer: PanelAnswer) throws -> (TemporaryDirectory, ReplayTransport) {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "requests.har")
        try Data(answer.bytes).write(to: file)
        return (directory, try ReplayTransport(file: file))
    }

    private func send(_ replay: ReplayTransport, _ path: String) async throws -> TransportResponse {
        try await replay.send(
            HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: path), content: nil)
    }

    @Test("replays with the bytes that the program has read")
    func bytes() async throws {
        for path in Self.bodies.keys { for _ in 0..<2 { try await get(path) } }
        try await waitForRecords(10)
        let answer = try await panel.get("api/har")
        #expect(answer.count("log.entries") == 10)
        #expect(answer.answer.fields[.contentDisposition] == "attachment; filename=\"requests.har\"")
        let (directory, replay) = try replay(answer)
        for (path, body) in Self.bodies {
            let response = try await send(replay, path)
            #expect(try await response.body.next() ?? Data() == body, "\(path)")
            #expect(response.head.headerFields[.cacheControl] == "max-age=60")
        }
        _ = directory
    }

    @Test("says how the cache answered")
    func answers() async throws {
        for _ in 0..<2 { try await get("/text") }
        try await waitForRecords(2)
        let answer = try await panel.get("api/har")
        #expect(answer.string("log.version") == "1.2")
        #expect(answer.strings("log.entries", "comment") == ["miss", "hit"])
        #expect(answer.string("log.entries.1._fromCache") == "disk")
        #expect(answer.string("log.entries.0._fromCache") == nil)
        #expect(answer.string("log.entries.0.response.headers.2.value") == "cachestore; fwd=uri-miss; stored")
        #expect(answer.string("log.entries.1.response.headers.2.value") == "cachestore; hit")
    }

    @Test("a body that is not stored, or no longer, is absent, and a replay does not take it for empty")
    func missingBodies() async throws {
        try await get("/private")
        try await get("/text")
        try await waitForRecords(2)
        try await panel.store.removeAll(.everything)
        let (directory, replay) = try replay(try await panel.get("api/har"))
        for path in ["/private", "/text"] {
            await #expect(throws: TransportError.self) { try await send(replay, path) }
        }
        _ = directory
    }

    @Test("a reply that was not stored does not get the body of a stored one")
    func relayed() async throws {
        try await get("/text")
        try await get("/text", [.cacheControl: "no-cache, no-store"])
        try await waitForRecords(2)
        let answer = try await panel.get("api/har")
        #expect(answer.strings("log.entries", "comment") == ["miss", "miss"])
        #expect(answer.string("log.entries.0.response.content.text") == "naïve €\n")
        #expect(answer.string("log.entries.1.response.content.text") == nil)
        #expect(answer.integer("log.entries.1.response.content.size") == 11)
    }

    @Test(
        "a hit gets no body of a variant that may be another one's",
        arguments: [("Accept-Language", false), ("Accept-Encoding", true)])
    func variants(name: String, hasBody: Bool) async throws {
        let field = try #require(HTTPField.Name(name))
        try await get("/vary?\(name)", [field: "one"])
        try await get("/vary?\(name)", [field: "one"])
        try await waitForRecords(2)
        let answer = try await panel.get("api/har")
        #expect(answer.strings("log.entries", "comment") == ["miss", "hit"])
        #expect(answer.string("log.entries.0.response.content.text") == "private")
        #expect((answer.string("log.entries.1.response.content.text") != nil) == hasBody)
    }

    @Test("redacts secrets of URLs")
    func redaction() async throws {
        try await get("/text?access_token=SECRET")
        try await get("/private?token=SECRET")
        try await waitForRecords(2)
        let answer = try await panel.get("api/har")
        #expect(answer.count("log.entries") == 2)
        #expect(!answer.text.contains("SECRET"))
    }

    @Test("contains the requests that the page shows")
    func filter() async throws {
        try await get("/text")
        try await get("/text")
        try await get("/text", host: "b.example")
        try await waitForRecords(3)
        for (query, count) in [
            ("host=B.ex", 1), ("outcomes=hit", 1), ("outcomes=", 3), ("from=9", 0), ("to=0", 0),
            ("from=1994&to=1995&outcomes=miss,stale", 2), ("from=9&to=1", 0),
        ] {
            #expect(try await panel.get("api/har", query).count("log.entries") == count, "\(query)")
        }
    }
}

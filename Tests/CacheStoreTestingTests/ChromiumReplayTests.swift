import TestSupport

/// The recording is of Chromium's network panel, without `_initiator`. An origin on loopback sent the bodies below.
@Suite("Replays of Chromium's network panel", .timeLimit(.minutes(5)))
struct ChromiumReplayTests {
    private static let origin = "http://127.0.0.1:8462"

    private static let bodies: [(path: String, body: Data)] = [
        ("/", Data("<!doctype html><title>Recorded</title><link rel=icon href=data:,><h1>Caf\u{E9}</h1>".utf8)),
        (
            "/pixel.png",
            Data(
                base64Encoded:
                    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
                ?? Data()
        ),
        ("/bytes", Data(0...255)),
        ("/feed.json", Data(#"{"items": [{"title": "naïve €"}]}"#.utf8)),
        ("/latin1.txt", Data([0x64, 0xE9, 0x6A, 0xE0]) + Data(" vu ".utf8) + [0x96] + Data(" 100 ".utf8) + [0x80]),
        ("/marked.txt", Data([0xEF, 0xBB, 0xBF]) + Data("marked".utf8)),
        ("/coded.bin", Data(0..<200)),
        ("/empty", Data()),
        ("/old", Data()),
        ("/nothing", Data()),
        ("/absent", Data("absent".utf8)),
    ]

    private func transport() throws -> ReplayTransport {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Recordings/chromium.har")
        return try ReplayTransport(file: file)
    }

    @Test("each body has the bytes of the origin", arguments: bodies)
    func bytes(path: String, body: Data) async throws {
        let reply = try await transport().get(Self.origin + path)
        #expect(reply.body == body)
        #expect(reply.fields[.contentEncoding] == nil)
        #expect(reply.fields[.contentLength].map { $0 == "\(body.count)" } ?? true)
    }

    @Test("redirects, statuses and lines of a field arrive as they were recorded")
    func heads() async throws {
        let transport = try transport()
        let old = try await transport.get(Self.origin + "/old")
        #expect(old.status == 302)
        #expect(old.fields[.location] == "/feed.json")
        #expect(try await transport.get(Self.origin + "/nothing").status == 204)
        #expect(try await transport.get(Self.origin + "/absent").status == 404)
        #expect(try await transport.get(Self.origin + "/counter").fields[values: .setCookie] == ["a=1", "b=2"])
    }

    @Test("equal requests get their answers in order, and the last one again")
    func order() async throws {
        let transport = try transport()
        var bodies: [String] = []
        for _ in 0..<3 {
            bodies.append(String(decoding: try await transport.get(Self.origin + "/counter").body, as: UTF8.self))
        }
        #expect(bodies == ["1", "2", "2"])
    }

    @Test("a recorded 304 answers only its own condition")
    func condition() async throws {
        let transport = try transport()
        for _ in 0..<2 {
            #expect(try await transport.get(Self.origin + "/tagged").status == 200)
        }
        let reply = try await transport.get(Self.origin + "/tagged", [.ifNoneMatch: "\"1\""])
        #expect(reply.status == 304)
        #expect(reply.body.isEmpty)
    }

    @Test("the content of a request decides, too")
    func content() async throws {
        let transport = try transport()
        let reply = try await transport.send(.post, Self.origin + "/search", body: #"{"q":"x"}"#)
        #expect(reply.body == Data(#"posted {"q":"x"}"#.utf8))
        await #expect(throws: TransportError.self) {
            try await transport.send(.post, Self.origin + "/search", body: #"{"q":"y"}"#)
        }
    }

    @Test("a cache at the time of the recording stores and validates the answers")
    func cache() async throws {
        let transport = try transport()
        let clock = ManualClock(transport.startDate)
        let cache = HTTPCache(store: try .temporary(clock: clock), transport: transport, clock: clock)
        func get(_ path: String) async throws -> (source: ResponseSource, body: Data) {
            let response = try await cache.response(
                for: HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:8462", path: path))
            return (response.source, try await response.data())
        }
        #expect(try await get("/feed.json").source == .network)
        #expect(try await get("/feed.json").source == .disk)
        #expect(try await get("/tagged").source == .network)
        let again = try await get("/tagged")
        #expect(again.source == .notModified)
        #expect(again.body == Data("tagged".utf8))
    }
}

extension HTTPTransport {
    typealias Reply = (status: Int, fields: HTTPFields, body: Data)

    func get(_ url: String, _ fields: HTTPFields = [:]) async throws -> Reply { try await send(.get, url, fields) }

    /// Sends a request, and reads its answer to the end.
    @discardableResult
    func send(
        _ method: HTTPRequest.Method, _ url: String, _ fields: HTTPFields = [:], body: String? = nil
    ) async throws -> Reply {
        let parts = try #require(URLComponents(string: url))
        let host = try #require(parts.host)
        let query = parts.percentEncodedQuery.map { "?\($0)" } ?? ""
        let response = try await send(
            HTTPRequest(
                method: method, scheme: parts.scheme, authority: parts.port.map { "\(host):\($0)" } ?? host,
                path: parts.percentEncodedPath + query, headerFields: fields),
            content: body.map { RequestContent(Data($0.utf8)) })
        var data = Data()
        while let chunk = try await response.body.next() { data += chunk }
        return (response.head.status.code, response.head.headerFields, data)
    }
}

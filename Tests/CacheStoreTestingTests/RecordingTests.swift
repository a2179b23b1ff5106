import TestSupport

@Suite("Recordings of exchanges", .timeLimit(.minutes(5)))
struct RecordingTests {
    private let directory: TemporaryDirectory
    private var file: URL { directory.url.appending(path: "folder/recorded.har") }

    init() throws { directory = try TemporaryDirectory() }

    private var text: String { get throws { try String(contentsOf: file, encoding: .utf8) } }

    @Test(
        "a recorded body is replayed with the same bytes",
        arguments: [
            Data(), Data("text\n".utf8), Data("\"quotes\" \\ and \u{1F600}".utf8), Data(0...255),
            Data([0xEF, 0xBB, 0xBF, 0x61]), Data([0xC3]), Data("a\0b".utf8), Data("\u{FFFE}".utf8),
        ])
    func bytes(_ body: Data) async throws {
        let recording = try RecordingTransport(ScriptedTransport(.reply(200, [:], body: body)), file: file)
        #expect(try await recording.get("https://example.com/a").body == body)
        try recording.save()
        #expect(try await ReplayTransport(file: file).get("https://example.com/a").body == body)
    }

    @Test("a body in a content coding is readable in the file, and replayed decoded")
    func codedBody() async throws {
        // `printf coded | gzip -n`
        let gzip = Data(base64Encoded: "H4sIAAAAAAAAA0vOT0lNAQCKRH5mBQAAAA==") ?? Data()
        let origin = ScriptedTransport(.reply(200, [.contentEncoding: "gzip", .contentLength: "25"], body: gzip))
        let recording = try RecordingTransport(origin, file: file)
        #expect(try await recording.get("https://example.com/a").body == gzip)
        try recording.save()
        #expect(try text.contains(#""text" : "coded""#))
        let reply = try await ReplayTransport(file: file).get("https://example.com/a")
        #expect(reply.body == Data("coded".utf8))
        #expect(reply.fields[.contentEncoding] == nil)
        #expect(reply.fields[.contentLength] == nil)
    }

    @Test("a body in an unknown coding is replayed as it was")
    func unknownCoding() async throws {
        let origin = ScriptedTransport(.reply(200, [.contentEncoding: "own", .contentLength: "3"], "xyz"))
        let recording = try RecordingTransport(origin, file: file)
        try await recording.send(.get, "https://example.com/a")
        try recording.save()
        let reply = try await ReplayTransport(file: file).get("https://example.com/a")
        #expect(reply.body == Data("xyz".utf8))
        #expect(reply.fields[.contentEncoding] == "own")
        #expect(reply.fields[.contentLength] == "3")
    }

    @Test("requests with a binary content are matched by it")
    func binaryContent() async throws {
        let origin = ScriptedTransport { (_, body) throws(TransportError) in
            .reply(200, [:], "\(body?.count ?? -1)")
        }
        let recording = try RecordingTransport(origin, file: file)
        let request = HTTPRequest(method: .put, scheme: "https", authority: "example.com", path: "/a")
        for content in [Data([0xFF]), Data([0xFE, 0x00])] {
            let response = try await recording.send(request, content: RequestContent(content))
            while try await response.body.next() != nil {}
        }
        try recording.save()
        let replay = try ReplayTransport(file: file)
        let response = try await replay.send(request, content: RequestContent(Data([0xFE, 0x00])))
        #expect(try await response.body.next() == Data("2".utf8))
    }

    @Test("chosen fields distinguish requests")
    func matchedFields() async throws {
        let origin = ScriptedTransport { (request, _) throws(TransportError) in
            .reply(200, [:], request.headerFields[.acceptLanguage] ?? "none")
        }
        let recording = try RecordingTransport(origin, file: file, matching: [.acceptLanguage])
        for language in ["de", "fr"] {
            try await recording.send(.get, "https://example.com/a", [.acceptLanguage: language])
        }
        try recording.save()
        let replay = try ReplayTransport(file: file, matching: [.acceptLanguage])
        #expect(try await replay.get("https://example.com/a", [.acceptLanguage: "fr"]).body == Data("fr".utf8))
        await #expect(throws: TransportError.self) { try await replay.get("https://example.com/a") }
    }

    @Test("the file contains no credentials and no cookies, and still answers")
    func redaction() async throws {
        let (own, apiKey) = (try #require(HTTPField.Name("X-Own")), try #require(HTTPField.Name("X-API-Key")))
        let origin = ScriptedTransport(
            .reply(
                302,
                [
                    .setCookie: "session=SECRET; Path=/; HttpOnly", .location: "/b?token=SECRET&page=2", own: "SECRET",
                ]), .reply(200, [:], "b"))
        let items = ["Secret_Code"]
        let recording = try RecordingTransport(origin, file: file, redactedFields: [own], redactedQueryItems: items)
        let url = "https://example.com/a?secret_code=SECRET&access_token=SECRET&q=plain"
        let credentials: HTTPFields = [
            .authorization: "Bearer SECRET", .cookie: "a=SECRET; b=SECRET", apiKey: "SECRET",
            own: "SECRET", .proxyAuthorization: "SECRET",
        ]
        // The program itself sees the values.
        #expect(try await recording.get(url, credentials).fields[.location] == "/b?token=SECRET&page=2")
        try await recording.send(.get, "https://example.com/b?token=SECRET&page=2")
        try recording.save()
        #expect(try !text.contains("SECRET"))
        #expect(try text.contains("Bearer REDACTED"))
        #expect(try text.contains("session=REDACTED; Path=/; HttpOnly"))

        let replay = try ReplayTransport(file: file, redactedFields: [own], redactedQueryItems: items)
        let other = url.replacing("SECRET", with: "OTHER")
        #expect(try await replay.get(other, [.authorization: "Bearer OTHER"]).status == 302)
        #expect(try await replay.get("https://example.com/b?token=REDACTED&page=2").body == Data("b".utf8))
        await #expect(throws: TransportError.self) { try await replay.get(other.replacing("plain", with: "else")) }
    }

    @Test("only requests without an answer reach the network, and their answers are added")
    func missing() async throws {
        let recording = try RecordingTransport(ScriptedTransport(.reply(200, [:], "a")), file: file)
        try await recording.send(.get, "https://example.com/a")
        try recording.save()
        let origin = ScriptedTransport(.reply(200, [:], "b"))
        let second = try RecordingTransport(origin, file: file, mode: .missing)
        #expect(try await second.get("https://example.com/a").body == Data("a".utf8))
        #expect(try await second.get("https://example.com/b").body == Data("b".utf8))
        #expect(origin.requestCount == 1)
        try second.save()
        let replay = try ReplayTransport(file: file)
        #expect(try await replay.get("https://example.com/a").body == Data("a".utf8))
        #expect(try await replay.get("https://example.com/b").body == Data("b".utf8))
    }

    @Test("a new recording replaces the file, also one that is damaged")
    func all() async throws {
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("damaged".utf8).write(to: file)
        #expect(throws: RecordingError.self) { try RecordingTransport(ScriptedTransport(), file: file) }
        let recording = try RecordingTransport(ScriptedTransport(.reply(200, [:], "new")), file: file, mode: .all)
        try await recording.send(.get, "https://example.com/a")
        #expect(try text == "damaged")
        try recording.save()
        #expect(try await ReplayTransport(file: file).get("https://example.com/a").body == Data("new".utf8))
    }

    @Test("failures, and bodies that nobody reads to the end, are not recorded")
    func incomplete() async throws {
        let origin = ScriptedTransport([
            "https://example.com/fails": [.failure(.cannotConnect)],
            "https://example.com/breaks": [.reply(200, [:], "abc").broken(afterBytes: 1)],
            "https://example.com/a": [.reply(200, [:], "a", "b")],
        ])
        let recording = try RecordingTransport(origin, file: file)
        for path in ["fails", "breaks"] {
            await #expect(throws: TransportError.self) { try await recording.get("https://example.com/\(path)") }
        }
        let request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a")
        #expect(try await recording.send(request, content: nil).body.next() == Data("a".utf8))
        try recording.save()
        #expect(!FileManager.default.fileExists(atPath: file.path(percentEncoded: false)))
    }

    @Test(
        "an answer without a body is recorded although it is not read",
        arguments: [(HTTPRequest.Method.head, 200), (.get, 204), (.get, 304)])
    func withoutBody(method: HTTPRequest.Method, status: Int) async throws {
        let origin = ScriptedTransport(.reply(HTTPResponse.Status(code: status), [.eTag: "\"1\""]))
        let recording = try RecordingTransport(origin, file: file)
        let request = HTTPRequest(method: method, scheme: "https", authority: "example.com", path: "/a")
        _ = try await recording.send(request, content: nil)
        try recording.save()
        let reply = try await ReplayTransport(file: file).send(request, content: nil)
        #expect(reply.head.status.code == status)
        #expect(reply.head.headerFields[.eTag] == "\"1\"")
    }

    @Test("a damaged file is refused or answers, whatever it says", arguments: 0..<8)
    func damage(seed: UInt64) async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Recordings/search.har")
        let whole = Array(try Data(contentsOf: file))
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let place = Int.random(in: bytes.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0x20...0x7E, using: &generator)
                case 1: bytes.insert(contentsOf: "9e99".utf8, at: place)
                default: bytes.removeSubrange(place..<min(place + 4, bytes.count))
                }
            }
            let damaged = directory.url.appending(path: "damaged.har")
            try Data(bytes).write(to: damaged)
            do {
                let replay = try ReplayTransport(file: damaged)
                _ = try await replay.get("https://example.com/search?q=swift")
            } catch is RecordingError {
            } catch is TransportError {}
        }
    }

    @Test("requests at the same time are recorded in their order")
    func order() async throws {
        let origin = try await LoopbackOrigin { .ok($0.path.utf8) }
        let recording = try RecordingTransport(DefaultTransport(), file: file)
        try await withThrowingTaskGroup { group in
            for number in 0..<40 { group.addTask { try await recording.send(.get, origin.url("/\(number)")) } }
            try await group.waitForAll()
        }
        try recording.save()
        let replay = try ReplayTransport(file: file)
        for number in 0..<40 {
            #expect(try await replay.get(origin.url("/\(number)")).body == Data("/\(number)".utf8))
        }
    }

    @Test(
        "a file that is no archive is refused with its path and the place",
        arguments: [
            ("", "not JSON"), ("{}", "log is absent"), (#"{"log": {"entries": 1}}"#, "log.entries has the wrong type"),
            (
                #"{"log": {"entries": [{"startedDateTime": "", "request": {"url": ""}}]}}"#,
                "log.entries[0].request.method is absent"
            ),
        ])
    func unreadable(text: String, reason: String) throws {
        let file = directory.url.appending(path: "a.har")
        try Data(text.utf8).write(to: file)
        let error = try #require(throws: RecordingError.self) { try ReplayTransport(file: file) }
        #expect(error.description.contains(reason))
        #expect(error.description.contains("a.har"))
    }

    @Test("a request without an answer fails with its name, and a loader does not try again")
    func unknownRequest() async throws {
        try Data(#"{"log": {"entries": []}}"#.utf8).write(to: directory.url.appending(path: "a.har"))
        let replay = try ReplayTransport(file: directory.url.appending(path: "a.har"))
        let error = try await #require(throws: TransportError.self) { try await replay.get("https://example.com/a?b") }
        #expect(error.code == .unsupportedRequest)
        #expect(error.message == "a.har has no answer to GET https://example.com/a?b")
    }

    @Test(
        "the charset and the size decide about the bytes of a text",
        arguments: [
            ("; charset=utf-8", "naïve", 6, Data("naïve".utf8)), ("", "edited", 3, Data("edited".utf8)),
            ("", "\u{E9}", 1, Data([0xE9])), ("; charset=iso-8859-1", "\u{E9}", 1, Data([0xE9])),
            ("", "a", 4, Data([0xEF, 0xBB, 0xBF, 0x61])), ("; charset=utf-16be", "a", 2, Data([0x00, 0x61])),
            ("; charset=\"UTF-16\"", "a", 4, Data([0xFF, 0xFE, 0x61, 0x00])),
            ("; charset=shift_jis", "ascii", 5, Data("ascii".utf8)), ("; charset=shift_jis", "日本語", 6, nil),
            ("; charset=shift_jis", "日本語 abc", 10, nil), ("; charset=utf-8", "lossy \u{FFFD}", 7, nil),
            // A malformed type still names its charset.
            (" charset=utf-16be", "a", 2, Data([0x00, 0x61])), (", */*; charset=\"shift_jis\"", "日本語", 6, nil),
            (" malformed", "edited", 3, Data("edited".utf8)),
        ] as [(String, String, Int, Data?)])
    func charsets(parameters: String, text: String, size: Int, bytes: Data?) async throws {
        let type = "text/plain\(parameters)"
        let reply = try await answer(status: 200, #""size": \#(size), "text": "\#(text)""#, [("Content-Type", type)])
        #expect(reply?.body == bytes)
    }

    @Test(
        "a body that the file lacks is no empty body",
        arguments: [
            (200, #""size": 0"#, [], true), (200, #""size": 0, "text": """#, [("Content-Length", "9")], true),
            (200, #""size": 0"#, [("Content-Length", "9")], false), (200, #""size": -1"#, [], false),
            (200, #""mimeType": "text/plain""#, [], false), (302, #""size": -1"#, [("Content-Length", "9")], true),
            (204, #""size": -1"#, [], true), (304, #""size": 3, "text": "abc""#, [], true),
        ] as [(Int, String, [(String, String)], Bool)])
    func absentBodies(status: Int, content: String, fields: [(String, String)], isEmpty: Bool) async throws {
        let reply = try await answer(status: status, content, fields)
        #expect((reply?.body.isEmpty ?? false) == isEmpty)
        #expect(reply?.fields[.contentLength].map { $0 == "0" } ?? true)
    }

    @Test("too many fields are refused", arguments: ["a\\na", "a"])
    func manyFields(value: String) async throws {
        let lines = String(repeating: "\\na", count: 70_000)
        #expect(try await answer(status: 200, #""size": 0"#, [("X", value + lines)]) == nil)
    }

    /// Replays a file with one response to `http://example.com/`. Returns `nil` if the answer cannot be replayed.
    private func answer(status: Int, _ content: String, _ fields: [(String, String)]) async throws -> HTTPTransport
        .Reply?
    {
        let lines = fields.map { name, value in
            #"{"name": "\#(name)", "value": "\#(value.replacing("\"", with: "\\\""))"}"#
        }
        let file = directory.url.appending(path: "one.har")
        let text = """
            {"log": {"entries": [{"startedDateTime": "2026-01-01T00:00:00Z", "time": 1e300,
              "request": {"method": "GET", "url": "http://user:secret@example.com/"},
              "response": {"status": \(status), "headers": [\(lines.joined(separator: ","))], "content": {\(content)}}}]}}
            """
        try Data(text.utf8).write(to: file)
        return try? await ReplayTransport(file: file).get("http://example.com/")
    }

    @Test(
        "secrets are redacted wherever a URL or a field has them",
        arguments: [
            ("Set-Cookie", "a=SECRET; Path=/, b=SECRET; HttpOnly", "a=REDACTED; HttpOnly"),
            (
                "Set-Cookie", "a=SECRET; Expires=Wed, 09 Jun 2027 10:18:14 GMT",
                "a=REDACTED; Expires=Wed, 09 Jun 2027 10:18:14 GMT"
            ),
            ("Referer", "https://a.test/?x=1&access_token=SECRET", "https://a.test/?x=1&access_token=REDACTED"),
            (
                "Location", "https://u:SECRET@a.test/cb#access_token=SECRET,1&y=2",
                "https://a.test/cb#access_token=REDACTED&y=2"
            ),
            ("Location", "/a?access%5Ftoken=SECRET?x", "/a?access%5Ftoken=REDACTED"),
            ("Link", "</a?sig=SECRET>; rel=next", "</a?sig=REDACTED>; rel=next"),
            ("X-Goog-Api-Key", "SECRET", "REDACTED"), ("Authorization", "SECRET", "REDACTED"),
        ])
    func redactedFields(name: String, value: String, redacted: String) async throws {
        let field = try #require(HTTPField.Name(name))
        let recording = try RecordingTransport(ScriptedTransport(.reply(200, [field: value], "a")), file: file)
        try await recording.send(.get, "https://example.com/a")
        try recording.save()
        #expect(try await ReplayTransport(file: file).get("https://example.com/a").fields[field] == redacted)
        #expect(try !text.contains("SECRET"))
    }

    @Test("the entries of a file that another program has made are redacted, too")
    func redactedFile() async throws {
        let entry = #"""
            {"startedDateTime": "2026-01-01T00:00:00Z",
             "request": {"method": "GET", "url": "http://example.com/?token=SECRET", "headers": [{"name": "Cookie", "value": "a=SECRET"}]},
             "response": {"status": 200, "headers": [{"name": "set-cookie", "value": "a=SECRET\nb=SECRET"}], "content": {"size": 0}}}
            """#
        let file = directory.url.appending(path: "a.har")
        try Data("{\"log\": {\"entries\": [\(entry)]}}".utf8).write(to: file)
        let recording = try RecordingTransport(ScriptedTransport(.reply(200, [:], "b")), file: file)
        try await recording.send(.get, "http://example.com/b")
        try recording.save()
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("SECRET"))
        let reply = try await ReplayTransport(file: file).get("http://example.com/?token=OTHER")
        #expect(reply.fields[values: .setCookie] == ["a=REDACTED", "b=REDACTED"])
    }

    @Test("an answer whose body the file lacks fails, and does not become empty")
    func missingBody() async throws {
        let entry = #"""
            {"startedDateTime": "2026-01-01T00:00:00Z", "request": {"method": "GET", "url": "http://example.com/a#part"},
             "response": {"status": 200, "headers": [], "content": {"size": 7}}}
            """#
        try Data("{\"log\": {\"entries\": [\(entry)]}}".utf8).write(to: directory.url.appending(path: "a.har"))
        let replay = try ReplayTransport(file: directory.url.appending(path: "a.har"))
        #expect(replay.startDate == Date(timeIntervalSince1970: 1_767_225_600))
        let error = try await #require(throws: TransportError.self) { try await replay.get("http://example.com/a") }
        #expect(error.message.contains("lacks the body of 7 bytes"))
    }
}

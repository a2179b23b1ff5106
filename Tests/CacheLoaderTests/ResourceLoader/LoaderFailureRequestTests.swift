import TestSupport

/// Failures count for equal requests: those with the same key, method and credentials.
@Suite("ResourceLoader: failures of different requests for one key", .timeLimit(.minutes(5)))
struct LoaderFailureRequestTests {
    private static let url = "https://example.com/a"

    private func fixture(_ transport: ScriptedTransport) throws -> LoaderFixture {
        try LoaderFixture(transport: transport) {
            $0.negativeCaching = NegativeCaching(lifetime: .seconds(60), maxAttempts: 1)
        }
    }

    private func request(_ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:]) -> ResourceRequest {
        ResourceRequest(Self.url, method: method, headerFields: fields)
    }

    private func fail(
        _ fixture: LoaderFixture, _ status: Int, _ request: ResourceRequest,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await expectError(.status(status, url: request.url), sourceLocation: sourceLocation) {
            try await fixture.loader.load(request)
        }
    }

    /// The token that the origin accepts.
    private static let alice = "alice-s3cret"
    private static let mallory = "mallory-s3cret"

    /// An origin that answers Alice, with 403 to other credentials, and with 401 without any.
    private static func guarded() -> ScriptedTransport {
        ScriptedTransport { request, _ in
            let credentials = request.headerFields[.authorization] ?? request.headerFields[.cookie]
            guard let credentials else { return .reply(401) }
            return credentials.contains(alice) ? .reply(200, [.cacheControl: "max-age=0"], "good") : .reply(403)
        }
    }

    // MARK: Credentials

    @Test(
        "A 403 to one user blocks that user, but neither another user nor a request without credentials",
        .requirement("K4"), arguments: [HTTPField.Name.authorization, .cookie])
    func users(field: HTTPField.Name) async throws {
        let transport = Self.guarded()
        let fixture = try fixture(transport)
        let (alice, mallory) = (request(.get, [field: Self.alice]), request(.get, [field: Self.mallory]))
        for _ in 0..<3 { await fail(fixture, 403, mallory) }
        #expect(transport.requestCount == 1, "blocked")
        #expect(try await fixture.loader.load(alice).text == "good")
        #expect(transport.requestCount == 2)
        for _ in 0..<3 { await fail(fixture, 401, request()) }
        #expect(transport.requestCount == 3, "blocked on its own account")
    }

    @Test("A success of one user ends no block of another user")
    func successOfAnother() async throws {
        let transport = Self.guarded()
        let fixture = try fixture(transport)
        await fail(fixture, 403, request(.get, [.authorization: Self.mallory]))
        await fail(fixture, 401, request())
        #expect(try await fixture.loader.load(request(.get, [.authorization: Self.alice])).text == "good")
        let count = transport.requestCount
        await fail(fixture, 403, request(.get, [.authorization: Self.mallory]))
        await fail(fixture, 401, request())
        #expect(transport.requestCount == count)
        #expect(try fixture.store.failure(for: CacheKey(url: Self.url))?.count == 2)
    }

    @Test("Configured credentials distinguish requests like the caller's")
    func configured() async throws {
        let transport = Self.guarded()
        let fixture = try fixture(transport)
        for (token, status) in [(Self.mallory, 403), (nil, 401), (Self.alice, nil), (Self.mallory, 403)]
            as [(String?, Int?)]
        {
            try fixture.loader.configuration.setCredentials(
                token.map { .bearer(token: $0) }, forOrigin: "https://example.com")
            if let status {
                await fail(fixture, status, request())
            } else {
                #expect(try await fixture.loader.load(request()).text == "good")
            }
        }
        #expect(transport.requestCount == 3, "the last one was blocked")
        await fail(fixture, 403, request(.get, [.authorization: "Bearer \(Self.mallory)"]))
        #expect(transport.requestCount == 3, "the same credentials, given with the request")
    }

    @Test("With a name in place of the URL, failures count for the name and the credentials, under any URL")
    func named() async throws {
        let transport = Self.guarded()
        let fixture = try fixture(transport)
        func load(_ number: Int, _ token: String) async {
            try? fixture.loader.configuration.setCredentials(.bearer(token: token), forOrigin: "https://example.com")
            let request = ResourceRequest("\(Self.url)?signature=\(number)", key: "a")
            if token == Self.alice {
                await #expect(throws: Never.self) { try await fixture.loader.load(request) }
            } else {
                await fail(fixture, 403, request)
            }
        }
        for number in 0..<3 { await load(number, Self.mallory) }
        #expect(transport.requestCount == 1)
        await load(3, Self.alice)
        #expect(transport.requestCount == 2)
    }

    @Test("No file of the store contains credentials, neither in clear nor in Base64")
    func noCredentialsOnDisk() async throws {
        let transport = ScriptedTransport { _, _ in .reply(403, [.cacheControl: "max-age=60"], "forbidden") }
        let fixture = try fixture(transport)
        let user = Credentials.basic(user: "mallory", password: Self.mallory)
        let encoded = Data("mallory:\(Self.mallory)".utf8).base64EncodedString()
        await fail(fixture, 403, request(.get, [.authorization: "Bearer \(Self.mallory)"]))
        await fail(fixture, 403, request(.head, [.cookie: "session=\(Self.mallory)"]))
        try fixture.loader.configuration.setCredentials(user, forOrigin: "https://example.com")
        await fail(fixture, 403, request())
        #expect(transport.requests.last?.headerFields[.authorization] == "Basic \(encoded)")
        let rows = try fixture.store.query("SELECT request FROM cache_errors ORDER BY request").rows
        #expect(rows.count == 3)
        // Reads the WAL, then the index after a checkpoint.
        for _ in 0..<2 {
            var isIndexFound = false
            for name in try FileManager.default.subpathsOfDirectory(atPath: fixture.directory.path) {
                let file = fixture.directory.url.appending(path: name)
                guard let bytes = try? Data(contentsOf: file) else { continue }
                if bytes.range(of: Data("HEAD\ncookie: sha256-".utf8)) != nil { isIndexFound = true }
                for secret in [Self.mallory, encoded] {
                    #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret) in \(name)")
                }
            }
            #expect(isIndexFound, "the search finds what the index has")
            fixture.store.close()
        }
    }

    // MARK: Methods, ranges and conditions

    @Test("A 405 to HEAD blocks HEAD, but not GET")
    func head() async throws {
        let transport = ScriptedTransport { request, _ in
            request.method == .head ? .reply(405) : .reply(200, [.cacheControl: "max-age=0"], "good")
        }
        let fixture = try fixture(transport)
        for _ in 0..<3 { await fail(fixture, 405, request(.head)) }
        #expect(transport.requestCount == 1)
        for count in 2...3 {
            #expect(try await fixture.loader.load(request()).text == "good")
            #expect(transport.requestCount == count)
        }
        await fail(fixture, 405, request(.head))
        #expect(transport.requestCount == 3, "the success of GET does not end the block of HEAD")
    }

    @Test("A 500 to GET blocks GET, but not HEAD")
    func get() async throws {
        let transport = ScriptedTransport { request, _ in .reply(request.method == .head ? 200 : 500) }
        let fixture = try fixture(transport)
        for _ in 0..<3 { await fail(fixture, 500, request()) }
        #expect(try await fixture.loader.load(request(.head)).status == .ok)
        #expect(transport.requestCount == 2)
    }

    /// Fields of requests for a range, and of requests with the caller's own condition.
    private static let ownFields: [HTTPFields] = [
        [.range: "bytes=9-"], [.ifNoneMatch: "\"1\""], [.ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"],
        [.ifMatch: "\"1\""], [.ifUnmodifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"],
    ]

    @Test("An error in answer to a range or to the caller's conditions is not counted", arguments: ownFields)
    func ownFailure(fields: HTTPFields) async throws {
        let transport = ScriptedTransport { request, _ in
            request.headerFields.contains { fields.contains($0.name) }
                ? .reply(416) : .reply(200, [.cacheControl: "no-store"], "good")
        }
        let fixture = try fixture(transport)
        for _ in 0..<3 { await fail(fixture, 416, request(.get, fields)) }
        #expect(transport.requestCount == 3)
        #expect(try fixture.store.failure(for: CacheKey(url: Self.url)) == nil)
        #expect(try await fixture.loader.load(request()).text == "good")
    }

    @Test("A block of the plain request blocks no range and no condition of the caller", arguments: ownFields)
    func plainFailure(fields: HTTPFields) async throws {
        let transport = ScriptedTransport { request, _ in
            guard let name = fields.first?.name, request.headerFields.contains(name) else { return .reply(500) }
            return name == .range
                ? .reply(206, [.contentRange: "bytes 9-12/13", .eTag: "\"1\"", .cacheControl: "max-age=60"], "good")
                : .reply(200, [.cacheControl: "max-age=0"], "good")
        }
        let fixture = try fixture(transport)
        for _ in 0..<3 { await fail(fixture, 500, request()) }
        #expect(transport.requestCount == 1)
        #expect(try await fixture.loader.load(request(.get, fields)).text == "good")
        #expect(transport.requestCount == 2)
        await fail(fixture, 500, request())
        #expect(transport.requestCount == 2, "that success does not end the block")
    }

    @Test("Other request fields do not distinguish requests")
    func otherFields() async throws {
        let transport = ScriptedTransport { _, _ in .reply(404) }
        let fixture = try fixture(transport)
        await fail(fixture, 404, request(.get, [.accept: "text/html"]))
        await fail(fixture, 404, request(.get, [.userAgent: "test"]))
        await fail(fixture, 404, request())
        #expect(transport.requestCount == 1)
    }
}

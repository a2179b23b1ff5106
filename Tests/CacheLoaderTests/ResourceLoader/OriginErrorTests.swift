import TestSupport

@Suite("OriginError", .timeLimit(.minutes(5))) struct OriginErrorTests {
    private static let problem = Data(#"{"type":"about:blank","title":"Out of credit","status":403}"#.utf8)
    private static let problemFields: HTTPFields = [
        .contentType: "application/problem+json", .setCookie: "session=secret",
    ]
    private static let maxBodyBytes = OriginError.maxBodyBytes

    private let url = "https://example.com/a"

    /// Loads, and returns the error of the origin.
    private func failure(_ loader: ResourceLoader, _ request: ResourceRequest) async throws -> OriginError {
        let error = await #expect(throws: LoadError.self) { try await loader.load(request) }
        guard case .httpStatus(let failure)? = error else { throw error ?? .cancelled }
        return failure
    }

    private func fixture(_ reply: @escaping @Sendable () -> TransportResponse) throws -> LoaderFixture {
        try LoaderFixture(transport: ScriptedTransport { _, _ in reply() })
    }

    // MARK: Over a real transport

    @Test(
        "An error has the status, the fields and the body of the response", .requirement("D4"),
        arguments: TransportAdapter.allCases)
    func problem(_ adapter: TransportAdapter) async throws {
        let origin = try await LoopbackOrigin { _ in
            .status(.forbidden, fields: Self.problemFields, body: Self.problem)
        }
        let fixture = try LoaderFixture(transport: adapter.make())
        let url = origin.url("/a")
        let error = try await failure(fixture.loader, ResourceRequest(url))
        #expect(error.status == .forbidden)
        #expect(error.url == url)
        #expect(error.headerFields[.contentType] == "application/problem+json")
        #expect(error.body == Self.problem)
        #expect(!error.isBodyTruncated)
        #expect(LoadError.httpStatus(error).status == .forbidden)
        #expect(try fixture.store.statistics().entries == 0)
        await origin.stop()
    }

    @Test(
        "An error has the first 64 KiB of a longer body", .requirement("D4"), arguments: TransportAdapter.allCases,
        [maxBodyBytes, maxBodyBytes + 1, 10 * maxBodyBytes])
    func limit(_ adapter: TransportAdapter, byteCount: Int) async throws {
        let body = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 / 251) }
        let origin = try await LoopbackOrigin { _ in .status(.badGateway, body: body) }
        let fixture = try LoaderFixture(transport: adapter.make())
        let error = try await failure(fixture.loader, ResourceRequest(origin.url("/a")))
        #expect(error.body == Data(body.prefix(Self.maxBodyBytes)))
        #expect(error.isBodyTruncated == (byteCount > Self.maxBodyBytes))
        await origin.stop()
    }

    @Test("An error after HEAD has the fields and no body", .requirement("D4"), arguments: TransportAdapter.allCases)
    func head(_ adapter: TransportAdapter) async throws {
        let origin = try await LoopbackOrigin { _ in
            .status(.notFound, fields: Self.problemFields, body: Self.problem)
        }
        let fixture = try LoaderFixture(transport: adapter.make())
        let error = try await failure(fixture.loader, ResourceRequest(origin.url("/a"), method: .head))
        #expect(error.status == .notFound)
        #expect(error.headerFields[.contentType] == "application/problem+json")
        #expect(error.headerFields[.contentLength] == "\(Self.problem.count)")
        #expect(error.body.isEmpty)
        #expect(!error.isBodyTruncated)
        await origin.stop()
    }

    @Test(
        "While a key is blocked, an error has the status and neither fields nor body", .requirement("D1", "D4"),
        arguments: TransportAdapter.allCases)
    func negativeCaching(_ adapter: TransportAdapter) async throws {
        let origin = try await LoopbackOrigin { _ in
            .status(.notFound, fields: Self.problemFields, body: Self.problem)
        }
        let fixture = try LoaderFixture(transport: adapter.make()) {
            $0.negativeCaching = NegativeCaching(lifetime: .seconds(60), maxAttempts: 1)
        }
        let request = ResourceRequest(origin.url("/a"))
        #expect(try await failure(fixture.loader, request).body == Self.problem)
        let blocked = try await failure(fixture.loader, request)
        #expect(blocked == OriginError(status: .notFound, url: request.url))
        #expect(blocked.body.isEmpty)
        #expect(blocked.headerFields.isEmpty)
        #expect(!blocked.isBodyTruncated)
        #expect(origin.requestCount == 1)
        await origin.stop()
    }

    // MARK: Parts of the body

    @Test("Reads no more of a body than an error holds, so its end may be unknown", .requirement("D4"))
    func unread() async throws {
        let chunk = Data(repeating: 7, count: Self.maxBodyBytes / 2)
        let count = Counter()
        let fixture = try fixture {
            TransportResponse(
                head: HTTPResponse(status: .badGateway),
                body: TransportBody { () async throws(TransportError) -> Data? in
                    count.next()
                    return chunk
                })
        }
        let error = try await failure(fixture.loader, ResourceRequest(url))
        #expect(error.body == chunk + chunk)
        #expect(error.isBodyTruncated)
        #expect(count.count == 2)
    }

    @Test("An error has the received part of a body that breaks off", .requirement("D4"))
    func brokenOff() async throws {
        let fixture = try fixture { .reply(500, [:], "half", failure: TransportError(.connectionLost)) }
        let error = try await failure(fixture.loader, ResourceRequest(url))
        #expect(error.body == Data("half".utf8))
        #expect(error.isBodyTruncated)
    }

    @Test("The body of an error has no content coding", .requirement("D4"), arguments: [true, false])
    func coding(decodes: Bool) async throws {
        let gzip = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11HIQKIAn6HKCRMAAAA="))
        let fields: HTTPFields = [.contentEncoding: "gzip", .contentLength: "\(gzip.count)"]
        let fixture = try fixture {
            TransportResponse(head: HTTPResponse(status: .badRequest, headerFields: fields), body: TransportBody(gzip))
        }
        fixture.loader.configuration.decodesContent = decodes
        let error = try await failure(fixture.loader, ResourceRequest(url))
        #expect(error.body == (decodes ? Data("hello, hello, hello".utf8) : gzip))
        #expect(error.headerFields[.contentEncoding] == (decodes ? nil : "gzip"))
        #expect(error.headerFields[.contentLength] == (decodes ? nil : "\(gzip.count)"))
        #expect(!error.isBodyTruncated)
    }

    @Test("An error from the store has the stored body", .requirement("D4"))
    func stored() async throws {
        let transport = ScriptedTransport { _, _ in .reply(404, [.cacheControl: "max-age=60"], "gone") }
        let fixture = try LoaderFixture(transport: transport)
        #expect(try await fixture.cache.response(for: .to("/a")).text == "gone")
        let error = try await failure(fixture.loader, ResourceRequest(url))
        #expect(error.status == .notFound)
        #expect(error.body == Data("gone".utf8))
        #expect(!error.isBodyTruncated)
        #expect(transport.requestCount == 1)
    }

    @Test("The error that comes with a stale response has the fields and no body", .requirement("C7"))
    func stale() async throws {
        let first = FirstTime()
        let fixture = try LoaderFixture(
            transport: ScriptedTransport { _, _ in
                first.isFirst()
                    ? .reply(200, [.cacheControl: "max-age=60"], "good") : .reply(503, [.retryAfter: "9"], "sorry")
            }, policy: ResourceLoader.Configuration().policy)
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 61)
        guard case .httpStatus(let error)? = try await fixture.loader.load(url).failure else {
            Issue.record("no status")
            return
        }
        #expect(error.status == .serviceUnavailable)
        #expect(error.headerFields[.retryAfter] == "9")
        #expect(error.body.isEmpty)
    }

    // MARK: Descriptions

    @Test("No description of an error contains the body or a field", .requirement("D4"))
    func description() {
        let error = OriginError(status: .forbidden, url: url, headerFields: Self.problemFields, body: Self.problem)
        let text = "\(url): the origin answered with status 403"
        let load: LoadError? = .httpStatus(error)
        for description in [
            "\(error)", "\(LoadError.httpStatus(error))", String(reflecting: error), String(reflecting: load),
            "\([load])", error.localizedDescription,
        ] {
            #expect(!description.contains("secret"), "\(description)")
            #expect(!description.contains("credit"), "\(description)")
        }
        #expect("\(error)" == text)
        #expect("\(LoadError.httpStatus(error))" == text)
    }
}

import TestSupport

@Suite("HTTPCache: resumed bodies", .timeLimit(.minutes(5))) struct ResumingTests {
    private let key: CacheKey
    private let origin = RepresentationOrigin("0123456789")

    init() throws { key = try CacheKey(url: "https://example.com/a") }

    /// Makes a response break off after this many bytes, which the store keeps.
    private func breakOff(_ fixture: LoaderFixture, after count: Int) async throws {
        origin.set { $0.breaksOffAfter = count }
        await #expect(throws: LoadError.self) { try await fixture.cache.response(for: .to("/a")).bytes }
        origin.set { $0.breaksOffAfter = nil }
    }

    @Test("Requests the rest, delivers it after the stored bytes, stores the whole", .requirement("G15", "G18", "S18"))
    func resuming() async throws {
        let transport = origin.transport
        let directory = try TemporaryDirectory()
        do {
            let fixture = try LoaderFixture(transport: transport, directory: directory)
            try await breakOff(fixture, after: 4)
            #expect(try fixture.store.responses(for: key).map(\.byteCount) == [4])
            #expect(try fixture.store.responses(for: key).map(\.metadata.part?.completeLength) == [10])
            fixture.store.close()
        }
        let fixture = try LoaderFixture(transport: transport, directory: directory)
        let resumed = try await fixture.cache.response(for: .to("/a"))
        #expect(resumed.status == .ok)
        #expect(resumed.headerFields[.contentLength] == "10")
        #expect(resumed.headerFields[.contentRange] == nil)
        #expect(resumed.cacheStatus?.contains("fwd=partial;fwd-status=206") == true)
        #expect(try await resumed.text == "0123456789")
        #expect(transport.requests.last?.headerFields[.range] == "bytes=4-")
        #expect(transport.requests.last?.headerFields[.ifRange] == "\"1\"")
        #expect(try fixture.store.responses(for: key).map(\.metadata.part) == [nil])
        #expect(try await fixture.cache.response(for: .to("/a")).text == "0123456789")
        #expect(transport.requestCount == 2)
        #expect(try await fixture.store.check(digests: true).isSound)
    }

    @Test(
        "Does not resume a response with only a weak validator, or none", .requirement("G15"),
        arguments: ["W/\"1\"", nil])
    func weak(etag: String?) async throws {
        origin.set { $0.fields[.eTag] = etag }
        let (transport, fixture) = try LoaderFixture.sending(to: origin.transport)
        try await breakOff(fixture, after: 4)
        #expect(try fixture.store.statistics().entries == 0)
        #expect(try await fixture.cache.response(for: .to("/a")).text == "0123456789")
        #expect(transport.requests.allSatisfy { $0.headerFields[.range] == nil })
    }

    @Test("An origin with a new representation sends it whole, and it replaces the part", .requirement("G18"))
    func changed() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: origin.transport)
        try await breakOff(fixture, after: 4)
        origin.set { state in
            state.body = Data("other".utf8)
            state.fields[.eTag] = "\"2\""
        }
        #expect(try await fixture.cache.response(for: .to("/a")).text == "other")
        #expect(transport.requestCount == 2)
        #expect(try fixture.store.responses(for: key).map(\.metadata.etag) == ["\"2\""])
        #expect(try fixture.store.responses(for: key).map(\.metadata.part) == [nil])
    }

    enum Misfit: String, CaseIterable {
        case otherValidator, otherOffset, short, unsatisfiable, notModified

        var reply: TransportResponse {
            let fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: self == .otherValidator ? "\"2\"" : "\"1\""]
            func part(_ range: String, _ text: String) -> TransportResponse {
                var fields = fields
                fields[.contentRange] = range
                return .reply(206, fields, text)
            }
            return switch self {
            case .otherValidator: part("bytes 4-9/10", "efghij")
            case .otherOffset: part("bytes 5-9/10", "56789")
            case .short: part("bytes 4-7/10", "4567")
            case .unsatisfiable: .reply(416, [.contentRange: "bytes */4"])
            case .notModified: .reply(304, fields)
            }
        }
    }

    @Test("A mismatched rest discards the part and requests the whole", .requirement("G18"), arguments: Misfit.allCases)
    func misfit(_ misfit: Misfit) async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: origin.transport)
        try await breakOff(fixture, after: 4)
        origin.set { $0.override = { $0.headerFields[.range] == nil ? nil : misfit.reply } }
        let answer = try await fixture.cache.response(for: .to("/a"))
        #expect(answer.status == .ok)
        #expect(try await answer.text == "0123456789")
        #expect(transport.requests.map { $0.headerFields[.range] } == [nil, "bytes=4-", nil])
        #expect(try fixture.store.responses(for: key).map(\.metadata.part) == [nil])
    }

    @Test(
        "A rest with fewer or more bytes than announced does not become a whole", .requirement("S18", "G18"),
        arguments: ["45678", "456789x"])
    func lyingRest(content: String) async throws {
        let fixture = try LoaderFixture(transport: origin.transport)
        try await breakOff(fixture, after: 4)
        origin.set {
            $0.override = { request in
                request.headerFields[.range] == nil
                    ? nil
                    : .reply(
                        206, [.cacheControl: "max-age=60", .eTag: "\"1\"", .contentRange: "bytes 4-9/10"], content)
            }
        }
        await #expect(throws: LoadError.self) { try await fixture.cache.response(for: .to("/a")).bytes }
        #expect(try fixture.store.responses(for: key).allSatisfy { $0.metadata.part != nil })
        origin.set { $0.override = nil }
        #expect(try await fixture.cache.response(for: .to("/a")).text == "0123456789")
    }

    @Test("A resumed body that breaks off again is a longer part", .requirement("G18"))
    func again() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: origin.transport)
        try await breakOff(fixture, after: 3)
        try await breakOff(fixture, after: 4)
        #expect(try fixture.store.responses(for: key).map(\.byteCount) == [7])
        #expect(try await fixture.cache.response(for: .to("/a")).text == "0123456789")
        #expect(transport.requests.map { $0.headerFields[.range] } == [nil, "bytes=3-", "bytes=7-"])
        #expect(try await fixture.store.check(digests: true).isSound)
    }

    @Test(
        "Delivers an error in answer to the request for the rest, and keeps the part", .requirement("G18"),
        arguments: [404, 503])
    func error(code: Int) async throws {
        let fixture = try LoaderFixture(transport: origin.transport)
        try await breakOff(fixture, after: 4)
        origin.set { $0.override = { _ in .reply(.init(code: code), [:], "error") } }
        let answer = try await fixture.cache.response(for: .to("/a"))
        #expect(answer.status.code == code)
        #expect(try await answer.text == "error")
        origin.set { $0.override = nil }
        #expect(try await fixture.cache.response(for: .to("/a")).text == "0123456789")
    }

    @Test("A stored part does not answer for the whole when the origin is unreachable", .requirement("G02"))
    func unreachable() async throws {
        let origin = origin
        let isDown = Counter()
        let (_, fixture) = try LoaderFixture.scripted { request, _ throws(TransportError) in
            if isDown.count > 0 { throw TransportError(.cannotConnect) }
            return try await origin.transport.send(request, content: nil)
        }
        try await breakOff(fixture, after: 4)
        isDown.next()
        #expect(try await fixture.cache.response(for: .to("/a")).status.kind == .serverError)
        let range = try await fixture.cache.response(for: .to("/a", [.range: "bytes=0-3"]))
        #expect(try await range.text == "0123")
    }

    @Test("Readers that join during the rest get the whole body from the first byte", .requirement("E1", "G18"))
    func sharedResumption() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: origin.transport)
        try await breakOff(fixture, after: 4)
        let fed = FedBody("45")
        origin.set {
            $0.override = { _ in
                fed.response(
                    .partialContent, [.cacheControl: "max-age=60", .eTag: "\"1\"", .contentRange: "bytes 4-9/10"])
            }
        }
        let first = try await fixture.cache.response(for: .to("/a"))
        let second = try await fixture.cache.response(for: .to("/a"))
        fed.feed("6789")
        fed.end()
        #expect(try await second.text == "0123456789")
        #expect(try await first.data() == Data("0123456789".utf8))
        #expect(transport.requestCount == 2)
    }
}

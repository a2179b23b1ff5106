import TestSupport

@Suite("HTTPCache: interim responses", .timeLimit(.minutes(5))) struct InterimResponseTests {
    private static let fresh: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"1\""]

    private static let hinted = ScriptedReply.reply(200, fresh, "page")
        .preceded(by: 103, [.server: "a"]).preceded(by: 102).preceded(by: 103, [.server: "b"])

    @Test("RFC 9110 §15.2: the caller gets the interim responses, in order and before its response")
    func order() async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport(Self.hinted))
        let received = ReceivedHeads()
        let response = try await fixture.cache.response(for: .to("/a")) { received.append($0) }
        #expect(received.heads.map(\.status.code) == [103, 102, 103])
        #expect(received.heads.map { $0.headerFields[.server] } == ["a", nil, "b"])
        #expect(response.status == .ok)
        #expect(try await response.text == "page")
        let entry = try #require(try fixture.store.responses(for: try CacheKey(url: "https://example.com/a")).first)
        #expect(entry.metadata.status == 200)
        #expect(!String(decoding: entry.metadata.head, as: UTF8.self).lowercased().contains("server"))
    }

    @Test("A hit has no interim responses, with either method")
    func hit() async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport(Self.hinted))
        _ = try await fixture.cache.response(for: .to("/a")).text
        let received = ReceivedHeads()
        let hit = try await fixture.cache.response(for: .to("/a")) { received.append($0) }
        #expect(hit.source == .disk)
        #expect(received.heads.isEmpty)
    }

    @Test("A validation for a caller delivers interim responses; a background validation does not")
    func validation() async throws {
        let stale: HTTPFields = [.cacheControl: "max-age=10, stale-while-revalidate=60", .eTag: "\"1\""]
        let transport = ScriptedTransport(
            .reply(200, stale, "page"), .reply(304, stale).preceded(by: 103), .reply(304, stale).preceded(by: 103))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a")).text
        fixture.clock.advance(by: .seconds(100))
        let received = ReceivedHeads()
        let validated = try await fixture.cache.response(for: .to("/a")) { received.append($0) }
        #expect(validated.source == .notModified)
        #expect(received.heads.count == 1)
        fixture.clock.advance(by: .seconds(30))
        let hit = try await fixture.cache.response(for: .to("/a")) { received.append($0) }
        #expect(hit.isStale)
        await eventually { transport.requestCount == 3 && !fixture.cache.isRevalidating }
        #expect(received.heads.count == 1)
    }

    @Test("A request that joins another caller's request gets none of its interim responses")
    @MainActor
    func follower() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: HintingTransport())
        let (first, second) = (ReceivedHeads(), ReceivedHeads())
        let leader = Task { @MainActor in try await fixture.cache.response(for: .to("/a")) { first.append($0) }.text }
        await transport.isAsked.reached(1)
        var hasBegun = false
        let follower = Task { @MainActor in
            hasBegun = true
            return try await fixture.cache.response(for: .to("/a")) { second.append($0) }.text
        }
        await eventually { hasBegun }
        transport.isAsked.open()
        #expect(try await leader.value == "page")
        #expect(try await follower.value == "page")
        #expect(transport.requestCount.withLock { $0 } == 1)
        #expect(first.heads.map(\.status.code) == [103])
        #expect(second.heads.isEmpty)
    }

    @Test("A caller that left gets no interim response of the continuing request")
    @MainActor
    func cancelled() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: HintingTransport())
        let received = ReceivedHeads()
        let leader = Task { @MainActor in
            try await fixture.cache.response(for: .to("/a")) { received.append($0) }.text
        }
        await transport.isAsked.reached(1)
        var hasBegun = false
        let follower = Task { @MainActor in
            hasBegun = true
            return try await fixture.cache.response(for: .to("/a")).text
        }
        await eventually { hasBegun }
        // Lets the second caller join the request.
        for _ in 0..<100 { await Task.yield() }
        leader.cancel()
        await #expect(throws: LoadError.cancelled) { try await leader.value }
        transport.isAsked.open()
        #expect(try await follower.value == "page")
        #expect(received.heads.isEmpty)
    }

    @Test("Interim responses that a transport delivers too late do not reach the caller")
    func late() async throws {
        let transport = HintingTransport(isLate: true)
        transport.isAsked.open()
        let fixture = try LoaderFixture(transport: transport)
        let received = ReceivedHeads()
        let response = try await fixture.cache.response(for: .to("/a")) { received.append($0) }
        #expect(try await response.text == "page")
        #expect(received.heads.isEmpty)
    }

    @Test("RFC 9110 §15.2.2: a 101 is a final response, and is not stored")
    func switchingProtocols() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60, public", .upgrade: "h2c"]
        let fixture = try LoaderFixture(transport: ScriptedTransport(.reply(101, fields)))
        let received = ReceivedHeads()
        let response = try await fixture.cache.response(for: .to("/a")) { received.append($0) }
        #expect(response.status == .switchingProtocols)
        #expect(try await response.bytes.isEmpty)
        #expect(received.heads.isEmpty)
        #expect(try fixture.store.responses(for: try CacheKey(url: "https://example.com/a")).isEmpty)
    }

    @Test("Interim responses do not change the delivery of an error")
    func failure() async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport(.failure(.connectionLost).preceded(by: 103)))
        let received = ReceivedHeads()
        let response = try await fixture.cache.response(for: .to("/a")) { received.append($0) }
        #expect(response.status == .badGateway)
        #expect(received.heads.count == 1)
    }

    @Test("A loader ignores interim responses")
    func loader() async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport(Self.hinted))
        #expect(try await fixture.loader.load("https://example.com/a", as: .text).value == "page")
    }
}

/// The heads that a caller received.
private final class ReceivedHeads: Sendable {
    /// Guards the heads.
    private let received = Mutex<[HTTPResponse]>([])

    var heads: [HTTPResponse] { received.withLock { $0 } }

    func append(_ head: HTTPResponse) { received.withLock { $0.append(head) } }
}

/// Waits at a gate, sends an interim response, then a response.
private final class HintingTransport: HTTPTransport {
    let isAsked = Gate()
    let requestCount = Mutex(0)
    /// Whether the interim response is sent late, with the body.
    let isLate: Bool

    init(isLate: Bool = false) { self.isLate = isLate }

    func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        requestCount.withLock { $0 += 1 }
        await isAsked.wait()
        let hint = HTTPResponse(status: .earlyHints)
        guard isLate else {
            onInterimResponse(hint)
            return .reply(200, [.cacheControl: "max-age=60"], "page")
        }
        let body = TransportBody(Data("page".utf8))
        return TransportResponse(
            head: HTTPResponse(status: .ok),
            body: TransportBody { () async throws(TransportError) in
                onInterimResponse(hint)
                return try await body.next()
            })
    }
}

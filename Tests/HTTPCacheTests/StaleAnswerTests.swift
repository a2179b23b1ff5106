import TestSupport

@Suite("HTTPCache: stale answers", .timeLimit(.minutes(5))) struct StaleAnswerTests {
    private let key: CacheKey

    init() throws { key = try CacheKey(url: "https://example.com/a") }

    /// A cache whose origin first sends this response, and then the replies of `then`.
    private func filled(
        _ cacheControl: String, _ fields: HTTPFields = [:], policy: CachePolicy = CachePolicy(),
        then: @escaping @Sendable (HTTPRequest) async throws(TransportError) -> TransportResponse
    ) async throws -> (LoaderFixture, ScriptedTransport) {
        let number = Counter()
        let (transport, fixture) = try LoaderFixture.scripted(policy: policy) { request, _ throws(TransportError) in
            guard number.next() == 1 else { return try await then(request) }
            return .reply(200, [.cacheControl: cacheControl, .eTag: "\"1\"", .vary: "Accept-Language"], "old")
        }
        _ = try await fixture.cache.response(for: .to("/a", fields)).bytes
        return (fixture, transport)
    }

    @Test(
        "Within the window, serves stale immediately, and validates it once in full, with the fields of the request",
        .requirement("E01", "C04"))
    func whileRevalidating() async throws {
        let gate = Gate()
        let (fixture, transport) = try await filled(
            "max-age=10, stale-while-revalidate=60", [.acceptLanguage: "en", .userAgent: "first"]
        ) { _ in
            await gate.wait()
            return .reply(200, [.cacheControl: "max-age=10", .eTag: "\"2\"", .vary: "Accept-Language"], "new")
        }
        fixture.clock.advance(by: 30)
        for _ in 0..<5 {
            let stale = try await fixture.cache.response(
                for: .to("/a", [.acceptLanguage: "en", .userAgent: "second", .range: "bytes=0-1"]))
            #expect(stale.isStale)
            #expect(stale.source == .disk)
            #expect(stale.headerFields[.age] == "30")
            #expect(stale.cacheStatus == "CacheStore;hit;ttl=-20")
            #expect(stale.failure == nil)
            #expect(try await stale.text == "ol")
        }
        await gate.reached(1)
        gate.open()
        let request = HTTPRequest.to("/a", [.acceptLanguage: "en"])
        try await eventually { try fixture.store.responses(for: key).first?.metadata.etag == "\"2\"" }
        #expect(try await fixture.cache.response(for: request).text == "new")
        #expect(transport.requestCount == 2)
        #expect(transport.requests[1].headerFields[.ifNoneMatch] == "\"1\"")
        #expect(transport.requests[1].headerFields[.acceptLanguage] == "en")
        #expect(transport.requests[1].headerFields[.userAgent] == "second")
        #expect(transport.requests[1].headerFields[.range] == nil)
    }

    @Test("storedResponse does the same, and sends no request where none is allowed", .requirement("E01"))
    func storedResponse() async throws {
        let (fixture, transport) = try await filled("max-age=10, stale-while-revalidate=60") { _ in
            .reply(304, [.eTag: "\"1\"", .cacheControl: "max-age=10"])
        }
        fixture.clock.advance(by: 30)
        let forbidding = HTTPRequest.to("/a", [.cacheControl: "only-if-cached"])
        #expect(try await fixture.cache.response(for: forbidding).text == "old")
        #expect(!fixture.cache.isRevalidating)
        #expect(transport.requestCount == 1)
        #expect(try fixture.cache.storedResponse(for: .to("/a"))?.isStale == true)
        await eventually { !fixture.cache.isRevalidating }
        #expect(try fixture.cache.storedResponse(for: .to("/a"))?.isStale == false)
        #expect(transport.requestCount == 2)
    }

    @Test("Beyond the window a request waits for the validation", .requirement("E02"))
    func beyondWindow() async throws {
        let (fixture, transport) = try await filled("max-age=10, stale-while-revalidate=60") { _ in
            .reply(304, [.eTag: "\"1\""])
        }
        fixture.clock.advance(by: 71)
        let validated = try await fixture.cache.response(for: .to("/a"))
        #expect(validated.source == .notModified)
        #expect(validated.cacheStatus == "CacheStore;fwd=stale;fwd-status=304;ttl=10;stored")
        #expect(transport.requestCount == 2)
    }

    @Test(
        "must-revalidate and no-cache forbid serving stale", .requirement("E03", "R01", "R02"),
        arguments: ["must-revalidate", "no-cache"])
    func forbidden(directive: String) async throws {
        let (fixture, transport) = try await filled(
            "max-age=10, stale-while-revalidate=60, stale-if-error=60, \(directive)"
        ) { request throws(TransportError) in
            if request.headerFields[.userAgent] == "broken" { return .reply(503, [:], "error") }
            throw TransportError(.cannotConnect)
        }
        fixture.clock.advance(by: 30)
        let gateway = try await fixture.cache.response(for: .to("/a"))
        #expect(gateway.status == .gatewayTimeout, "R01, R02")
        #expect(gateway.source == .generated)
        #expect(gateway.cacheStatus == nil)
        #expect(gateway.failure == .transport(TransportError(.cannotConnect), url: "https://example.com/a"))
        let error = try await fixture.cache.response(for: .to("/a", [.userAgent: "broken"]))
        #expect(error.status == .serviceUnavailable)
        #expect(transport.requestCount == 3)
    }

    @Test(
        "Within stale-if-error, a stale response replaces an error", .requirement("E04", "E05", "C12"),
        arguments: [500, 501, 502, 503, 504, 505, 507])
    func ifError(code: Int) async throws {
        for directive in ["max-age=10, stale-if-error=60", "max-age=10"] {
            let (fixture, _) = try await filled(directive) { _ in .reply(.init(code: code), [:], "error") }
            fixture.clock.advance(by: 70)
            let fields: HTTPFields = directive.contains("stale") ? [:] : [.cacheControl: "stale-if-error=60"]
            let stale = try await fixture.cache.response(for: .to("/a", fields))
            #expect(stale.isStale)
            #expect(stale.status == .ok)
            #expect(stale.failure?.brief == .status(code, url: "https://example.com/a"))
            #expect(stale.cacheStatus == "CacheStore;fwd=stale;fwd-status=\(code)")
            #expect(stale.headerFields[.age] == "70")
            #expect(try await stale.text == "old")
            fixture.clock.advance(by: 1)
            let error = try await fixture.cache.response(for: .to("/a", fields))
            #expect(error.status.code == code)
            #expect(error.failure == nil)
            #expect(try fixture.store.contains(key), "I02")
        }
    }

    @Test("A 404 is an answer, not an error that a stale response replaces", .requirement("E05"))
    func notFound() async throws {
        let (fixture, _) = try await filled("max-age=10, stale-if-error=60") { _ in .reply(404, [:], "gone") }
        fixture.clock.advance(by: 30)
        #expect(try await fixture.cache.response(for: .to("/a")).status == .notFound)
    }

    @Test("Failed background revalidations back off, others do not", .requirement("E06"), arguments: [nil, 503])
    func backOff(code: Int?) async throws {
        let isBroken = Mutex(true)
        let (fixture, transport) = try await filled("max-age=10, stale-while-revalidate=100000") {
            _ throws(TransportError) in
            guard isBroken.withLock({ $0 }) else { return .reply(304, [.eTag: "\"1\"", .cacheControl: "max-age=1"]) }
            guard let code else { throw TransportError(.cannotConnect) }
            return .reply(.init(code: code), [:], "error")
        }
        func ask() async throws {
            #expect(try await fixture.cache.response(for: .to("/a")).text == "old")
            await eventually { !fixture.cache.isRevalidating }
        }
        fixture.clock.advance(by: 20)
        try await ask()
        #expect(transport.requestCount == 2)
        var sent = 2
        for pause in [1, 2, 4, 8] {
            try await ask()
            fixture.clock.advance(by: Double(pause) - 1)
            try await ask()
            #expect(transport.requestCount == sent, "not yet")
            fixture.clock.advance(by: 1)
            sent += 1
            try await ask()
            #expect(transport.requestCount == sent)
        }
        isBroken.withLock { $0 = false }
        fixture.clock.advance(by: 16)
        try await ask()
        #expect(transport.requestCount == sent + 1)
        #expect(try fixture.cache.storedResponse(for: .to("/a"))?.isStale == false)
    }

    @Test(
        "A stored response, however stale, answers when the origin is unreachable", .requirement("R03", "A07"),
        arguments: [TransportError.Code.cannotConnect, .timedOut, .connectionLost, .insecure, .malformedResponse])
    func disconnected(code: TransportError.Code) async throws {
        let (fixture, _) = try await filled("max-age=10") { _ throws(TransportError) in throw TransportError(code) }
        fixture.clock.advance(by: 1_000_000)
        let stale = try await fixture.cache.response(for: .to("/a"))
        #expect(stale.isStale)
        #expect(stale.failure == .transport(TransportError(code), url: "https://example.com/a"))
        #expect(stale.cacheStatus == "CacheStore;fwd=stale")
        #expect(try await stale.text == "old")
        let head = try await fixture.cache.response(for: .to("/a", method: .head))
        #expect(head.isStale)
        for fields in [[.cacheControl: "no-cache"], [.cacheControl: "max-age=5"]] as [HTTPFields] {
            let answer = try await fixture.cache.response(for: .to("/a", fields))
            #expect(answer.status == .gatewayTimeout, "it wants no stale one")
        }
        let post = try await fixture.cache.response(for: .to("/a", method: .post))
        #expect(post.status == (code == .timedOut ? .gatewayTimeout : .badGateway))
        let other = try await fixture.cache.response(for: .to("/b"))
        #expect(other.status == (code == .timedOut ? .gatewayTimeout : .badGateway))
    }

    @Test("Not if the policy forbids it", .requirement("R03"))
    func forbiddenByPolicy() async throws {
        let (fixture, _) = try await filled("max-age=10", policy: CachePolicy(staleWhenDisconnected: .zero)) {
            _ throws(TransportError) in throw TransportError(.cannotConnect)
        }
        fixture.clock.advance(by: 20)
        #expect(try await fixture.cache.response(for: .to("/a")).status == .gatewayTimeout)
    }

    @Test("max-stale allows a stale answer, but not against must-revalidate", .requirement("Q02", "Q05"))
    func maxStale() async throws {
        for (directive, source) in [("max-age=10", ResponseSource.disk), ("max-age=10, must-revalidate", .notModified)]
        {
            let (fixture, _) = try await filled(directive) { _ in .reply(304, [.eTag: "\"1\""]) }
            fixture.clock.advance(by: 20)
            let answer = try await fixture.cache.response(for: .to("/a", [.cacheControl: "max-stale=10"]))
            #expect(answer.source == source)
            #expect(answer.isStale == (source == .disk))
        }
    }
}

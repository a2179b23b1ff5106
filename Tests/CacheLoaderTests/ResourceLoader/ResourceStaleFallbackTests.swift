import TestSupport

@Suite("Stale responses on errors of the origin") struct ResourceStaleFallbackTests {
    private static let url = "https://example.com/a"

    /// An origin that answers once, then fails.
    private static func transport(_ fields: HTTPFields, failing failure: TransportResponse?) -> ScriptedTransport {
        let gate = FirstTime()
        return ScriptedTransport { _, _ throws(TransportError) in
            if gate.isFirst() { return .reply(200, fields, "good") }
            guard let failure else { throw TransportError(.cannotConnect) }
            return failure
        }
    }

    @Test(
        "A stale body with its flag set replaces an error; with the option off, or without a body, the load throws",
        .requirement("C7"), arguments: [nil, 500, 502, 503, 504] as [Int?])
    func staleFallback(status: Int?) async throws {
        let failure = status.map { TransportResponse.reply(HTTPResponse.Status(code: $0), [:], "sorry") }
        let expected: LoadError =
            status.map { .status($0, url: Self.url) }
            ?? .transport(TransportError(.cannotConnect), url: Self.url)
        let fixture = try LoaderFixture(
            transport: Self.transport([.cacheControl: "max-age=60"], failing: failure),
            policy: ResourceLoader.Configuration().policy)
        _ = try await fixture.loader.load(Self.url)
        fixture.clock.advance(by: 61)
        let stale = try await fixture.loader.load(Self.url)
        #expect(stale.text == "good")
        #expect(stale.isStale)
        #expect(stale.failure?.brief == expected)
        #expect(stale.age == 61)

        let off = CachePolicy.Override(staleIfError: .zero, staleWhenDisconnected: .zero)
        await expectError(expected) { try await fixture.loader.load(ResourceRequest(Self.url, policy: off)) }
        try await fixture.store.remove(CacheKey(url: Self.url))
        await expectError(expected) { try await fixture.loader.load(Self.url) }
    }

    @Test(
        "A body that breaks off at every attempt is replaced by the stored one, where the response permits it",
        .requirement("C7"), arguments: ["max-age=60", "max-age=60, must-revalidate"])
    func brokenBody(cacheControl: String) async throws {
        let first = FirstTime()
        let lost = TransportError(.connectionLost)
        let transport = ScriptedTransport { _, _ in
            first.isFirst()
                ? .reply(200, [.cacheControl: cacheControl, .eTag: "\"1\""], "good")
                : .reply(200, [.cacheControl: cacheControl, .eTag: "\"2\""], "ba", failure: lost)
        }
        let fixture = try LoaderFixture(transport: transport, policy: ResourceLoader.Configuration().policy) {
            $0.retry = RetryPolicy(maxAttempts: 3)
            $0.sleep = { _ in }
        }
        _ = try await fixture.loader.load(Self.url)
        fixture.clock.advance(by: 61)
        if cacheControl.contains("must-revalidate") {
            await expectError(.transport(lost, url: Self.url)) { try await fixture.loader.load(Self.url) }
        } else {
            let stale = try await fixture.loader.load(Self.url)
            #expect(stale.text == "good")
            #expect(stale.isStale)
            #expect(stale.source == .disk)
            #expect(stale.failure?.brief == .transport(lost, url: Self.url))
        }
        #expect(transport.requestCount == 4)
    }
}

import TestSupport

@Suite("ResourceLoader: QUERY", .timeLimit(.minutes(5))) struct QueryLoadTests {
    private static let url = "https://example.com/a"

    private func query(
        _ content: String, _ url: String = url, key: String? = nil, policy: CachePolicy.Override = .init()
    ) -> ResourceRequest {
        ResourceRequest(
            url, method: .query, content: Data(content.utf8), headerFields: [.contentType: "application/sql"],
            policy: policy, key: key)
    }

    /// An origin that answers with the content of the request, and with redirects for paths that are status codes.
    private static func echo(_ fields: HTTPFields = [.cacheControl: "max-age=60"]) -> ScriptedTransport {
        ScriptedTransport { request, content in
            if let path = request.path, let status = Int(path.dropFirst()) {
                return .reply(HTTPResponse.Status(code: status), [.location: "/a", .cacheControl: "max-age=60"])
            }
            return .reply(200, fields, "\(request.method): \(String(decoding: content ?? Data(), as: UTF8.self))")
        }
    }

    private func text(_ loaded: Loaded<Data>) -> String { String(decoding: loaded.value, as: UTF8.self) }

    @Test(
        "the store answers equal queries, also under a name of the caller's", .requirement("Q11"),
        arguments: [nil, "name"] as [String?])
    func stored(key: String?) async throws {
        let fixture = try LoaderFixture(transport: Self.echo())
        for (content, source) in [("one", ResponseSource.network), ("one", .disk), ("two", .network)] {
            let loaded = try await fixture.loader.load(query(content, key: key))
            #expect(loaded.source == source)
            #expect(text(loaded) == "QUERY: \(content)")
        }
        #expect(try await fixture.loader.load(ResourceRequest(Self.url, key: key)).source == .network)
        #expect(try fixture.loader.contains(query("two", key: key)))
        #expect(try !fixture.loader.contains(query("three", key: key)))
        guard key == nil else { return }
        #expect(try await fixture.loader.remove(Self.url), "a removal of the URL removes the answers to its queries")
        #expect(try await fixture.loader.load(query("one")).source == .network)
    }

    @Test(
        "a redirect keeps the method and the content, except for 303", .requirement("Q16"),
        arguments: [(301, "QUERY: one"), (302, "QUERY: one"), (303, "GET: "), (307, "QUERY: one"), (308, "QUERY: one")])
    func redirected(status: Int, answer: String) async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: Self.echo())
        #expect(text(try await fixture.loader.load(query("one", "https://example.com/\(status)"))) == answer)
        // The target's response is stored under its own URL.
        let direct = status == 303 ? ResourceRequest(Self.url) : query("one")
        #expect(try await fixture.loader.load(direct).source == .disk)
        #expect(try await fixture.loader.load(query("one", "https://example.com/\(status)")).source == .disk)
        #expect(transport.requestCount == 2)
    }

    @Test(
        "loads that bypass the store share nothing, even with a name", .requirement("Q12"),
        arguments: [nil, "name"] as [String?])
    func bypass(key: String?) async throws {
        let fixture = try LoaderFixture(transport: Self.echo())
        var request = query("one", key: key)
        request.headerFields = [:]
        for _ in 0..<2 { #expect(try await fixture.loader.load(request).source == .network) }
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("a failure blocks only equal queries", .requirement("Q11"))
    func failures() async throws {
        let transport = ScriptedTransport { _, content in
            .reply(content == Data("bad".utf8) ? 422 : 200, [.cacheControl: "no-store"])
        }
        let fixture = try LoaderFixture(transport: transport) {
            $0.negativeCaching = NegativeCaching(lifetime: .seconds(60), maxAttempts: 1)
        }
        for _ in 0..<3 {
            await expectError(.status(422, url: Self.url)) { try await fixture.loader.load(query("bad")) }
        }
        #expect(transport.requestCount == 1)
        _ = try await fixture.loader.load(query("good"))
        #expect(transport.requestCount == 2)
    }

    @Test("cancelling a URL cancels its queries; cancelling a query cancels only equal ones")
    func cancelled() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { _, _ throws(TransportError) in
            do {
                try await Task.sleep(for: .seconds(3600))
            } catch {}
            throw TransportError(.cancelled)
        }
        let loads = ["one", "two"].map { content in Task { try await fixture.loader.load(query(content)) } }
        await eventually { transport.requestCount >= 2 }
        try fixture.loader.cancel(query("one"))
        await #expect(throws: LoadError.cancelled) { try await loads[0].value }
        try fixture.loader.cancel(Self.url)
        await #expect(throws: LoadError.cancelled) { try await loads[1].value }
    }

    @Test("a QUERY goes through the default transport to a real origin", .requirement("Q11"), .timeLimit(.minutes(5)))
    func realOrigin() async throws {
        let origin = try await LoopbackOrigin { request in
            .ok(Array("\(request.method): \(request.body.count)".utf8), cacheControl: "max-age=60")
        }
        let fixture = try LoaderFixture(transport: DefaultTransport.patient())
        let url = origin.url("/search")
        #expect(text(try await fixture.loader.load(query("one two", url))) == "QUERY: 7")
        #expect(try await fixture.loader.load(query("one two", url)).source == .disk)
        #expect(origin.requestCount == 1)
    }
}

import TestSupport

@Suite("ResourceLoader: eviction by value") struct LoaderEvictionTests {
    @Test("A loaded body stays, whatever its value; the least valuable other entry is evicted", .requirement("J5"))
    func newBodyStays() async throws {
        let transport = ScriptedTransport { request, _ in
            let body = request.path == "/small" ? "small" : String(repeating: "x", count: 100_000)
            return .reply(200, [.cacheControl: "max-age=600"], body)
        }
        let directory = try TemporaryDirectory()
        var configuration = ResponseStore.Configuration()
        configuration.limits = Limits(maxEntries: 1, lowWaterMark: 1)
        configuration.evictionPolicy = .valueAware
        let store = try ResponseStore(directory: directory.url, configuration: configuration)
        let loader = ResourceLoader(store: store, transport: transport)
        for _ in 1...5 { _ = try await loader.load("https://example.com/small") }
        try await store.flush()
        #expect(try await loader.load("https://example.com/large").source == .network)
        #expect(try await loader.load("https://example.com/large").source == .disk)
        #expect(try await loader.load("https://example.com/small").source == .network)
        #expect(transport.requests.map(\.path) == ["/small", "/large", "/small"])
        withExtendedLifetime(directory) {}
    }
}

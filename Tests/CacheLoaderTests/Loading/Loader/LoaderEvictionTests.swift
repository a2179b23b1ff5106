import CacheLoader
import CacheStore
import HTTPTypes
import TestSupport
import Testing

@Suite("ResourceLoader: eviction by value")
struct LoaderEvictionTests {
    @Test("J5: what has just arrived may be worth least and not stay; who has asked for it gets it all the same")
    func worthLeast() async throws {
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
        for _ in 1...2 {
            let large = try await loader.load("https://example.com/large")
            #expect(large.data.count == 100_000 && large.source == .network)
        }
        #expect(try await loader.load("https://example.com/small").source == .disk)
        #expect(transport.requests.map(\.path) == ["/small", "/large", "/large"])
        withExtendedLifetime(directory) {}
    }
}

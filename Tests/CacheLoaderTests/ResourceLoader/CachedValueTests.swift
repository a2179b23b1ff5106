import TestSupport

@Suite("ResourceLoader: cachedValue", .timeLimit(.minutes(5))) struct CachedValueTests {
    private let url = "https://example.com/a"

    private func fixture(
        _ directives: String = "max-age=60", _ body: String = #"{"a":1}"#, memoryLimit: Int? = 0
    ) throws -> (LoaderFixture, ScriptedTransport) {
        let transport = ScriptedTransport(.ok(body.utf8, cacheControl: directives, etag: "\"1\""))
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = memoryLimit }
        return (fixture, transport)
    }

    @Test("A fresh value comes from the store, then from memory, without an origin", .requirement("G6"))
    func storeAndMemory() async throws {
        let (fixture, transport) = try fixture(memoryLimit: 1 << 20)
        let type = [String: Int].self
        #expect(try fixture.loader.cachedValue(for: url, as: .json(type)) == nil)
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 5)
        let stored = try #require(try fixture.loader.cachedValue(for: url, as: .json(type)))
        #expect(stored.value == ["a": 1])
        #expect(stored.source == .disk)
        #expect(stored.age == 5)
        #expect(!stored.isStale)
        let kept = try #require(try fixture.loader.cachedValue(for: url, as: .json(type)))
        #expect(kept.value == ["a": 1])
        #expect(kept.source == .memory)
        #expect(try await fixture.loader.load(url, as: .json(type)).source == .memory)
        #expect(transport.requestCount == 1)
    }

    @Test("Supplied processors, their chains, and processors with a stored form run on the calling thread")
    func processors() async throws {
        let (fixture, _) = try fixture()
        _ = try await fixture.loader.load(url)
        let loader = fixture.loader
        #expect(try loader.cachedValue(for: url)?.text == #"{"a":1}"#)
        #expect(try loader.cachedValue(for: url, as: .data)?.value.count == 7)
        #expect(try loader.cachedValue(for: url, as: .text)?.value == #"{"a":1}"#)
        #expect(try loader.cachedValue(for: url, as: TextProcessor().then(Length()))?.value == 7)
        #expect(try loader.cachedValue(for: url, as: TextProcessor().stored(as: .text))?.value == #"{"a":1}"#)
        let error = #expect(throws: LoadError.self) { try loader.cachedValue(for: url, as: .json(Int.self)) }
        guard case .processing = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    private struct Length: SynchronousProcessor {
        let id = ProcessorID("length")
        func processSynchronously(_ input: String, _ context: ProcessingContext) -> Int { input.count }
    }

    @Test("A value of another processor comes only from memory, or from the store if it has a stored form")
    func asynchronousProcessor() async throws {
        let runs = Counter()
        let closure = ClosureProcessor<Data, String>(ProcessorID("closure")) { data, _ in
            runs.next()
            return String(decoding: data, as: UTF8.self)
        }
        let (fixture, _) = try fixture()
        _ = try await fixture.loader.load(url, as: closure)
        try await fixture.store.flush()
        let hits = try fixture.store.statistics().hits
        #expect(try fixture.loader.cachedValue(for: url, as: closure) == nil)
        try await fixture.store.flush()
        #expect(try fixture.store.statistics().hits == hits, "a missing value is no use")
        _ = try await fixture.loader.load(url, as: closure.stored(as: .text))
        #expect(runs.count == 2)
        #expect(try fixture.loader.cachedValue(for: url, as: closure.stored(as: .text))?.value == #"{"a":1}"#)
        fixture.loader.configuration.memoryLimit = 1 << 20
        _ = try await fixture.loader.load(url, as: closure)
        #expect(try fixture.loader.cachedValue(for: url, as: closure)?.source == .memory)
        #expect(runs.count == 3)
    }

    @Test(
        "Does not return a value that a load would validate",
        arguments: ["max-age=5", "no-cache", "max-age=5, stale-while-revalidate=600"])
    func stale(directives: String) async throws {
        let (fixture, transport) = try fixture(directives)
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 10)
        #expect(try fixture.loader.cachedValue(for: url) == nil)
        #expect(try fixture.loader.cachedValue(for: ResourceRequest(url, policy: .revalidateAlways)) == nil)
        #expect(try fixture.loader.cachedValue(for: ResourceRequest(url, policy: .remoteOnly)) == nil)
        #expect(try fixture.loader.cachedValue(for: ResourceRequest(url, method: .post)) == nil)
        let missing = ResourceRequest("https://example.com/b", policy: .cacheOnly)
        #expect(try fixture.loader.cachedValue(for: missing) == nil)
        let anyAge = try fixture.loader.cachedValue(for: ResourceRequest(url, policy: .cacheFirst))
        #expect(anyAge?.isStale == (directives == "no-cache" ? nil : true))
        #expect(transport.requestCount == 1)
    }

    @Test("Returning a value counts as an access to its entry and each stored redirect before it", .requirement("J1"))
    func access() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            request.path == "/a"
                ? .reply(301, [.location: "/b", .cacheControl: "max-age=60"])
                : .reply(200, [.cacheControl: "max-age=60"], "here")
        }
        _ = try await fixture.loader.load(url)
        try await fixture.stored(url)
        try await fixture.store.flush()
        let before = try fixture.store.statistics().hits
        let resource = try #require(try fixture.loader.cachedValue(for: url))
        #expect(resource.text == "here")
        #expect(resource.url == "https://example.com/b")
        try await fixture.store.flush()
        #expect(try fixture.store.statistics().hits == before + 2)
        #expect(transport.requestCount == 2)
    }

    @Test("A missing stored body, or one that is not in its coding, is a miss")
    func unusableBody() async throws {
        let (fixture, _) = try fixture()
        _ = try await fixture.loader.load(url)
        for blob in try fixture.blobs { try FileManager.default.removeItem(at: blob.url) }
        #expect(try fixture.loader.cachedValue(for: url) == nil)
        try await fixture.loader.insert(Data("plain".utf8), for: url, headerFields: [.contentEncoding: "gzip"])
        #expect(try fixture.loader.cachedValue(for: url) == nil)
    }
}

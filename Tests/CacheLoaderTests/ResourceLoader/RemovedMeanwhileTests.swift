import TestSupport

@Suite("Removals during a load", .timeLimit(.minutes(5))) struct RemovedMeanwhileTests {
    private let url = "https://example.com/a"

    enum Removal: String, CaseIterable {
        case clear, key, partition, host, otherKey, otherPartition, eviction

        func callAsFunction(_ store: ResponseStore) async throws {
            switch self {
            case .clear: try await store.clear()
            case .key: try await store.remove(CacheKey(url: "https://example.com/a"))
            case .partition: try await store.removeAll(.partition(""))
            case .host: try await store.removeAll(.host("example.com"))
            case .otherKey: try await store.remove(CacheKey(url: "https://example.com/b"))
            case .otherPartition: try await store.removeAll(.partition("p"))
            case .eviction: try await store.evict(.maxEntries(0))
            }
        }

        var refuses: Bool { [.clear, .key, .partition, .host].contains(self) }
    }

    @Test(
        "A hanging load delays no removal, delivers afterwards, and stores nothing", .requirement("J4"),
        arguments: Removal.allCases)
    func load(_ removal: Removal) async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "max-age=60"], "body"))
        let fixture = try LoaderFixture(transport: transport)
        try await fixture.loader.insert(Data("old".utf8), for: url, headerFields: [.cacheControl: "max-age=0"])
        async let loaded = fixture.loader.load(url)
        await gate.reached(1)
        try await removal(fixture.store)
        #expect(try fixture.loader.contains(url) == (removal == .otherKey || removal == .otherPartition))
        gate.open()
        #expect(try await loaded.text == "body")
        #expect(try fixture.loader.contains(url) == !removal.refuses)
        #expect(try fixture.loader.peek(url) == (removal.refuses ? nil : Data("body".utf8)))
        // The next load sends its own request, and is stored.
        #expect(try await fixture.loader.load(url).text == "body")
        #expect(transport.requestCount == (removal.refuses ? 2 : 1))
        #expect(try fixture.loader.peek(url) == Data("body".utf8))
    }

    @Test(
        "A load that begins after a removal of its key joins no earlier load", .requirement("J4"),
        arguments: Removal.allCases)
    func joining(_ removal: Removal) async throws {
        let gate = Gate()
        let count = Counter()
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            let number = count.next()
            if number == 1 { await gate.wait() }
            return .reply(200, [.cacheControl: "max-age=60"], number == 1 ? "before" : "after")
        }
        let (loader, request) = (fixture.loader, ResourceRequest(url))
        try await loader.insert(Data("old".utf8), for: url, headerFields: [.cacheControl: "max-age=0"])
        let before = Task { try await loader.load(request).text }
        await gate.reached(1)
        try await removal(fixture.store)
        let after = (0..<3).map { _ in Task { try await loader.load(request).text } }
        await eventually { loader.waiterCount(of: request) == 4 }
        gate.open()
        #expect(try await before.value == "before")
        for task in after { #expect(try await task.value == (removal.refuses ? "after" : "before")) }
        // The later loads share one request.
        #expect(transport.requestCount == (removal.refuses ? 2 : 1))
        try await eventually { try !loader.isLoading(request) }
        #expect(try loader.peek(url) == Data((removal.refuses ? "after" : "before").utf8))
    }

    @Test(
        "After the removal of a redirect or its target, a load joins no earlier load", .requirement("J4"),
        arguments: [true, false])
    func joiningRedirected(removesTarget: Bool) async throws {
        let gate = Gate()
        let count = Counter()
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            guard request.path == "/b" else { return .reply(302, [.location: "/b"]) }
            let number = count.next()
            if number == 1 { await gate.wait() }
            return .reply(200, [.cacheControl: "max-age=60"], number == 1 ? "before" : "after")
        }
        let (loader, request) = (fixture.loader, ResourceRequest(url))
        let (target, other) = (try CacheKey(url: "https://example.com/b"), try CacheKey(url: "https://example.com/c"))
        for key in [target, other] {
            try await loader.insert(Data("old".utf8), for: key.text, headerFields: [.cacheControl: "max-age=0"])
        }
        let before = Task { try await loader.load(request).text }
        await gate.reached(1)
        try await fixture.store.remove(removesTarget ? target : other)
        let after = Task { try await loader.load(request).text }
        await eventually { loader.waiterCount(of: request) == 2 }
        gate.open()
        #expect(try await before.value == "before")
        #expect(try await after.value == (removesTarget ? "after" : "before"))
    }

    @Test(
        "A reply that invalidates does not undo a removal during its request", .requirement("J4"),
        arguments: ["POST", "Clear-Site-Data"])
    func removalDuringInvalidation(kind: String) async throws {
        let gate = Gate()
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            await gate.wait()
            let fields: HTTPFields = [.cacheControl: "max-age=60", .contentLocation: "/a"]
            let clearing: HTTPFields = kind == "POST" ? [:] : [HTTPField.Name("Clear-Site-Data")!: "\"cache\""]
            return .reply(200, fields + clearing, "body")
        }
        fixture.cache.configuration.clearsSiteData = true
        let request = HTTPRequest.to("/a", method: kind == "POST" ? .post : .get)
        let cache = fixture.cache
        let loading = Task { try await cache.response(for: request).data() }
        await gate.reached(1)
        try await fixture.store.clear()
        gate.open()
        _ = try await loading.value
        #expect(try !fixture.store.contains(CacheKey(url: url)))
        // Without the removal it would be stored.
        _ = try await fixture.cache.response(for: request).data()
        #expect(try fixture.store.contains(CacheKey(url: url)))
    }

    @Test("Cancelling a resource also ends its loads from before a removal", .requirement("E4", "J4"))
    func cancellation() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "max-age=60"], "body"))
        let fixture = try LoaderFixture(transport: transport)
        let (loader, request) = (fixture.loader, ResourceRequest(url))
        let before = Task { try await loader.load(request).text }
        await gate.reached(1)
        try await fixture.store.clear()
        let after = Task { try await loader.load(request).text }
        await eventually { loader.waiterCount(of: request) == 2 }
        try loader.cancel(request)
        await #expect(throws: LoadError.cancelled) { try await before.value }
        await #expect(throws: LoadError.cancelled) { try await after.value }
        #expect(try !loader.isLoading(request))
        gate.open()
    }

    @Test(
        "Also applies to a half received body, a validation, and an error", .requirement("J4"),
        arguments: [200, 304, 500])
    func response(_ status: Int) async throws {
        let gate = Gate()
        let chunks = [Data("one".utf8), Data("two".utf8)]
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            if status != 200 { await gate.wait() }
            let head = HTTPResponse(
                status: .init(code: status), headerFields: [.cacheControl: "max-age=60", .eTag: "\"1\""])
            guard status == 200 else { return TransportResponse(head: head, body: TransportBody(Data())) }
            let script = TransportBody(chunks: chunks)
            return TransportResponse(
                head: head,
                body: TransportBody { () async throws(TransportError) in
                    let chunk = try await script.next()
                    if chunk == chunks[1] { await gate.wait() }
                    return chunk
                })
        }
        try await fixture.loader.insert(
            Data("old".utf8), for: url, headerFields: [.cacheControl: "max-age=0", .eTag: "\"1\""])
        let (loader, url) = (fixture.loader, url)
        let load = Task { try await loader.load(url) }
        await gate.reached(1)
        #expect(try await fixture.store.clear().entries == 1)
        gate.open()
        switch status {
        case 200: #expect(try await load.value.text == "onetwo")
        case 304: #expect(try await load.value.text == "old")
        default: await expectError(.status(500, url: url)) { try await load.value }
        }
        #expect(try !fixture.loader.contains(url))
        #expect(try fixture.store.failure(for: CacheKey(url: url)) == nil)
        #expect(try fixture.store.statistics().entries == 0)
        #expect(try await fixture.store.check(digests: true).isSound)
    }

    @Test(
        "A GET during a POST that changes its resource is delivered, and not stored", .requirement("J4"),
        arguments: [200, 404])
    func invalidated(_ status: Int) async throws {
        let gate = Gate()
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            if request.method == .get {
                await gate.wait()
                return .reply(200, [.cacheControl: "max-age=60"], "before")
            }
            return .reply(.init(code: status), [:], "done")
        }
        let cache = fixture.cache
        let get = Task { try await cache.response(for: .to("/a")).text }
        await gate.reached(1)
        #expect(
            try await cache.response(for: .to("/a", method: .post), content: RequestContent(Data("x".utf8))).text
                == "done")
        gate.open()
        #expect(try await get.value == "before")
        // RFC 9111 §4.4: an error of an unsafe method invalidates nothing.
        #expect(try fixture.loader.contains(url) == (status == 404))
    }
}

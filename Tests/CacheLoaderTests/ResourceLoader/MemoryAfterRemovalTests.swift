import TestSupport

@Suite("ResourceLoader: the memory follows the store", .timeLimit(.minutes(5))) struct MemoryAfterRemovalTests {
    private static let url = "https://example.com/a"
    private let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "body") }

    enum Removal: String, CaseIterable, CustomTestStringConvertible {
        case key, entry, partition, prefix, everything, clear, otherLoader, replacement

        var testDescription: String { rawValue }
    }

    @Test(
        "a removal from the store removes the values, whichever loader or program requests it", .requirement("J3"),
        arguments: Removal.allCases)
    func removed(_ removal: Removal) async throws {
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = 1 << 20 }
        let key = try CacheKey(url: Self.url)
        _ = try await fixture.loader.load(Self.url)
        #expect(try await fixture.loader.load(Self.url).source == .memory)
        switch removal {
        case .key: _ = try await fixture.store.remove(key)
        case .entry: _ = try await fixture.store.remove(try #require(try fixture.store.responses(for: key).first))
        case .partition: try await fixture.store.removeAll(.partition(""))
        case .prefix: try await fixture.store.removeAll(.prefix("https://example.com/"))
        case .everything: try await fixture.store.removeAll(.everything)
        case .clear: try await fixture.store.clear()
        case .otherLoader:
            let other = ResourceLoader(
                store: fixture.store, transport: transport, configuration: fixture.loader.configuration)
            try await other.remove(Self.url)
        case .replacement:
            let other = ResourceLoader(
                store: fixture.store, transport: transport, configuration: fixture.loader.configuration)
            try await other.insert(Data("new".utf8), for: Self.url)
        }
        let loaded = try await fixture.loader.load(Self.url)
        #expect(loaded.source == (removal == .replacement ? .disk : .network))
        #expect(loaded.text == (removal == .replacement ? "new" : "body"))
    }

    @Test("evicting an entry removes its value; an unstored response is loaded again each time", .requirement("G8"))
    func evicted() async throws {
        let number = Counter()
        let transport = ScriptedTransport { _, _ in
            number.next() == 1
                ? .reply(200, [.cacheControl: "max-age=60"], "old") : .reply(200, [.cacheControl: "no-store"], "new")
        }
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = 1 << 20 }
        _ = try await fixture.loader.load(Self.url)
        _ = try await fixture.store.evict(.maxBytes(0))
        #expect(try await fixture.loader.load(Self.url).text == "new")
        #expect(try await fixture.loader.load(Self.url).source == .network)
        #expect(number.count == 3)
    }

    @Test("a removal from one partition keeps the values of other partitions", .requirement("A5"))
    func otherPartition() async throws {
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = 1 << 20 }
        _ = try await fixture.loader.load(Self.url)
        try await fixture.store.removeAll(.partition("user"))
        #expect(try await fixture.loader.load(Self.url).source == .memory)
    }

    @Test("a 304 that arrives after a removal puts nothing into memory", .requirement("J4"), arguments: [true, false])
    func notModifiedAfterRemoval(_ isPartition: Bool) async throws {
        let gate = Gate()
        let number = Counter()
        let transport = ScriptedTransport { request, _ in
            guard number.next() > 1, request.headerFields[.ifNoneMatch] != nil else {
                return .reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\""], "body")
            }
            await gate.wait()
            return .reply(304, [.cacheControl: "max-age=60", .eTag: "\"1\""])
        }
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = 1 << 20 }
        _ = try await fixture.loader.load(Self.url)
        fixture.clock.advance(by: 61)
        async let load = fixture.loader.load(Self.url)
        await gate.reached(1)
        if isPartition { try await fixture.store.removeAll(.partition("")) } else { try await fixture.store.clear() }
        gate.open()
        #expect(try await load.source == .notModified)
        #expect(try await fixture.loader.load(Self.url).source == .network)
    }

    @Test("a value in memory omits the fields that no-cache=\"field\" withholds (RFC 9111 §5.2.2.4)")
    func withheldFields() async throws {
        let transport = ScriptedTransport { _, _ in
            .reply(
                200, [.cacheControl: "max-age=60, no-cache=\"set-cookie\"", .setCookie: "secret", .eTag: "\"1\""], "a")
        }
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = 1 << 20 }
        #expect(try await fixture.loader.load(Self.url).headerFields[.setCookie] == "secret")
        let loaded = try await fixture.loader.load(Self.url)
        #expect(loaded.source == .memory)
        #expect(loaded.headerFields[.setCookie] == nil)
        #expect(loaded.headerFields[.eTag] == "\"1\"")
    }
}

import TestSupport

@Suite("ResourceLoader: a store that fails", .timeLimit(.minutes(5))) struct StoreFailureTests {
    private let url = "https://example.com/a"

    private static func transport() -> ScriptedTransport {
        ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\""], "one, ", "two") }
    }

    /// The events of a load, and the store failures among them.
    private func events(
        _ loader: ResourceLoader, _ request: ResourceRequest? = nil
    ) async -> (names: [String], failures: [StoreError]) {
        let events = await loader.events(for: request ?? ResourceRequest(url)).all
        expectGrammatical(events)
        let failures = events.compactMap { if case .storeFailed(let error) = $0 { error } else { nil } }
        return (events.map(\.name), failures)
    }

    enum Trouble: CaseIterable {
        case closed, suspended, readOnly

        func explains(_ error: StoreError) -> Bool {
            switch (self, error) {
            case (.closed, .closed), (.suspended, .suspended), (.readOnly, .readOnly): true
            default: false
            }
        }
    }

    @Test(
        "A store that cannot be written fails no load, and reports storeFailed once for each load", .requirement("A7"),
        arguments: Trouble.allCases)
    func unwritable(_ trouble: Trouble) async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: Self.transport())
        var loader = fixture.loader
        switch trouble {
        case .closed: fixture.store.close()
        case .suspended: fixture.store.suspend()
        case .readOnly:
            var reading = ResponseStore.Configuration()
            reading.isReadOnly = true
            let store = try ResponseStore(directory: fixture.directory.url, configuration: reading)
            loader = ResourceLoader(store: store, transport: transport, configuration: loader.configuration)
        }
        for count in 1...2 {
            let (names, failures) = await events(loader)
            #expect(names.last == "completed network")
            #expect(failures.count == 1)
            #expect(failures.allSatisfy(trouble.explains), "\(failures)")
            #expect(transport.requestCount == count)
        }
        #expect(try await loader.load(url).text == "one, two")
        guard trouble == .suspended else { return }
        try fixture.store.resume()
        #expect(await events(loader).names.last == "completed network")
        #expect(await events(loader).names == ["completed disk"], "it can be written again")
    }

    @Test("A store that fails after the origin's answer fails no load, joined or not", .requirement("A7"))
    func closedMeanwhile() async throws {
        let fed = FedBody("one, ")
        let (_, fixture) = try LoaderFixture.scripted { _, _ in fed.response(.ok, [.cacheControl: "max-age=60"]) }
        let streams = (0..<3).map { _ in fixture.loader.events(for: ResourceRequest(url)) }
        await eventually { fixture.loader.waiterCount(of: ResourceRequest(url)) == 3 }
        await fed.asked(2)
        fixture.store.close()
        fed.feed("two")
        fed.end()
        for stream in streams {
            let events = await stream.all
            expectGrammatical(events)
            #expect(events.map(\.name).contains("storeFailed"))
            let loaded = try #require(events.last?.loaded, "\(events.map(\.name))")
            #expect(loaded.text == "one, two")
        }
    }

    @Test(
        "Reports a 304 that cannot be stored, and an error that cannot be counted", .requirement("A7"),
        arguments: [304, 404])
    func replies(status: Int) async throws {
        let first = FirstTime()
        let gate = Gate()
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            if first.isFirst() { return .reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\""], "good") }
            await gate.wait()
            return .reply(HTTPResponse.Status(code: status), [.eTag: "\"1\""])
        }
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 61)
        async let reported = events(fixture.loader)
        await gate.reached(1)
        fixture.store.close()
        gate.open()
        let (names, failures) = await reported
        #expect(failures == [.closed])
        #expect(names.last == (status == 304 ? "completed notModified" : "failed"))
    }

    @Test("A too large body, or a removal during the load, is not a store failure", .requirement("A7"))
    func deliberate() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "max-age=60"], "one, ", "two"))
        let fixture = try LoaderFixture(transport: transport, limits: Limits(maxEntryBytes: 6))
        async let tooLarge = events(fixture.loader)
        await gate.reached(1)
        gate.open()
        #expect(await tooLarge.failures == [])
        #expect(try fixture.store.statistics().entries == 0)

        let other = Gate()
        let removed = try LoaderFixture(
            transport: ScriptedTransport { _, _ in
                await other.wait()
                return .reply(200, [.cacheControl: "max-age=60"], "one")
            })
        async let meanwhile = events(removed.loader)
        await other.reached(1)
        try await removed.store.insert(
            Data("old".utf8), metadata: EntryMetadata(requestedAt: .now, receivedAt: .now), for: CacheKey(url: url))
        try await removed.loader.remove(url)
        other.open()
        #expect(await meanwhile.failures == [])
        #expect(try removed.store.statistics().entries == 0)
    }

    @Test("A healthy store reports nothing, hit or miss, new or unchanged", .requirement("A7"))
    func healthy() async throws {
        let fixture = try LoaderFixture(transport: Self.transport())
        for name in ["completed network", "completed disk", "completed network"] {
            let (names, failures) = await events(fixture.loader)
            #expect(names.last == name)
            #expect(failures == [])
            if name == "completed disk" { fixture.clock.advance(by: 61) }
        }
    }

    // MARK: Damage

    enum Damage: String, CaseIterable {
        case truncated, emptied, altered, deleted
    }

    private func damage(_ fixture: LoaderFixture, _ damage: Damage) throws {
        let blob = try #require(try fixture.blobs.first).url
        switch damage {
        case .truncated: try Data("on".utf8).write(to: blob)
        case .emptied: try Data().write(to: blob)
        case .altered: try Data("one, tow".utf8).write(to: blob)
        case .deleted: try FileManager.default.removeItem(at: blob)
        }
    }

    @Test(
        "A damaged entry is a miss: exactly 1 request, and then a sound entry", .requirement("A7"),
        arguments: Damage.allCases, [false, true])
    func damaged(_ kind: Damage, isStale: Bool) async throws {
        let transport = Self.transport()
        let before = try LoaderFixture(transport: transport)
        _ = try await before.loader.load(url)
        try await before.store.flush()
        before.store.close()
        try damage(before, kind)

        let fixture = try LoaderFixture(transport: transport, directory: before.directory)
        if isStale { fixture.clock.advance(by: 61) }
        let loaded = try await fixture.loader.load(url)
        #expect(loaded.text == "one, two")
        #expect(loaded.source == .network)
        #expect(transport.requestCount == 2)
        #expect(transport.requests.last?.headerFields[.ifNoneMatch] == nil)
        #expect(try await fixture.loader.load(url).source == .disk)
        #expect(transport.requestCount == 2)
        try await fixture.store.sweep()
        #expect(try await fixture.store.check(digests: true).isSound)
    }
}

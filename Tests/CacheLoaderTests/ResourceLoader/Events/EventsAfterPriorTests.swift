import TestSupport

@Suite("ResourceLoader: events after a prior value", .timeLimit(.minutes(5))) struct EventsAfterPriorTests {
    private let request = ResourceRequest("https://example.com/a")

    /// Loads after the prior value 2. A number is its own version.
    private func events(_ fixture: LoaderFixture) async -> [String] {
        let events = fixture.loader.events(for: request, prior: Data("2".utf8), version: 2) { Int($0.text) }
        var descriptions: [String] = []
        for await event in events {
            switch event {
            case .cached(let loaded): descriptions.append("cached \(loaded.text) \(loaded.source)")
            case .completed(let loaded): descriptions.append("completed \(loaded.text) \(loaded.source)")
            case .progress: break
            default: descriptions.append(event.name)
            }
        }
        return descriptions
    }

    @Test(
        "A prior value of version 2 comes first and stays, unless the origin has a newer one", .requirement("C8"),
        arguments: [
            ("1", "completed 2 local"), ("2", "completed 2 notModified"), ("3", "completed 3 network"),
            ("no version", "completed no version network"),
        ])
    func fetched(text: String, last: String) async throws {
        let transport = ScriptedTransport(.ok(text.utf8, cacheControl: "max-age=60"))
        let fixture = try LoaderFixture(transport: transport)
        #expect(await events(fixture) == ["cached 2 local", "requesting again", last])
        #expect(transport.requestCount == 1)
    }

    @Test("A failure follows the prior value", .requirement("C8"))
    func failed() async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport { _, _ in .reply(503) })
        #expect(await events(fixture) == ["cached 2 local", "requesting again", "failed"])
    }

    @Test(
        "A stored value, fresh or stale, does not replace a newer prior value either", .requirement("C8"),
        arguments: [
            (0, ["completed 2 local"]), (61, ["requesting again", "completed 3 network"]),
        ] as [(TimeInterval, [String])])
    func stored(age: TimeInterval, rest: [String]) async throws {
        let transport = ScriptedTransport(
            .ok("1".utf8, cacheControl: "max-age=60"), .ok("3".utf8, cacheControl: "max-age=60"))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load(request)
        fixture.clock.advance(by: age)
        #expect(await events(fixture) == ["cached 2 local"] + rest)
    }

    @Test("Releasing the events releases the load", .requirement("C8", "E4"))
    func released() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "max-age=60"], "3"))
        let fixture = try LoaderFixture(transport: transport)
        let reader = Task { await events(fixture) }
        await gate.reached(1)
        reader.cancel()
        #expect(await reader.value.filter { $0 != "requesting again" } == ["cached 2 local"])
        try await eventually { try !fixture.loader.isLoading(request) }
        #expect(try !fixture.loader.contains(request))
    }
}

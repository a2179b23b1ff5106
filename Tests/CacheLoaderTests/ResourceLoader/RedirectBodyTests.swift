import TestSupport

@Suite("Bodies of redirects", .timeLimit(.minutes(5))) struct RedirectBodyTests {
    private let url = "https://example.com/old"
    private let sleeper = ManualClock()

    /// An origin that redirects with a body from the test.
    private func fixture(_ body: FedBody) throws -> LoaderFixture {
        let transport = ScriptedTransport { request, _ in
            request.path == "/old"
                ? body.response(.movedPermanently, [.location: "/new", .cacheControl: "max-age=60"])
                : .reply(200, [.cacheControl: "max-age=60"], "here")
        }
        return try LoaderFixture(transport: transport) { $0.sleep = sleeper.sleep }
    }

    @Test("A redirect is followed immediately, and stored when its body has ended")
    func stored() async throws {
        let body = FedBody("moved")
        let fixture = try fixture(body)
        #expect(try await fixture.loader.load(url).text == "here")
        #expect(try !fixture.loader.contains(url))
        body.end()
        try await fixture.stored(url)
        // The end of the body also ends the time limit.
        await eventually { sleeper.sleeperCount == 0 }
        #expect(try await fixture.loader.load(url).source == .disk)
    }

    @Test("A redirect whose body does not end is dropped after a time limit")
    func timeLimit() async throws {
        let body = FedBody("moved")
        let fixture = try fixture(body)
        #expect(try await fixture.loader.load(url).text == "here")
        await sleeper.waitForSleeps(1)
        #expect(sleeper.sleeps == [.seconds(5)])
        sleeper.advance(by: .seconds(5))
        await body.stopped()
        #expect(try !fixture.loader.contains(url))
    }

    @Test("A redirect whose body exceeds the limit is dropped immediately")
    func byteLimit() async throws {
        let body = FedBody()
        body.feed(Data(repeating: 7, count: 65_537))
        let fixture = try fixture(body)
        #expect(try await fixture.loader.load(url).text == "here")
        await body.stopped()
        #expect(try !fixture.loader.contains(url))
    }

    private struct Witness {
        weak var loader: ResourceLoader?
    }

    @Test("The time limit ends the body of a redirect even after cancelAll() and the release of the loader")
    func afterLoader() async throws {
        let (body, gate) = (FedBody("moved"), Gate())
        let transport = ScriptedTransport { request, _ in
            guard request.path == "/old" else {
                await gate.wait()
                return .reply(200)
            }
            return body.response(.movedPermanently, [.location: "/new", .cacheControl: "max-age=60"])
        }
        var fixture: LoaderFixture? = try LoaderFixture(transport: transport) { $0.sleep = sleeper.sleep }
        let loading = fixture?.loader.events(for: ResourceRequest(url))
        await gate.reached(1)
        fixture?.loader.cancelAll()
        #expect(await loading?.all.last?.name == "cancelled")
        let witness = Witness(loader: fixture?.loader)
        fixture = nil
        await eventually { witness.loader == nil }
        await sleeper.waitForSleeps(1)
        sleeper.advance(by: .seconds(5))
        await body.stopped()
    }
}

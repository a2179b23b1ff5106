import TestSupport

@Suite("ResourceLoader: unreachable hosts", .timeLimit(.minutes(5))) struct LoaderReachabilityTests {
    private let url = "https://example.com/a"
    private let sleeper = ManualClock()
    private let reachability = ManualReachability(unreachable: ["example.com", "other.example"])
    private let attempts = Counter()

    /// A fixture whose attempts, counted over all loads, fail as `isFailing` selects.
    private func fixture(
        failing isFailing: @escaping @Sendable (Int) -> Bool
    ) throws -> (ScriptedTransport, LoaderFixture) {
        let transport = ScriptedTransport { [attempts] _, _ throws(TransportError) in
            if isFailing(attempts.next()) { throw TransportError(.cannotConnect) }
            return .reply(200, [:], "good")
        }
        return try LoaderFixture.sending(to: transport) { configuration in
            configuration.retry = RetryPolicy()
            configuration.sleep = sleeper.sleep
            configuration.chance = { 0 }
            configuration.reachability = reachability
        }
    }

    /// Returns once a load was parked: the loader asks before and after it parks the load.
    private func parked(_ times: Int = 1) async { await reachability.asked(2 * times) }

    @Test(
        "A transition to reachable is one request; without a transition, a load waits", .requirement("H6"),
        arguments: [true, false])
    func transition(tellsOfAll: Bool) async throws {
        let (transport, fixture) = try fixture { $0 <= 2 }
        let here = Task { try await fixture.loader.load(url).text }
        await parked(1)
        let other = Task { try await fixture.loader.load("https://other.example/b").text }
        await parked(2)
        #expect(transport.requestCount == 2)
        reachability.becameReachable(tellsOfAll ? nil : "example.com")
        #expect(try await here.value == "good")
        if !tellsOfAll {
            #expect(transport.requests.map(\.authority) == ["example.com", "other.example", "example.com"])
            reachability.becameReachable("other.example")
        }
        #expect(try await other.value == "good")
        #expect(transport.requestCount == 4)
        #expect(sleeper.sleeps == [], "nobody pauses who waits for the network")
    }

    @Test("After a change of the source, parked loads listen to the new one", .requirement("H6"))
    func changedSource() async throws {
        let (transport, fixture) = try fixture { $0 <= 2 }
        let task = Task { try await fixture.loader.load(url).text }
        await parked(1)
        let other = ManualReachability(unreachable: ["example.com"])
        fixture.loader.configuration.reachability = other
        await other.asked(2)
        #expect(transport.requestCount == 2)
        other.becameReachable("example.com")
        #expect(try await task.value == "good")
        #expect(transport.requestCount == 3)
    }

    @Test(
        "Parked loads do not wait for a source that was removed, or that has nothing to report", .requirement("H6"),
        arguments: [true, false])
    func removedSource(isRemoved: Bool) async throws {
        let (transport, fixture) = try fixture { _ in true }
        fixture.loader.configuration.retry.maxAttempts = 2
        let task = Task { try await fixture.loader.load(url) }
        await parked(1)
        fixture.loader.configuration.reachability = isRemoved ? nil : ManualReachability()
        await #expect(throws: LoadError.transport(TransportError(.cannotConnect), url: url)) { try await task.value }
        #expect(transport.requestCount == 2)
    }

    @Test("Another change of the configuration costs a parked load no attempt", .requirement("H6"))
    func otherChange() async throws {
        let (transport, fixture) = try fixture { $0 == 1 }
        let task = Task { try await fixture.loader.load(url).text }
        await parked(1)
        for _ in 0..<10 { fixture.loader.configuration.logOptions = [] }
        #expect(transport.requestCount == 1)
        reachability.becameReachable(nil)
        #expect(try await task.value == "good")
        #expect(transport.requestCount == 2)
    }

    @Test("One retry for each transition: a load that fails again is parked again", .requirement("H6"))
    func transitions() async throws {
        let (transport, fixture) = try fixture { $0 <= 3 }
        let task = Task { try await fixture.loader.load(url).text }
        await parked(1)
        for number in 2...3 {
            reachability.tell("example.com")
            await parked(number)
            #expect(transport.requestCount == number)
        }
        reachability.becameReachable("example.com")
        #expect(try await task.value == "good")
        #expect(transport.requestCount == 4)
    }

    @Test("The attempts of a parked load count, too", .requirement("H7"))
    func attemptLimit() async throws {
        let (transport, fixture) = try fixture { _ in true }
        let task = Task { try await fixture.loader.load(url) }
        for number in 1...4 {
            await parked(number)
            reachability.tell(nil)
        }
        await #expect(throws: LoadError.transport(TransportError(.cannotConnect), url: url)) { try await task.value }
        #expect(transport.requestCount == 5)
    }

    @Test("A new load of a parked key retries immediately; a later transition requests nothing", .requirement("H6"))
    func newDemand() async throws {
        let (transport, fixture) = try fixture { [1, 3].contains($0) }
        let first = Task { try await fixture.loader.load(url).text }
        await parked()
        #expect(try await fixture.loader.load(url).text == "good")
        #expect(try await first.value == "good")
        // The load is parked, and continues when any host becomes reachable.
        let other = Task { try await fixture.loader.load("https://other.example/b").text }
        await parked(2)
        reachability.becameReachable(nil)
        #expect(try await other.value == "good")
        #expect(transport.requestCount == 4)
    }

    @Test("A host that becomes reachable just before its load is parked is tried immediately", .requirement("H6"))
    func transitionInBetween() async throws {
        let (transport, fixture) = try fixture { $0 == 1 }
        reachability.changesItsMind(about: "example.com")
        #expect(try await fixture.loader.load(url).text == "good")
        #expect(transport.requestCount == 2)
    }

    @Test("A load is parked only for a network failure of an unreachable host", .requirement("H6"))
    func reachable() async throws {
        reachability.becameReachable("example.com")
        let (_, fixture) = try fixture { $0 == 1 }
        let task = Task { try await fixture.loader.load(url).text }
        await sleeper.waitForSleeps(1)
        sleeper.advance(by: .seconds(1))
        #expect(try await task.value == "good")
        #expect(sleeper.sleeps == [.seconds(1)])
    }

    @Test("A load cancelled while parked is not retried", .requirement("H8"))
    func cancelled() async throws {
        let (transport, fixture) = try fixture { $0 <= 2 }
        let task = Task { try await fixture.loader.load(url) }
        await parked()
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        // The load is parked, and continues when any host becomes reachable.
        let other = Task { try await fixture.loader.load("https://other.example/b").text }
        await parked(2)
        reachability.becameReachable(nil)
        #expect(try await other.value == "good")
        #expect(transport.requests.map(\.authority) == ["example.com", "other.example", "other.example"])
    }
}

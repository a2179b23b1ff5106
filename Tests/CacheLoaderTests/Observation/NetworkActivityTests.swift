import TestSupport

@Suite("NetworkActivity", .timeLimit(.minutes(5))) struct NetworkActivityTests {
    private let url = "https://example.com/a"
    private let gate = Gate()
    private let sleeper = ManualClock()

    private func fixture(_ fields: HTTPFields = [.cacheControl: "no-store"]) throws -> LoaderFixture {
        let transport = ScriptedTransport { [gate] _, _ in
            await gate.wait()
            return .reply(200, fields, "body")
        }
        return try LoaderFixture(transport: transport) { [sleeper] in $0.sleep = sleeper.sleep }
    }

    @Test("Idle, then active from the first request until a delay after the last", .requirement("I8"))
    func delay() async throws {
        let loader = try fixture().loader
        var states = loader.activity(offDelay: .seconds(1)).makeAsyncIterator()
        #expect(await states.next() == false)
        let loads = [url, "https://example.com/b"].map { url in Task { try await loader.load(url).text } }
        #expect(await states.next() == true)
        await gate.reached(2)
        gate.admit()
        await eventually { loader.counters.networkBytes >= 4 }
        #expect(sleeper.sleeps.isEmpty, "one is under way still")
        gate.open()
        for load in loads { #expect(try await load.value == "body") }
        await sleeper.waitForSleeps(1)
        #expect(sleeper.sleeps == [.seconds(1)])
        sleeper.advance(by: .seconds(1))
        #expect(await states.next() == false)
    }

    @Test("A start within the delay cancels the change to idle", .requirement("I8"))
    func startWithinDelay() async throws {
        let loader = try fixture().loader
        let told = Mutex<[Bool]>([])
        let states = loader.activity(offDelay: .seconds(1))
        let reader = Task { for await state in states { told.withLock { $0.append(state) } } }
        defer { reader.cancel() }
        await eventually { told.withLock({ $0.count }) >= 1 }
        gate.admit()
        _ = try await loader.load(url)
        await sleeper.waitForSleeps(1)
        await eventually { told.withLock({ $0.count }) >= 2 }
        let second = Task { try await loader.load(url).text }
        await gate.reached(2)
        await eventually { sleeper.sleeperCount == 0 }
        sleeper.advance(by: .seconds(10))
        // Lets a wrong change to idle happen.
        for _ in 0..<1000 { await Task.yield() }
        #expect(told.withLock { $0 } == [false, true])
        gate.open()
        _ = try await second.value
        await sleeper.waitForSleeps(2)
        sleeper.advance(by: .seconds(1))
        await eventually { told.withLock({ $0.count }) >= 3 }
        #expect(told.withLock { $0 } == [false, true, false])
    }

    @Test("A late observer gets the current state; each observer has its own delay", .requirement("I8"))
    func late() async throws {
        let loader = try fixture().loader
        let load = Task { try await loader.load(url).text }
        await gate.reached(1)
        var patient = loader.activity(offDelay: .seconds(5)).makeAsyncIterator()
        var hasty = loader.activity(offDelay: .zero).makeAsyncIterator()
        #expect(await patient.next() == true)
        #expect(await hasty.next() == true)
        gate.open()
        _ = try await load.value
        #expect(await hasty.next() == false)
        await sleeper.waitForSleeps(1)
        #expect(sleeper.sleeps == [.seconds(5)])
        var latest = loader.activity(offDelay: .seconds(5)).makeAsyncIterator()
        #expect(await latest.next() == false)
        sleeper.advance(by: .seconds(5))
        #expect(await patient.next() == false)
    }

    @Test("Answers from the store or memory are not activity", .requirement("I8"))
    func hits() async throws {
        gate.open()
        // The directory is deleted with the loader.
        let fixture = try fixture([.cacheControl: "max-age=60"])
        let loader = fixture.loader
        _ = try await loader.load(url)
        let told = Mutex<[Bool]>([])
        let states = loader.activity(offDelay: .zero)
        let reader = Task { for await state in states { told.withLock { $0.append(state) } } }
        defer { reader.cancel() }
        await eventually { !told.withLock({ $0.isEmpty }) }
        #expect(try await loader.load(url).source == .disk)
        for _ in 0..<1000 { await Task.yield() }
        #expect(told.withLock { $0 } == [false])
        #expect(loader.counters.originRequests == 1)
        withExtendedLifetime(fixture) {}
    }

    @Test("The stream ends with its loader, also within the delay, and leaves nothing behind", .requirement("I8"))
    func end() async throws {
        var fixture: LoaderFixture? = try fixture()
        gate.open()
        var early = try #require(fixture).loader.activity(offDelay: .seconds(1)).makeAsyncIterator()
        #expect(await early.next() == false)
        _ = try await fixture?.loader.load(url)
        #expect(await early.next() == true)
        await sleeper.waitForSleeps(1)
        fixture = nil
        #expect(await early.next() == nil)
        await eventually { sleeper.sleeperCount == 0 }
    }

    @Test(
        "A cache is active from the request to the last byte, or until the last reader leaves", .requirement("I8"),
        arguments: [true, false])
    func cache(isRead: Bool) async throws {
        let fixture = try fixture()
        gate.open()
        var states = fixture.cache.activity(offDelay: .zero).makeAsyncIterator()
        #expect(await states.next() == false)
        var response: CachedResponse? = try await fixture.cache.response(for: .to("/a"))
        #expect(await states.next() == true)
        if isRead { #expect(try await response?.text == "body") } else { response = nil }
        #expect(await states.next() == false)
        _ = consume response
    }

    @Test("A released stream ends its delay", .requirement("I8"))
    func lettingGo() async throws {
        let fixture = try fixture()
        gate.open()
        do {
            var states = fixture.loader.activity(offDelay: .seconds(1)).makeAsyncIterator()
            #expect(await states.next() == false)
            _ = try await fixture.loader.load(url)
            #expect(await states.next() == true)
            await sleeper.waitForSleeps(1)
        }
        await eventually { sleeper.sleeperCount == 0 }
    }
}

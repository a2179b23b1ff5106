import TestSupport

@Suite("ResourceLoader: processors", .timeLimit(.minutes(5))) struct LoaderProcessingTests {
    private let url = "https://example.com/a"
    private let runs = Counter()

    /// Parses numbers from digits, and counts its runs.
    private func number(_ name: String = "number") -> ClosureProcessor<Data, Int> {
        ClosureProcessor(ProcessorID(name)) { [runs] data, _ in
            runs.next()
            guard let number = Int(String(decoding: data, as: UTF8.self)) else { throw NoNumber() }
            return number
        }
    }

    private struct NoNumber: Error, CustomStringConvertible {
        let description = "no number"
    }

    private func fixture(
        _ body: String, _ fields: HTTPFields = [.cacheControl: "max-age=60"], gate: Gate? = nil
    ) throws -> (LoaderFixture, ScriptedTransport) {
        let transport = ScriptedTransport { _, _ in
            await gate?.wait()
            return .reply(200, fields, body)
        }
        return (try LoaderFixture(transport: transport), transport)
    }

    @Test("Different processors share one request, and equal ones run once", .requirement("E3"))
    func sharing() async throws {
        let gate = Gate()
        let (fixture, transport) = try fixture("42", gate: gate)
        let number = number()
        async let data = fixture.loader.load(url)
        async let json = fixture.loader.load(url, as: .json(Int.self))
        async let first = fixture.loader.load(url, as: number)
        async let second = fixture.loader.load(url, as: number)
        async let text = fixture.loader.load(url, as: .text)
        await gate.reached(1)
        await eventually { fixture.loader.waiterCount(of: ResourceRequest(url)) >= 5 }
        gate.open()
        #expect(try await data.text == "42")
        #expect(try await json.value == 42)
        #expect(try await first.value == 42)
        #expect(try await second.value == 42)
        #expect(try await text.value == "42")
        #expect(runs.count == 1)
        #expect(transport.requestCount == 1)
    }

    @Test("Equal names with different outputs are different processors", .requirement("E3"))
    func outputs() async throws {
        let (fixture, _) = try fixture("42")
        let text = ClosureProcessor<Data, String>(ProcessorID("number")) { data, _ in
            String(decoding: data, as: UTF8.self)
        }
        async let first = fixture.loader.load(url, as: number())
        async let second = fixture.loader.load(url, as: text)
        #expect(try await first.value == 42)
        #expect(try await second.value == "42")
    }

    @Test("A failed load calls no processor; a successful one calls it off the main actor", .requirement("F1"))
    func calls() async throws {
        let (_, fixture) = try LoaderFixture.scripted { _, _ in .reply(404, [:], "42") }
        await expectError(.status(404, url: url)) { try await fixture.loader.load(url, as: number()) }
        #expect(runs.count == 0)
        try await fixture.loader.insert(Data("42".utf8), for: url)
        let isOnMain = ClosureProcessor<Data, Bool>(ProcessorID("thread")) { _, _ in Thread.isMainThread }
        let loaded = try await Task { @MainActor in try await fixture.loader.load(url, as: isOnMain) }.value
        #expect(!loaded.value)
        #expect(loaded.source == .disk)
    }

    @Test("A response that no processor accepts is not stored", .requirement("F2"))
    func poison() async throws {
        let (fixture, transport) = try fixture("garbage")
        for count in 1...2 {
            await #expect(throws: LoadError.processing(url: url, reason: "no number")) {
                try await fixture.loader.load(url, as: number())
            }
            #expect(transport.requestCount == count)
            #expect(try !fixture.loader.contains(url))
        }
    }

    @Test("A response that one processor accepts is stored", .requirement("F2"))
    func accepted() async throws {
        let gate = Gate()
        let (fixture, transport) = try fixture("garbage", gate: gate)
        async let text = fixture.loader.load(url, as: .text)
        async let number = fixture.loader.load(url, as: number())
        await eventually { fixture.loader.waiterCount(of: ResourceRequest(url)) >= 2 }
        gate.open()
        #expect(try await text.value == "garbage")
        do {
            _ = try await number
            Issue.record("no number was made")
        } catch {
            #expect(error as? LoadError == .processing(url: url, reason: "no number"))
        }
        #expect(try fixture.loader.contains(url))
        #expect(transport.requestCount == 1)
    }

    @Test("A waiter that joins during the processing gets its own value of the bytes")
    func late() async throws {
        let (fixture, transport) = try fixture("42", [:])
        let gate = Gate()
        let slow = ClosureProcessor<Data, Int>(ProcessorID("slow")) { data, _ in
            await gate.wait()
            return data.count
        }
        async let first = fixture.loader.load(url, as: slow)
        await gate.reached(1)
        async let second = fixture.loader.load(url, as: number())
        await eventually { fixture.loader.waiterCount(of: ResourceRequest(url)) >= 2 }
        gate.open()
        #expect(try await first.value == 2)
        #expect(try await second.value == 42)
        #expect(transport.requestCount == 1)
    }

    /// Suspends a task for a number of turns that the test sets before each race.
    private final class Pace: Sendable {
        /// Guards the number of turns.
        private let turns = Mutex(0)

        func set(_ count: Int) { turns.withLock { $0 = count } }

        func wait() async {
            for _ in 0..<turns.withLock({ $0 }) { await Task.yield() }
        }
    }

    /// The number of races. Fewer in a debug build: each of their many turns waits for the tasks of all other tests.
    private static let raceCount = Repetitions.count(1_000, debug: 200)

    @Test("In many races between stored value and network, no stored value follows a new one", .requirement("C6"))
    func races() async throws {
        var generator = SeededGenerator()
        let seed = generator.description
        let (network, requests) = (Pace(), Counter())
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            await network.wait()
            return .reply(200, [.cacheControl: "max-age=10"], "\(requests.next())")
        }
        _ = try await fixture.loader.load(url)
        var (cached, dropped) = (0, 0)
        for race in 1...Self.raceCount {
            fixture.clock.advance(by: 20)
            network.set(.random(in: 0...40, using: &generator))
            let turns = Int.random(in: 0...40, using: &generator)
            // The stored value loses every tenth race: on a busy machine it might win all the others.
            let held = race.isMultiple(of: 10) ? Gate() : nil
            let decoder = ClosureProcessor<Data, Int>(ProcessorID("decoder")) { data, _ in
                let number = Int(String(decoding: data, as: UTF8.self)) ?? 0
                if number == race {
                    await held?.wait()
                    for _ in 0..<turns { await Task.yield() }
                }
                return number
            }
            let events = await fixture.loader.events(for: ResourceRequest(url), as: decoder).all
            held?.open()
            expectGrammatical(events)
            guard case .completed(let loaded)? = events.last, loaded.value == race + 1 else {
                Issue.record("race \(race): \(events.map(\.name)). \(seed)")
                return
            }
            if case .cached(let stale)? = events.first {
                #expect(stale.value == race, "race \(race). \(seed)")
                #expect(stale.isStale, "race \(race). \(seed)")
                cached += 1
            } else {
                dropped += 1
            }
        }
        // Each side wins some races.
        #expect(cached > 0, "\(cached) cached, \(dropped) dropped. \(seed)")
        #expect(dropped > 0, "\(cached) cached, \(dropped) dropped. \(seed)")
        #expect(transport.requestCount == Self.raceCount + 1)
    }

    @Test("A stored value whose processing ends after the network's is dropped", .requirement("C6"))
    func slowDecoder() async throws {
        let transport = ScriptedTransport(
            .ok("1".utf8, cacheControl: "max-age=10"), .ok("2".utf8, cacheControl: "max-age=10"))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 20)
        let gate = Gate()
        let decoder = ClosureProcessor<Data, String>(ProcessorID("decoder")) { data, _ in
            let text = String(decoding: data, as: UTF8.self)
            if text == "1" { await gate.wait() }
            return text
        }
        let events = await fixture.loader.events(for: ResourceRequest(url), as: decoder).all
        gate.open()
        expectGrammatical(events)
        #expect(!events.contains { $0.name == "cached" })
        let loaded = try #require(events.last?.loaded, "\(events.map(\.name))")
        #expect(loaded.value == "2")
    }

    @Test(
        "Content of another type throws, is not stored, and reaches no processor", .requirement("F7"),
        arguments: [("text/html", false), ("Image/PNG; q=1", true), ("image/png", true), (nil, false)])
    func contentTypes(type: String?, isAccepted: Bool) async throws {
        var fields: HTTPFields = [.cacheControl: "max-age=60"]
        fields[.contentType] = type
        let (fixture, _) = try fixture("42", fields)
        fixture.loader.configuration.contentTypes = ["image/*"]
        if isAccepted {
            #expect(try await fixture.loader.load(url, as: number()).value == 42)
        } else {
            await #expect(throws: LoadError.unacceptableContentType(type, url: url)) {
                try await fixture.loader.load(url, as: number())
            }
            #expect(runs.count == 0)
        }
        #expect(try fixture.loader.contains(url) == isAccepted)
    }
}

import TestSupport

/// The responses are not stored: each load that does not join another one makes a request.
@Suite("ResourceLoader: loads that share a request", .timeLimit(.minutes(5))) struct LoaderCoalescingTests {
    private let request = ResourceRequest("https://example.com/a")

    @Test("1,000 loads that begin between the last byte and the delivery join the load", .requirement("E1"))
    func lateLoads() async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "no-store"], "body") }
        let fixture = try LoaderFixture(transport: transport)
        let gate = Gate()
        let slow = ClosureProcessor<Data, Int>(ProcessorID("slow")) { data, _ in
            await gate.wait()
            return data.count
        }
        let first = Task { try await fixture.loader.load(request, as: slow).value }
        // The processor has the whole body; no load has been delivered.
        await gate.reached(1)
        let loads = (0..<1_000).map { _ in Task { try await fixture.loader.load(request).text } }
        await eventually { fixture.loader.waiterCount(of: request) == 1_001 || transport.requestCount > 1 }
        gate.open()
        #expect(try await first.value == 4)
        for load in loads { #expect(try await load.value == "body") }
        #expect(transport.requestCount == 1)
    }

    @Test(
        "A load joins an equal one while its response is fresh, or within a second if it is never fresh",
        .requirement("R06", "E1"),
        arguments: [
            ("max-age=60", 59, 1), ("max-age=60", 60, 2), ("max-age=60", 600, 2), ("no-cache", 0, 1),
            ("no-cache", 1, 2), ("no-store", 0, 1), ("no-store", 1, 2),
        ])
    func slowBody(_ directives: String, _ seconds: Int, _ requestCount: Int) async throws {
        let bodies = [FedBody("first, "), FedBody("second, ")]
        let count = Counter()
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            bodies[count.next() - 1].response(.ok, [.cacheControl: directives])
        }
        var events = fixture.loader.events(for: request).makeAsyncIterator()
        while let event = await events.next() {
            // The head has arrived before the first byte.
            if case .progress = event { break }
        }
        fixture.clock.advance(by: Double(seconds))
        let later = Task { try await fixture.loader.load(request).text }
        await eventually { fixture.loader.waiterCount(of: request) == 2 }
        for body in bodies {
            body.feed("whole")
            body.end()
        }
        #expect(try await later.value == (requestCount == 1 ? "first, whole" : "second, whole"))
        #expect(transport.requestCount == requestCount)
    }
}

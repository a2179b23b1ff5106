import TestSupport

@Suite("ResourceLoader: changes of the configuration", .timeLimit(.minutes(5)))
struct LoaderConfigurationChangeTests {
    private let url = "https://example.com/a"

    @Test("A load uses the content types from before a change", .requirement("K1"))
    func contentTypesDuringLoad() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.contentType: "text/plain"], "text"))
        let fixture = try LoaderFixture(transport: transport)
        async let before = fixture.loader.load(url)
        await gate.reached(1)
        fixture.loader.configuration.contentTypes = ["image/*"]
        gate.open()
        #expect(try await before.text == "text")
        let other = "https://example.com/b"
        await #expect(throws: LoadError.unacceptableContentType("text/plain", url: other)) {
            try await fixture.loader.load(other)
        }
    }

    @Test("A change of the configuration empties memory, also of loads under way", .requirement("K1"))
    func memoryAfterChange() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { request, _ in
            if request.path != "/first" { await gate.wait() }
            return .reply(200, [.cacheControl: "max-age=60"], "text")
        }
        let fixture = try LoaderFixture(transport: transport) {
            $0.memoryLimit = 1 << 20
            $0.lanes = LaneWidths(urgent: 1, background: 1, perHost: 1)
        }
        for source in [ResponseSource.network, .memory] {
            #expect(try await fixture.loader.load("https://example.com/first").source == source)
        }
        async let running = fixture.loader.load(url)
        await gate.reached(1)
        let queued = "https://example.com/queued"
        async let before = fixture.loader.load(queued)
        await eventually { fixture.loader.waiterCount(of: ResourceRequest(queued)) == 1 }
        fixture.loader.configuration.maxRedirects = 1
        #expect(fixture.loader.evictMemory().count == 0)
        gate.open()
        _ = try await (running, before)
        #expect(try await fixture.loader.load(queued).source == .disk)
    }
}

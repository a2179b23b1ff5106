import TestSupport

@Suite("RequestObserver: the steps of a request", .timeLimit(.minutes(5))) struct RequestObserverTests {
    private enum Caller {
        @TaskLocal static var name = "none"
    }

    /// Records the steps, each with the name of its caller.
    private final class Recorder: RequestObserver {
        private let recorded = Mutex<[(caller: String, step: RequestStep)]>([])

        var steps: [(caller: String, step: RequestStep)] { recorded.withLock { $0 } }

        func observe(_ step: RequestStep) {
            let caller = Caller.name
            recorded.withLock { $0.append((caller, step)) }
        }

        func makeScope() -> RequestScope {
            let name = Caller.name
            return { work in await Caller.$name.withValue(name) { await work() } }
        }
    }

    private let recorder = Recorder()
    private let clock = ManualClock()
    private let url = "https://example.com/a"

    private func cache(_ transport: ScriptedTransport) throws -> HTTPCache {
        var configuration = HTTPCache.Configuration()
        configuration.observer = recorder
        return HTTPCache(
            store: try .temporary(clock: clock), transport: transport, clock: clock, configuration: configuration)
    }

    private func read(_ cache: HTTPCache) async throws {
        _ = try await cache.response(
            for: HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/a")
        ).data()
    }

    @Test("a miss has a lookup and a commit, a hit a lookup, with times of the clock")
    func steps() async throws {
        let cache = try cache(ScriptedTransport(.reply(200, [.cacheControl: "max-age=60"], "one")))
        try await read(cache)
        #expect(recorder.steps.last?.step.kind == .commit(isStored: true))
        #expect(recorder.steps.dropLast().allSatisfy { $0.step.kind == .lookup(isHit: false) })
        let count = recorder.steps.count
        clock.advance(by: .seconds(5))
        try await read(cache)
        let hit = try #require(recorder.steps.dropFirst(count).first?.step)
        #expect(recorder.steps.count == count + 1)
        #expect(hit.kind == .lookup(isHit: true))
        #expect(hit.url == url)
        #expect(hit.method == .get)
        #expect(hit.beganAt == clock.now)
        #expect(hit.endedAt == clock.now)
    }

    @Test("an unstored response has no commit")
    func notStored() async throws {
        try await read(try cache(ScriptedTransport(.reply(200, [.cacheControl: "no-store"], "one"))))
        #expect(recorder.steps.allSatisfy { $0.step.kind == .lookup(isHit: false) })
    }

    @Test("the steps of a load have its caller's task-local values, even if another load starts it")
    func scope() async throws {
        var configuration = ResourceLoader.Configuration()
        configuration.observer = recorder
        configuration.lanes = LaneWidths(urgent: 1)
        let (stream, gate) = AsyncStream<Never>.makeStream()
        let (arrivals, arrived) = AsyncStream<Never>.makeStream()
        let transport = ScriptedTransport { request, _ throws(TransportError) in
            if request.path == "/a" {
                arrived.finish()
                for await _ in stream {}
            }
            let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"])
            return TransportResponse(head: head, body: TransportBody(Data("one".utf8)))
        }
        let loader = ResourceLoader(
            store: try .temporary(clock: clock), transport: transport, clock: clock, configuration: configuration)
        func load(_ path: String) -> Task<Void, any Error> {
            Task {
                try await Caller.$name.withValue(path) { _ = try await loader.load("https://example.com\(path)") }
            }
        }
        let first = load("/a")
        for await _ in arrivals {}
        let second = load("/b")
        try await eventually { try loader.isLoading(ResourceRequest("https://example.com/b")) }
        clock.advance(by: .seconds(7))
        gate.finish()
        try await first.value
        try await second.value
        #expect(recorder.steps.allSatisfy { "https://example.com\($0.caller)" == $0.step.url })
        let waits = recorder.steps.map(\.step).filter { $0.kind == .wait(.lane) }
        #expect(waits.map(\.url) == ["https://example.com/b"])
        #expect(waits.first.map { $0.endedAt.timeIntervalSince($0.beganAt) } == 7)
        #expect(recorder.steps.filter { $0.step.kind == .commit(isStored: true) }.count == 2)
    }
}

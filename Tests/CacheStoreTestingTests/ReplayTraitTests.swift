import CacheStoreTestTraits
import TestSupport

@Suite("The trait replay", .timeLimit(.minutes(5)))
struct ReplayTraitTests {
    @Test("finds the file beside the test", .replay("Recordings/chromium"))
    func replay() async throws {
        let reply = try await ReplayTrait.transport.get("http://127.0.0.1:8462/marked.txt")
        #expect(reply.body.suffix(6) == Data("marked".utf8))
        #expect(ReplayTrait.startDate < Date())
    }

    @Test("serves all cases of a test", .replay("Recordings/chromium"), arguments: ["/empty", "/bytes"])
    func cases(path: String) async throws {
        #expect(try await ReplayTrait.transport.get("http://127.0.0.1:8462\(path)").status == 200)
    }

    @Test("a test without the trait has no answers")
    func withoutTrait() async throws {
        await #expect(throws: TransportError.self) { try await ReplayTrait.transport.get("http://example.com/") }
    }

    @Test("records beside the test, and replays what it has recorded")
    func recording() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.url.appending(path: "Test.swift").path(percentEncoded: false)
        let origin = ScriptedTransport(.reply(200, [:], "one"))
        let test = try #require(Test.current)
        for _ in 0..<2 {
            let trait: ReplayTrait = .replay("new", recording: .missing, through: origin, filePath: path)
            try await trait.provideScope(for: test, testCase: nil) { try await readOne() }
        }
        #expect(origin.requestCount == 1)
        let trait: ReplayTrait = .replay("new", filePath: path)
        try await trait.provideScope(for: test, testCase: nil) { try await readOne() }
    }

    @Sendable private func readOne() async throws {
        let reply = try await ReplayTrait.transport.get("http://example.com/")
        #expect(reply.body == Data("one".utf8))
    }
}

import TestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("A full disk") struct FullDiskTests {
    @Test("A disk that fills up within a body is reported, fails no load, leaves no part", .requirement("A7"))
    func duringBody() async throws {
        let directory = try TemporaryDirectory()
        await #expect(processExitsWith: .success) { [path = directory.path as String] in try await Self.load(path) }
    }

    /// A limit on file sizes simulates a full disk for larger bodies.
    private static func load(_ path: String) async throws {
        signal(SIGXFSZ, SIG_IGN)
        let store = try ResponseStore(directory: URL(filePath: path + "/store"))
        // Beyond the size from which stored bodies are mapped, and in the middle of a chunk.
        var limit = rlimit(rlim_cur: 500_000, rlim_max: rlim_t(Int64.max))
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(1)
        #else
        let resource = RLIMIT_FSIZE
        #endif
        #expect(setrlimit(resource, &limit) == 0)
        let chunk = String(repeating: "0123456789", count: 1_000)
        let transport = ScriptedTransport { _, _ in
            TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
                body: TransportBody(chunks: Array(repeating: Data(chunk.utf8), count: 99)))
        }
        let loader = ResourceLoader(store: store, transport: transport)
        for _ in 0..<2 {
            let loaded = try await loader.load("https://example.com/a")
            #expect(loaded.source == .network)
            #expect(loaded.data == Data(String(repeating: chunk, count: 99).utf8))
        }
        let events = await loader.events(for: ResourceRequest("https://example.com/a")).all
        expectGrammatical(events)
        #expect(events.map(\.name).contains("storeFailed"))
        #expect(events.last?.name == "completed network")
        #expect(try store.statistics().entries == 0)
        #expect(try await store.check(digests: true).isSound)
    }
}

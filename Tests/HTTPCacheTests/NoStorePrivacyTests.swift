import TestSupport

@Suite("HTTPCache: responses that must not be stored") struct NoStorePrivacyTests {
    /// The source of a body.
    private final class Source: Sendable {
        private let chunks: TransportBody

        init(_ text: String) { chunks = TransportBody(chunks: [Data(text.utf8)]) }

        var body: TransportBody { TransportBody { [self] () async throws(TransportError) in try await chunks.next() } }
    }

    @Test(
        "A no-store body is in no log and no file, and is released with its reader", .requirement("Z01"),
        arguments: [true, false])
    func leavesNoTrace(isRead: Bool) async throws {
        let marker = "marker-4711"
        let log = EventLog()
        let directory = try TemporaryDirectory()
        var storing = ResponseStore.Configuration()
        storing.logger = log.logger
        let store = try ResponseStore(directory: directory.url, configuration: storing)
        let body = Mutex<TransportBody?>(nil)
        let transport = ScriptedTransport { _, _ in
            TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "no-store", .eTag: "\"1\""]),
                body: body.withLock { $0.take() } ?? TransportBody(Data()))
        }
        var caching = HTTPCache.Configuration()
        caching.logger = log.logger
        let cache = HTTPCache(store: store, transport: transport, configuration: caching)
        weak var released: Source?
        do {
            let source = Source(marker)
            released = source
            body.withLock { $0 = source.body }
            let response = try await cache.response(for: .to("/a"))
            if isRead { #expect(try await response.text == marker) }
        }
        // The cache still exists, and does not hold the body.
        await eventually { released == nil }
        try await store.flush()
        #expect(!log.lines.contains { $0.contains(marker) })
        for file in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
            let bytes = FileManager.default.contents(atPath: "\(directory.path)/\(file)") ?? Data()
            #expect(bytes.range(of: Data(marker.utf8)) == nil, "\(file)")
        }
        withExtendedLifetime(cache) { store.close() }
    }
}

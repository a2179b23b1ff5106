import CSQLite
import TestSupport

@Suite("Statements of a load") struct StatementCountTests {
    @Test("a load whose response is not stored reads the index once before its request, and again only for failures")
    func coldLoad() async throws {
        let directory = try TemporaryDirectory()
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            try await Self.countStatements(path)
        }
    }

    @Test("a repeated hit runs no statement, from the store or from memory")
    func repeatedHit() async throws {
        let directory = try TemporaryDirectory()
        await #expect(processExitsWith: .success) { [path = directory.path as String] in
            try await Self.countStatementsOfHits(path)
        }
    }

    /// The statements that all connections of this process have begun since the test emptied the list.
    private static let statements = Mutex<[String]>([])

    /// Records the statements of each connection that this process opens from now on.
    private static func trace() {
        // SQLite calls the function for each connection that it opens.
        typealias Extension = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Int32
        let trace: Extension = { connection, _, _ in
            sqlite3_trace_v2(
                connection, UInt32(SQLITE_TRACE_STMT),
                { _, _, _, text in
                    // The steps of a trigger are reported as comments.
                    let sql = text.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? ""
                    if !sql.hasPrefix("--") { StatementCountTests.statements.withLock { $0.append(sql) } }
                    return 0
                }, nil)
        }
        #expect(sqlite3_auto_extension(unsafeBitCast(trace, to: (@convention(c) () -> Void).self)) == SQLITE_OK)
    }

    private static func countStatementsOfHits(_ path: String) async throws {
        trace()
        let store = try ResponseStore(directory: URL(filePath: path + "/store"))
        let transport = ScriptedTransport { _, _ in
            TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
                body: TransportBody(chunks: [Data("a".utf8)]))
        }
        for (memoryLimit, source) in [(0, ResponseSource.disk), (1 << 20, .memory)] {
            var configuration = ResourceLoader.Configuration()
            configuration.memoryLimit = memoryLimit
            let loader = ResourceLoader(store: store, transport: transport, configuration: configuration)
            let url = "https://example.com/\(source)"
            _ = try await loader.load(url)
            try await store.flush()
            _ = try await loader.load(url)
            statements.withLock { $0 = [] }
            #expect(try await loader.load(url).source == source)
            let found = statements.withLock { $0 }
            #expect(found == [], "\(source)")
        }
    }

    private static func countStatements(_ path: String) async throws {
        trace()
        let store = try ResponseStore(directory: URL(filePath: path + "/store"))
        let atRequest = Mutex<[String]>([])
        let transport = ScriptedTransport { _, _ in
            atRequest.withLock { $0 = statements.withLock { $0 } }
            return TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]),
                body: TransportBody(chunks: [Data("a".utf8)]))
        }
        var configuration = ResourceLoader.Configuration()
        configuration.negativeCaching.lifetime = .seconds(60)
        configuration.retry = .never
        let loader = ResourceLoader(store: store, transport: transport, configuration: configuration)
        // The loader looks up failures when a load begins and when its request does.
        for (path, hasFailure, expected) in [("a", false, 1), ("b", false, 1), ("c", true, 3)] {
            let key = try CacheKey(url: "https://example.com/\(path)")
            if hasFailure { try await store.recordFailure(for: key, status: 500) }
            // Stores the last load, and opens the connections.
            try await store.flush()
            _ = try store.peek(CacheKey(url: "https://example.com/"))
            statements.withLock { $0 = [] }
            _ = try await loader.load(key.text)
            let found = atRequest.withLock { $0 }
            #expect(found.count == expected, "\(path): \(found)")
        }
    }
}

import TestSupport

/// The whole path, as in the demonstration: a real origin, a real transport, a store on disk.
@Suite("Scenario") struct ScenarioTests {
    private static let fileCount = 40

    /// A tree of files. Some have equal bytes, and one is empty.
    private func makeFiles() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        for number in 0..<Self.fileCount {
            let folder = directory.url.appending(path: "folder \(number % 3)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let text = String(repeating: "content \(number % 30) ", count: number * 100)
            try Data(text.utf8).write(to: folder.appending(path: "file-\(number).txt"))
        }
        return directory
    }

    private func loadAll(_ fixture: LoaderFixture, _ origin: LoopbackOrigin, _ paths: [String]) async throws -> [String:
        Loaded<Data>]
    {
        try await withThrowingTaskGroup { group in
            for path in paths { group.addTask { (path, try await fixture.loader.load(origin.url(path))) } }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }

    @Test("Miss → hit → 304 → changed → evicted, with the requests at the origin", .requirement("C3", "C5", "E1", "I2"))
    func rounds() async throws {
        let tree = try makeFiles()
        let files = try FileOrigin(directory: tree.path) { _ in "max-age=60" }
        let fixture = try LoaderFixture(transport: DefaultTransport.patient())
        let clock = fixture.clock
        let origin = try await LoopbackOrigin(
            serving: files, date: { OriginDate.text(secondsSince1970: Int(clock.now.timeIntervalSince1970)) })
        let paths = files.paths
        #expect(paths.count == Self.fileCount)

        func expectRound(
            _ name: String, requests: Int, notModified: Int, _ expected: [ResponseSource: Int],
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let (requestsBefore, notModifiedBefore) = (origin.counters.requests, origin.counters.notModified)
            let resources = try await loadAll(fixture, origin, paths)
            #expect(origin.counters.requests - requestsBefore == requests, "\(name)", sourceLocation: sourceLocation)
            #expect(
                origin.counters.notModified - notModifiedBefore == notModified, "\(name)",
                sourceLocation: sourceLocation)
            let sources = resources.values.reduce(into: [ResponseSource: Int]()) { $0[$1.source, default: 0] += 1 }
            #expect(sources == expected, "\(name)", sourceLocation: sourceLocation)
            for (path, resource) in resources {
                #expect(
                    Array(resource.data) == files.body(at: path), "\(name): \(path)", sourceLocation: sourceLocation)
            }
        }

        try await expectRound("first", requests: 40, notModified: 0, [.network: 40])
        try await expectRound("fresh", requests: 0, notModified: 0, [.disk: 40])
        clock.advance(by: 61)
        try await expectRound("expired", requests: 40, notModified: 40, [.notModified: 40])
        try await expectRound("fresh again", requests: 0, notModified: 0, [.disk: 40])
        for path in paths.prefix(5) { files.overlay(path, with: Array("changed \(path)".utf8)) }
        clock.advance(by: 61)
        try await expectRound("changed", requests: 40, notModified: 35, [.notModified: 35, .network: 5])

        let before = try fixture.store.statistics()
        #expect(before.entries == Self.fileCount)
        let distinct = Set(paths.compactMap { files.body(at: $0) }.filter { !$0.isEmpty })
        #expect(before.physicalBytes == distinct.reduce(0) { $0 + Int64($1.count) })

        let report = try await fixture.store.evict(.maxBytes(before.physicalBytes / 2))
        let after = try fixture.store.statistics()
        #expect(after.physicalBytes <= before.physicalBytes / 2)
        #expect(report.entries == before.entries - after.entries)
        #expect(try fixture.blobs.reduce(0) { $0 + Int64($1.bytes.count) } == after.physicalBytes)
        #expect(try await fixture.store.check(digests: true).problems.isEmpty)
        try await expectRound(
            "after eviction", requests: report.entries, notModified: 0,
            [.network: report.entries, .disk: after.entries])
        await origin.stop()
    }

    @Test("Stored responses survive a restart, and answer under cacheFirst without a request", .requirement("A1"))
    func restart() async throws {
        let origin = try await LoopbackOrigin { request in
            .ok(
                "body of \(request.path)".utf8, cacheControl: "max-age=1", etag: "\"\(request.path)\"",
                contentType: "text/plain")
        }
        let directory = try TemporaryDirectory()
        var before: [Loaded<Data>] = []
        do {
            let fixture = try LoaderFixture(transport: DefaultTransport.patient(), directory: directory)
            for path in ["/1", "/2", "/3"] { before.append(try await fixture.loader.load(origin.url(path))) }
            fixture.store.close()
        }
        let fixture = try LoaderFixture(
            transport: DefaultTransport.patient(), directory: directory,
            policy: CachePolicy(mode: .cacheFirst))
        fixture.clock.advance(by: 3600)
        for old in before {
            let new = try await fixture.loader.load(old.url)
            #expect(new.source == .disk)
            #expect(new.data == old.data)
            #expect(new.status == old.status)
            var fields = new.headerFields
            fields[.age] = nil
            #expect(
                Set(fields) == Set(old.headerFields.filter { ![.connection, .transferEncoding].contains($0.name) }))
        }
        #expect(origin.requestCount == 3)
        await origin.stop()
    }

    @Test(
        "A misbehaving origin leads to a typed error, stores no partial body, and keeps earlier responses",
        .requirement("S18", "I2"),
        arguments: [
            OriginReply.Delivery.declaring(length: 100_000), .abortedChunked(afterBytes: 1000),
            .resetting(afterBytes: 1000),
            .resetBeforeHead, .stalling(afterBytes: 1000), .garbage(Array("nonsense\r\n\r\n".utf8)),
        ])
    func misbehaviour(delivery: OriginReply.Delivery) async throws {
        let origin = try await LoopbackOrigin { request in
            request.path == "/good"
                ? .ok("good".utf8, cacheControl: "max-age=3600")
                : OriginReply.ok([UInt8](repeating: 7, count: 50_000), cacheControl: "max-age=3600").delivered(delivery)
        }
        let fixture = try LoaderFixture(transport: DefaultTransport.patient())
        _ = try await fixture.loader.load(origin.url("/good"))
        // Only the stall waits for the timeout. On a busy machine, a short timeout would also hit the others.
        let idleTimeout = if case .stalling = delivery { 1 } else { 600 }
        let loader = ResourceLoader(
            store: fixture.store, transport: DefaultTransport.patient(idleTimeout: idleTimeout),
            configuration: fixture.loader.configuration)
        let error = await #expect(throws: LoadError.self) { try await loader.load(origin.url("/bad")) }
        guard case .transport(_, let url) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(url == origin.url("/bad"))
        #expect(try fixture.store.statistics().entries == 1)
        #expect(try fixture.blobs.map(\.bytes) == [Data("good".utf8)])
        #expect(try await fixture.loader.load(origin.url("/good")).source == .disk)
        #expect(try await fixture.store.check(digests: true).isSound)
        await origin.stop()
    }
}

import TestSupport

@Suite("HTTPCache: parts stored during the transfer", .timeLimit(.minutes(5))) struct PartCommitTests {
    private let key: CacheKey
    private static let mebibyte = 1 << 20
    private static let length = 12 * mebibyte
    private static let body = Data.noise(length, seed: 1)

    private var body: Data { Self.body }

    init() throws { key = try CacheKey(url: "https://example.com/a") }

    /// A cache that loads a body from a test. By default, the response announces no length.
    private func fixture(
        _ fed: FedBody, etag: String = "\"1\"", announces length: Int? = nil, limits: Limits? = nil
    ) throws -> LoaderFixture {
        let transport = ScriptedTransport { _, _ in
            var fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: etag]
            fields[.contentLength] = length.map(String.init)
            return fed.response(.ok, fields)
        }
        return try LoaderFixture(transport: transport, limits: limits)
    }

    /// Feeds the bytes of the body up to `end`, a mebibyte at a time.
    private func feed(_ fed: FedBody, _ range: Range<Int>) {
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.mebibyte) {
            fed.feed(body[start..<min(start + Self.mebibyte, range.upperBound)])
        }
    }

    private func reading(_ fixture: LoaderFixture) -> Task<Data, any Error> {
        Task { try await fixture.cache.response(for: .to("/a")).bytes }
    }

    /// The lengths of the stored parts, with `nil` for a whole.
    private func parts(_ fixture: LoaderFixture) throws -> [Int64?] {
        try fixture.store.responses(for: key).map { $0.metadata.part == nil ? nil : $0.byteCount }
    }

    @Test("RFC 9111 §3.3: a part is stored every 4 MiB; the whole replaces it")
    func every4MiB() async throws {
        let fed = FedBody()
        let fixture = try fixture(fed, announces: Self.length)
        let reading = reading(fixture)
        feed(fed, 0..<(4 * Self.mebibyte - 1))
        await fed.asked(5)
        #expect(try parts(fixture) == [])
        feed(fed, (4 * Self.mebibyte - 1)..<(5 * Self.mebibyte))
        try await eventually { try parts(fixture).first.flatMap(\.self) ?? 0 >= 4 * Self.mebibyte }
        let entry = try #require(try fixture.store.responses(for: key).first)
        #expect(try fixture.store.openBody(of: entry)?.data() == body.prefix(Int(entry.byteCount)))
        #expect(entry.metadata.part == EntryPart(start: 0, completeLength: Int64(Self.length)))
        #expect(try await fixture.store.check(digests: true).isSound)
        feed(fed, (5 * Self.mebibyte)..<Self.length)
        fed.end()
        #expect(try await reading.value == body)
        #expect(try parts(fixture) == [nil])
        try await fixture.store.flush()
        #expect(try fixture.blobs.map(\.bytes) == [body])
        #expect(try await fixture.store.check(digests: true).isSound)
    }

    @Test("a part is stored after 2 s by the clock of the cache")
    func every2Seconds() async throws {
        let fed = FedBody()
        let fixture = try fixture(fed)
        let reading = reading(fixture)
        fed.feed(body[0..<100_000])
        await fed.asked(2)
        #expect(try parts(fixture) == [])
        fixture.clock.advance(by: 2)
        fed.feed(body[100_000..<200_000])
        try await eventually { try parts(fixture) == [200_000] }
        fed.feed(body[200_000..<300_000])
        await fed.asked(4)
        #expect(try parts(fixture) == [200_000])
        fed.end()
        #expect(try await reading.value == body.prefix(300_000))
        #expect(try parts(fixture) == [nil])
    }

    @Test("RFC 9111 §3.4: after the process ends, the next process requests the rest of the part")
    func otherProcess() async throws {
        let fed = FedBody()
        let fixture = try fixture(fed, announces: Self.length)
        let reading = reading(fixture)
        feed(fed, 0..<(7 * Self.mebibyte))
        try await eventually { try parts(fixture) != [] }
        let origin = RepresentationOrigin("")
        origin.set { [body] in $0.body = body }
        let transport = origin.transport
        // The first store stays open: the second reads the files only.
        let second = try LoaderFixture(transport: transport, directory: fixture.directory)
        // Unlike an ended process, the first store also holds the lock of the key.
        second.cache.configuration.processWait = .zero
        #expect(try await second.cache.response(for: .to("/a")).bytes == body)
        let range = try #require(transport.requests.first?.headerFields[.range])
        let start = try #require(Int(range.dropFirst("bytes=".count).dropLast()))
        #expect((4 * Self.mebibyte...7 * Self.mebibyte).contains(start))
        #expect(transport.requests.first?.headerFields[.ifRange] == "\"1\"")
        // The first load continues: its file has lost its last name, and is copied.
        feed(fed, (7 * Self.mebibyte)..<Self.length)
        fed.end()
        #expect(try await reading.value == body)
        #expect(try parts(second) == [nil])
        #expect(try await second.store.check(digests: true).isSound)
    }

    @Test("a resumed body is stored part by part, too")
    func resumed() async throws {
        let fed = FedBody()
        let origin = RepresentationOrigin("")
        origin.set { [body] state in
            state.body = body
            state.breaksOffAfter = 3 * Self.mebibyte
        }
        let fixture = try LoaderFixture(transport: origin.transport)
        await #expect(throws: LoadError.self) { try await fixture.cache.response(for: .to("/a")).bytes }
        #expect(try parts(fixture) == [Int64(3 * Self.mebibyte)])
        origin.set { state in
            state.override = { _ in
                fed.response(
                    .partialContent,
                    [
                        .cacheControl: "max-age=60", .eTag: "\"1\"",
                        .contentRange: "bytes \(3 * Self.mebibyte)-\(Self.length - 1)/\(Self.length)",
                    ])
            }
        }
        let reading = reading(fixture)
        feed(fed, (3 * Self.mebibyte)..<(8 * Self.mebibyte))
        try await eventually { try (parts(fixture).first.flatMap(\.self) ?? 0) >= 7 * Self.mebibyte }
        feed(fed, (8 * Self.mebibyte)..<Self.length)
        fed.end()
        #expect(try await reading.value == body)
        #expect(try parts(fixture) == [nil])
    }

    @Test("stores no part that a later request could not complete", arguments: ["W/\"1\"", ""])
    func weakValidator(etag: String) async throws {
        let fed = FedBody()
        let fixture = try fixture(fed, etag: etag)
        let reading = reading(fixture)
        feed(fed, 0..<Self.length)
        await fed.asked(13)
        #expect(try parts(fixture) == [])
        fed.end()
        #expect(try await reading.value == body)
    }

    @Test("a failed commit of a part does not fail the body")
    func failing() async throws {
        let fed = FedBody()
        let fixture = try fixture(fed)
        let reading = reading(fixture)
        feed(fed, 0..<(5 * Self.mebibyte))
        try await eventually { try parts(fixture) != [] }
        try await fixture.store.remove(key)
        feed(fed, (5 * Self.mebibyte)..<Self.length)
        fed.end()
        #expect(try await reading.value == body)
        #expect(try parts(fixture) == [], "the load began before the removal")
        try await fixture.store.flush()
        #expect(try fixture.blobs.isEmpty)
    }

    @Test("the part of a body that exceeds the limit is removed", arguments: [true, false])
    func tooLarge(isLimitOfStore: Bool) async throws {
        let fed = FedBody()
        let limits = Limits(maxBytes: 64 << 20, maxEntryBytes: 6 << 20)
        let fixture = try fixture(fed, limits: isLimitOfStore ? limits : nil)
        if !isLimitOfStore { fixture.cache.configuration.maxBodyBytes = 6 << 20 }
        let reading = reading(fixture)
        feed(fed, 0..<(5 * Self.mebibyte))
        try await eventually { try parts(fixture) != [] }
        feed(fed, (5 * Self.mebibyte)..<Self.length)
        fed.end()
        if isLimitOfStore {
            #expect(try await reading.value == body)
        } else {
            await #expect(throws: LoadError.self) { try await reading.value }
        }
        #expect(try parts(fixture) == [])
    }

    @Test("a cancelled load keeps the received bytes, and the loader waits for their commit")
    func cancelled() async throws {
        let fed = FedBody()
        let fixture = try fixture(fed, announces: Self.length)
        let loading = Task { try await fixture.loader.load("https://example.com/a") }
        feed(fed, 0..<Self.mebibyte)
        await fed.asked(2)
        loading.cancel()
        await #expect(throws: LoadError.cancelled) { try await loading.value }
        await fixture.loader.waitForBodies()
        #expect(try parts(fixture) == [Int64(Self.mebibyte)])
    }

    @Test("waiting for bodies returns immediately without any, and after a complete one")
    func waiting() async throws {
        let fed = FedBody("whole")
        let fixture = try fixture(fed)
        await fixture.loader.waitForBodies()
        fed.end()
        #expect(try await fixture.loader.load("https://example.com/a").text == "whole")
        await fixture.loader.waitForBodies()
        #expect(try parts(fixture) == [nil])
    }
}

import TestSupport

/// Responses that break off after each of their bytes.
@Suite("ResourceLoader: responses that are reset after each byte", .timeLimit(.minutes(5))) struct LoaderResetTests {
    private static let body = Array("the quick brown fox".utf8)

    /// An origin with one representation, whose responses break off at a given byte.
    private final class Origin: Sendable {
        enum Cut: Sendable {
            case head(Int)
            case body(Int)
        }

        private let etag: String?
        /// Guards the position of the break.
        private let cut = Mutex<Cut?>(nil)

        init(etag: String?) { self.etag = etag }

        func set(_ cut: Cut?) { self.cut.withLock { $0 = cut } }

        func start() async throws -> LoopbackOrigin {
            try await LoopbackOrigin { request in
                let reply = self.reply(to: request)
                switch self.cut.withLock({ $0 }) {
                case nil: return reply
                case .head(let count)?: return reply.delivered(.breakingOff(Array(Self.head.prefix(count))))
                case .body(let count)?: return reply.delivered(.resetting(afterBytes: min(count, reply.body.count)))
                }
            }
        }

        static let head = Array(
            "HTTP/1.1 200 OK\r\nContent-Length: \(LoaderResetTests.body.count)\r\nCache-Control: max-age=60\r\n\r\n"
                .utf8)

        private func reply(to request: OriginRequest) -> OriginReply {
            let body = LoaderResetTests.body
            var fields: HTTPFields = [.cacheControl: "max-age=60"]
            fields[.eTag] = etag
            guard let etag, request.fields[.ifRange] == etag,
                let first = request.fields[.range].flatMap({ Int($0.dropFirst("bytes=".count).dropLast()) })
            else { return .status(.ok, fields: fields, body: body) }
            fields[.contentRange] = "bytes \(first)-\(body.count - 1)/\(body.count)"
            return .status(.partialContent, fields: fields, body: body[first...])
        }
    }

    private static var cuts: [Origin.Cut] { body.indices.map { .body($0) } }

    /// The positions at which a broken head does not end the process: see the page on transports.
    private static func headCuts(_ adapter: TransportAdapter) -> [Origin.Cut] {
        guard adapter.rawValue != "URLSession" else { return [.head(0)] }
        return stride(from: 0, to: Origin.head.count, by: Repetitions.count(1, debug: 5)).map { .head($0) }
    }

    @Test(
        "A typed error; the kept bytes are a part; the next load gets the whole, resumed or new",
        .requirement("S18", "G15", "D5"), arguments: TransportAdapter.allCases, ["\"1\"", "W/\"1\"", nil] as [String?])
    func single(_ adapter: TransportAdapter, etag: String?) async throws {
        let breaking = Origin(etag: etag)
        let origin = try await breaking.start()
        let fixture = try LoaderFixture(transport: adapter.make())
        for (number, cut) in (Self.headCuts(adapter) + Self.cuts).enumerated() {
            let url = origin.url("/\(number)")
            let key = try CacheKey(url: url)
            breaking.set(cut)
            let error = await #expect(throws: LoadError.self, "\(cut)") { try await fixture.loader.load(url) }
            guard case .transport(_, url)? = error else {
                Issue.record("\(cut): \(String(describing: error))")
                continue
            }
            #expect(try fixture.store.failure(for: key) == nil)
            for entry in try fixture.store.responses(for: key) {
                #expect(etag == "\"1\"", "a weak validator tells nothing of bytes")
                #expect(entry.metadata.part?.completeLength == Int64(Self.body.count))
                let part = try #require(try fixture.store.openBody(of: entry)).data()
                #expect(Self.body.starts(with: part), "\(cut)")
            }
            #expect(try fixture.loader.peek(url).map { Self.body.starts(with: $0) } ?? true)

            breaking.set(nil)
            #expect(try await fixture.loader.load(url).data == Data(Self.body), "\(cut)")
            #expect(try fixture.store.responses(for: key).map(\.metadata.part) == [nil])
            #expect(try await fixture.loader.load(url).source == .disk)
        }
        try await fixture.store.sweep()
        #expect(try await fixture.store.check(digests: true).isSound)
        await origin.stop()
    }

    @Test(
        "A retry completes the body; progress never decreases", .requirement("H5", "G15"),
        arguments: TransportAdapter.allCases, ["\"1\"", nil] as [String?])
    func attempts(_ adapter: TransportAdapter, etag: String?) async throws {
        let breaking = Origin(etag: etag)
        let origin = try await breaking.start()
        let fixture = try LoaderFixture(transport: adapter.make()) { configuration in
            configuration.retry = RetryPolicy(maxAttempts: 3, baseDelay: .zero)
            // The origin works again before the next attempt.
            configuration.sleep = { _ in breaking.set(nil) }
        }
        for (number, cut) in (Self.headCuts(adapter) + Self.cuts).enumerated() {
            let url = origin.url("/\(number)")
            breaking.set(cut)
            let events = await fixture.loader.events(for: ResourceRequest(url)).all
            expectGrammatical(events)
            #expect(events.map(\.name).contains("retrying 1"), "\(cut)")
            let loaded = try #require(events.last?.loaded, "\(cut): \(events.map(\.name))")
            #expect(loaded.data == Data(Self.body), "\(cut)")
            #expect(try await fixture.loader.load(url).source == .disk)
        }
        #expect(try fixture.store.query("SELECT count(*) AS n FROM cache_errors").first?["n"] == .integer(0))
        try await fixture.store.sweep()
        #expect(try await fixture.store.check(digests: true).isSound)
        await origin.stop()
    }
}

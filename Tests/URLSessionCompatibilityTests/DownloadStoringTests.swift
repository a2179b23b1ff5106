import TestSupport
import URLSessionCompatibility
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Storing the file of a download task", .timeLimit(.minutes(5))) struct DownloadStoringTests {
    private let sent = CallCount()
    private let fixture: SessionFixture
    private let bytes = Data.noise(600_000, seed: 4)
    private let file: URL

    init() throws {
        let transport = ScriptedTransport { [sent] _, _ in
            sent.increment()
            return .reply(200, [:], "new")
        }
        fixture = try SessionFixture(transport, limits: Limits(maxBytes: 1 << 30, maxEntryBytes: 1 << 20))
        file = fixture.file("download")
        try bytes.write(to: file)
    }

    private static func response(
        _ path: String = "/a", _ fields: [String: String] = ["Cache-Control": "max-age=60"], status: Int = 200
    ) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "https://example.com\(path)"))
        return try #require(HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
    }

    @Test("The file answers requests without the origin, and stays in place")
    func stored() async throws {
        let entry = try fixture.cache.storeDownload(at: file, response: Self.response(), for: .to("/a"))
        #expect(entry.byteCount == 600_000)
        #expect(try Data(contentsOf: file) == bytes)
        let (data, response) = try await fixture.cache.data(for: .to("/a"))
        #expect(data == bytes)
        #expect(try response.http.statusCode == 200)
        #expect(sent.value == 0)
    }

    @Test("After a redirect, the response is stored for the URL that answered; at another origin, without credentials")
    func redirected() async throws {
        let request = URLRequest.to("/first", "GET", ["Authorization": "Basic YTpi", "Accept-Language": "de"])
        let fields = ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]
        try fixture.cache.storeDownload(at: file, response: Self.response("/last", fields), for: request)
        #expect(try fixture.store.peek(CacheKey(url: "https://example.com/first")) == nil)
        let stored = try #require(try fixture.store.peek(CacheKey(url: "https://example.com/last")))
        #expect(stored.metadata.variant.contains("de"))
        var elsewhere = request
        elsewhere.url = URL(string: "https://other.example/first")
        try fixture.cache.storeDownload(at: file, response: Self.response("/open", fields), for: elsewhere)
        #expect(try await fixture.cache.data(for: .to("/open", "GET", ["Accept-Language": "de"])).0 == bytes)
        #expect(sent.value == 0)
    }

    @Test("RFC 9530 §6.5: a decoded file does not keep the digests of the encoded bytes")
    func decoded() async throws {
        let described = ["Content-Encoding", "Content-Digest", "Repr-Digest"]
        let fields = [
            "Cache-Control": "max-age=60", "Content-Encoding": "gzip", "Content-Digest": "sha-256=:AA==:",
            "Repr-Digest": "sha-256=:AA==:",
        ]
        try fixture.cache.storeDownload(at: file, response: Self.response("/a", fields), for: .to("/a"))
        let (data, response) = try await fixture.cache.data(for: .to("/a"))
        #expect(data == bytes)
        for name in described { #expect(try response.http.value(forHTTPHeaderField: name) == nil, "\(name)") }
    }

    @Test("A 206 that completes the file is stored as the whole; any other 206 is not stored")
    func resumed() async throws {
        func store(_ range: String) throws {
            let fields = ["Cache-Control": "max-age=60", "Content-Range": range, "Content-Length": "1000"]
            let response = try Self.response("/a", fields, status: 206)
            try fixture.cache.storeDownload(at: file, response: response, for: .to("/a"))
        }
        for range in ["bytes 0-999/600000", "bytes 599000-599999/700000", "bytes 599000-599999/*"] {
            #expect(throws: LoadError.notStorable(url: "https://example.com/a")) { try store(range) }
        }
        try store("bytes 599000-599999/600000")
        let (data, response) = try await fixture.cache.data(for: .to("/a"))
        #expect(data == bytes)
        #expect(try response.http.value(forHTTPHeaderField: "Content-Length") == "600000")
    }

    @Test(
        "A response that a cache must not store throws, and leaves nothing behind",
        arguments: [
            ("GET", ["Cache-Control": "no-store"], 200), ("POST", ["Cache-Control": "max-age=60"], 200),
            ("GET", ["Cache-Control": "max-age=60", "Content-Length": "5"], 200), ("GET", [:], 304),
        ])
    func refused(method: String, fields: [String: String], status: Int) throws {
        #expect(throws: LoadError.notStorable(url: "https://example.com/a")) {
            try fixture.cache.storeDownload(
                at: file, response: Self.response("/a", fields, status: status), for: .to("/a", method))
        }
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("A file beyond the limits of the store is not stored; a missing file and a closed store throw")
    func failures() throws {
        let large = fixture.file("large")
        try Data.noise(1_100_000, seed: 5).write(to: large)
        #expect(throws: LoadError.notStorable(url: "https://example.com/a")) {
            try fixture.cache.storeDownload(at: large, response: Self.response(), for: .to("/a"))
        }
        #expect {
            try fixture.cache.storeDownload(at: fixture.file("missing"), response: Self.response(), for: .to("/a"))
        } throws: { error in
            if case .unreadableFile? = error as? LoadError { true } else { false }
        }
        #expect(try fixture.store.statistics().entries == 0)
        fixture.store.close()
        #expect(throws: LoadError.store(.closed)) {
            try fixture.cache.storeDownload(at: file, response: Self.response(), for: .to("/a"))
        }
    }
}

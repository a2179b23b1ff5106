import TestSupport
import URLSessionCompatibility
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("URLSession's download(for:) on a cache", .timeLimit(.minutes(5))) struct SessionDownloadTests {
    private let bytes = Data.noise(300_000, seed: 2)

    private func fixture(
        _ fields: HTTPFields = [.cacheControl: "max-age=60"], limits: Limits? = nil
    ) throws -> SessionFixture {
        let transport = ScriptedTransport { [bytes] request, _ in
            guard request.path == "/a" else { return .reply(404, [:], "page") }
            let chunks = stride(from: 0, to: bytes.count, by: 50_000).map {
                Data(bytes[$0..<min($0 + 50_000, bytes.count)])
            }
            return TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: fields), body: TransportBody(chunks: chunks))
        }
        return try SessionFixture(transport, limits: limits)
    }

    @Test("A body goes to a separate file in the temporary directory that only the user may read")
    func temporary() async throws {
        let fixture = try fixture()
        for _ in 0..<2 {
            let (file, response) = try await fixture.cache.download(for: .to("/a"))
            defer { try? FileManager.default.removeItem(at: file) }
            #expect(try response.http.statusCode == 200)
            #expect(try Data(contentsOf: file) == bytes)
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(attributes[.referenceCount] as? Int == 1)
        }
        let (page, response) = try await fixture.cache.download(for: .to("/missing"))
        defer { try? FileManager.default.removeItem(at: page) }
        #expect(try response.http.statusCode == 404)
        #expect(try Data(contentsOf: page) == Data("page".utf8))
    }

    @Test(
        "A body goes to the program's file, whether the store keeps all, none or only the start of the body",
        arguments: ["max-age=60", "no-store"], [nil, 100_000])
    func target(cacheControl: String, largest: Int64?) async throws {
        let limits = Limits(maxBytes: 1 << 30, maxEntryBytes: largest)
        let fixture = try fixture([.cacheControl: cacheControl], limits: limits)
        let file = fixture.file("file")
        for _ in 0..<2 {
            try Data("before".utf8).write(to: file)
            let response = try await fixture.cache.download(for: .to("/a"), to: file)
            #expect(try response.http.statusCode == 200)
            #expect(try Data(contentsOf: file) == bytes)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
        #expect(names.sorted() == ["file", "store"])
    }

    @Test("An unsuccessful response leaves the file unchanged, and so does a file that cannot be written")
    func unchanged() async throws {
        let fixture = try fixture()
        let file = fixture.file("file")
        try Data("before".utf8).write(to: file)
        let response = try await fixture.cache.download(for: .to("/missing"), to: file)
        #expect(try response.http.statusCode == 404)
        #expect(try Data(contentsOf: file) == Data("before".utf8))
        await expect(.cannotWriteToFile) {
            _ = try await fixture.cache.download(for: .to("/a"), to: fixture.file("missing/file"))
        }
        await expect(.cannotWriteToFile) {
            _ = try await fixture.cache.download(for: .to("/a"), to: fixture.directory.url)
        }
    }
}

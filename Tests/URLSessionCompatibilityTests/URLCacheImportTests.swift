import TestSupport
import URLSessionCompatibility
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Importing a URLCache", .timeLimit(.minutes(5))) struct URLCacheImportTests {
    private let sent = CallCount()
    private let fixture: SessionFixture
    private let old: OldURLCache
    /// The time of the fixtures' rows.
    private static let storedAt = Date(timeIntervalSince1970: 1_767_225_600)
    private static let file = "7EE02011-9C66-45A1-BFE4-CB18F2251F24"

    init() throws {
        let transport = ScriptedTransport { [sent] _, _ in
            sent.increment()
            return .reply(200, [.cacheControl: "max-age=60"], "new")
        }
        fixture = try SessionFixture(transport) { $0.clock = { Self.storedAt + 30 } }
        old = try OldURLCache(in: fixture.file("old"))
    }

    private func load(_ path: String, _ fields: [String: String] = [:]) async throws -> (String, HTTPURLResponse) {
        let (data, response) = try await fixture.cache.data(for: .to(path, "GET", fields))
        return (String(decoding: data, as: UTF8.self), try response.http)
    }

    private func importOld() async throws -> URLCacheImport {
        try await fixture.cache.importURLCache(at: old.directory)
    }

    @Test("Fresh responses from the database and from files answer without a request; stale ones are requested")
    func answers() async throws {
        let long = Data.noise(600_000, seed: 3)
        try old.add(.init(path: "/inline"))
        try old.add(.init(path: "/file", body: long, file: Self.file))
        try old.add(.init(path: "/stale", fields: ["Cache-Control": "max-age=20"]))
        try old.add(.init(path: "/empty", body: Data()))
        let result = try await importOld()
        #expect(result.imported == 4)
        #expect(result.importedBytes == 600_008)
        #expect(try await load("/inline").0 == "body")
        let (data, response) = try await fixture.cache.data(for: .to("/file"))
        #expect(data == long)
        #expect(try response.http.value(forHTTPHeaderField: "Age") == "30")
        #expect(try response.http.value(forHTTPHeaderField: "__hhaa__") == nil)
        #expect(try await load("/empty").0 == "")
        #expect(sent.value == 0)
        #expect(try await load("/stale").0 == "new")
        #expect(sent.value == 1)
    }

    @Test("An earlier time of receipt in the archive counts; a later one does not make a response fresher")
    func times() async throws {
        try old.add(.init(path: "/earlier", receivedAt: Self.storedAt - 100))
        try old.add(.init(path: "/later", receivedAt: Self.storedAt + 10))
        try old.add(.init(path: "/future", receivedAt: Self.storedAt + 9e8, timeStamp: "2060-01-01 00:00:00"))
        #expect(try await importOld().imported == 3)
        #expect(try await load("/earlier").0 == "new")
        #expect(try await load("/later").1.value(forHTTPHeaderField: "Age") == "30")
        #expect(try await load("/future").1.value(forHTTPHeaderField: "Age") == "0")
        #expect(sent.value == 1)
    }

    @Test("Vary and credentials select imported and received responses alike")
    func selection() async throws {
        try old.add(
            .init(
                requestFields: ["Accept-Language": "de", "Authorization": "Basic YTpi"],
                fields: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"]))
        #expect(try await importOld().imported == 1)
        #expect(try await load("/a", ["Accept-Language": "de", "Authorization": "Basic YTpi"]).0 == "body")
        #expect(try await load("/a", ["Accept-Language": "en", "Authorization": "Basic YTpi"]).0 == "new")
        #expect(try await load("/a", ["Accept-Language": "de"]).0 == "new")
    }

    @Test("A body is stored without the coding that URLSession removed; a body that may still be coded is not stored")
    func codings() async throws {
        let fields = ["Cache-Control": "max-age=60", "Content-Encoding": "br", "Content-Length": "3"]
        try old.add(.init(path: "/decoded", fields: fields))
        let gzip = ["Cache-Control": "max-age=60", "Content-Encoding": "gzip"]
        try old.add(.init(path: "/archive", fields: gzip, body: Data([0x1F, 0x8B, 8, 0])))
        let result = try await importOld()
        #expect(result.imported == 1)
        #expect(result.refused == 1)
        let (text, response) = try await load("/decoded")
        #expect(text == "body")
        #expect(response.value(forHTTPHeaderField: "Content-Encoding") == nil)
    }

    @Test(
        "A response that a cache must not store is refused",
        arguments: [
            OldURLCache.Response(fields: ["Cache-Control": "no-store"]), .init(method: "POST"), .init(method: "HEAD"),
            .init(status: 206), .init(status: 304), .init(storagePolicy: 1), .init(partition: "https://site.example"),
            .init(answeredPath: "/b"), .init(requestFields: ["Cache-Control": "no-store"]), .init(path: "@/a"),
        ])
    func refused(response: OldURLCache.Response) async throws {
        try old.add(response)
        var expected = URLCacheImport.none
        expected.refused = 1
        #expect(try await importOld() == expected)
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test(
        "Counts an unreadable row, and imports the others",
        arguments: [
            OldURLCache.Response(fields: ["Cache-Control": "max-age=60", "Content-Length": "5"]),
            .init(file: "../secret"), .init(file: "secret"), .init(file: ".."),
            .init(method: "NOTHING"), .init(status: 7), .init(timeStamp: "yesterday"),
        ])
    func unreadable(response: OldURLCache.Response) async throws {
        try Data("secret".utf8).write(to: old.directory.appending(path: "secret"))
        try old.add(response)
        try old.add(.init(path: "/good"))
        var expected = URLCacheImport.none
        (expected.unreadable, expected.imported, expected.importedBytes) = (1, 1, 4)
        #expect(try await importOld() == expected)
    }

    @Test("A body behind a symbolic link, in a directory or in a missing file is not read")
    func links() async throws {
        let folder = old.directory.appending(path: "fsCachedData")
        let secret = old.directory.appending(path: "secret")
        try Data("body".utf8).write(to: secret)
        let names = [Self.file, "7EE02011-9C66-45A1-BFE4-CB18F2251F25", "7EE02011-9C66-45A1-BFE4-CB18F2251F26"]
        for name in names { try old.add(.init(path: "/\(name)", file: name)) }
        for name in names { try FileManager.default.removeItem(at: folder.appending(path: name)) }
        try FileManager.default.createSymbolicLink(at: folder.appending(path: names[0]), withDestinationURL: secret)
        try FileManager.default.createDirectory(
            at: folder.appending(path: names[1]), withIntermediateDirectories: false)
        #expect(try await importOld().unreadable == 3)
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("A second import does nothing, even after the entries were removed; another partition is a separate import")
    func once() async throws {
        try old.add(.init())
        #expect(try await importOld().imported == 1)
        try await fixture.store.removeAll(.everything)
        var done = URLCacheImport.none
        done.wasImportedBefore = true
        #expect(try await importOld() == done)
        #expect(try fixture.store.statistics().entries == 0)
        fixture.cache.configuration.partition = "user"
        #expect(try await importOld().imported == 1)
        #expect(try await importOld() == done)
    }

    @Test("A response does not replace one that was received later")
    func outdated() async throws {
        #expect(try await load("/a").0 == "new")
        try old.add(.init())
        #expect(try await importOld().outdated == 1)
        #expect(sent.value == 1)
    }

    @Test("The old cache stays unchanged, whether its database is closed or in use")
    func unchanged() async throws {
        try old.add(.init(path: "/a"))
        try old.add(.init(path: "/b", file: Self.file))
        let before = try old.files()
        #expect(before.keys.contains("Cache.db-wal"))
        #expect(try await importOld().imported == 2)
        #expect(try old.files() == before)
        let copy = fixture.file("copy")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: false)
        try old.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try FileManager.default.copyItem(
            at: old.directory.appending(path: "Cache.db"), to: copy.appending(path: "Cache.db"))
        #expect(try await fixture.cache.importURLCache(at: copy).outdated == 2)
        #expect(try FileManager.default.contentsOfDirectory(atPath: copy.path) == ["Cache.db"])
    }

    @Test("A directory without a database neither throws nor leaves a record")
    func missing() async throws {
        #expect(try await fixture.cache.importURLCache(at: fixture.file("missing")) == .none)
        #expect(try await fixture.cache.importURLCache(at: fixture.directory.url) == .none)
    }

    @Test("A database of another kind throws")
    func foreign() async throws {
        let view = OldURLCache.schema + "DROP TABLE cfurl_cache_response; CREATE VIEW cfurl_cache_response AS SELECT 1;"
        _ = try OldURLCache(in: fixture.file("view"), schema: view)
        let text = fixture.file("text")
        try FileManager.default.createDirectory(at: text, withIntermediateDirectories: false)
        try Data.noise(5_000, seed: 1).write(to: text.appending(path: "Cache.db"))
        let link = fixture.file("link")
        try FileManager.default.createDirectory(at: link, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            at: link.appending(path: "Cache.db"), withDestinationURL: old.directory.appending(path: "Cache.db"))
        for directory in [fixture.file("view"), text, link] {
            let error = await #expect(throws: URLCacheImportError.self) {
                try await fixture.cache.importURLCache(at: directory)
            }
            guard case .unreadable? = error else {
                Issue.record("\(directory): \(String(describing: error))")
                continue
            }
        }
    }

    @Test("A cancelled import and a closed store throw")
    func cancelled() async throws {
        try old.add(.init())
        let task = Task { [cache = fixture.cache, directory = old.directory] in
            while !Task.isCancelled { await Task.yield() }
            return try await cache.importURLCache(at: directory)
        }
        task.cancel()
        await #expect(throws: URLCacheImportError.cancelled) { try await task.value }
        fixture.store.close()
        await #expect(throws: URLCacheImportError.store(.closed)) { try await importOld() }
    }

    @Test("Damaged property lists and databases lead to counts or errors")
    func damage() async throws {
        var random = SeededGenerator()
        let (request, head) = (OldURLCache.request(.init()), OldURLCache.head(.init()))
        for _ in 0..<200 { try old.add(request: request.damaged(&random), response: head.damaged(&random)) }
        let result = try await importOld()
        #expect(result.imported + result.outdated + result.refused + result.unreadable == 200, "\(random)")
        try old.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        let bytes = try Data(contentsOf: old.directory.appending(path: "Cache.db"))
        for number in 0..<20 {
            let directory = fixture.file("damaged\(number)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
            try bytes.damaged(&random, count: 30).write(to: directory.appending(path: "Cache.db"))
            do throws(URLCacheImportError) {
                _ = try await fixture.cache.importURLCache(at: directory)
            } catch {
                if case .unreadable = error { continue }
                Issue.record("\(error), \(random)")
            }
        }
    }

    @Test("Reads a property list with shared arrays in linear time")
    func shared() async throws {
        // Each of 60 arrays contains the next one twice: 2^60 elements for a reader that expands them.
        var bytes = Array("bplist00".utf8)
        var offsets: [UInt8] = []
        for number in 1...60 {
            offsets.append(UInt8(bytes.count))
            bytes += [0xA2, UInt8(number), UInt8(number)]
        }
        offsets.append(UInt8(bytes.count))
        bytes.append(0xA0)
        let table = UInt8(bytes.count)
        bytes += offsets + [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 61]
        bytes += [UInt8](repeating: 0, count: 15) + [table]
        try old.add(request: Data(bytes), response: Data(bytes))
        #expect(try await importOld().unreadable == 1)
    }
}

extension URLCacheImport {
    /// All counts are 0.
    fileprivate static let none = URLCacheImport()
}

extension Data {
    /// The bytes with some of them changed.
    fileprivate func damaged(_ random: inout some RandomNumberGenerator, count: Int = 3) -> Data {
        var data = self
        for _ in 0..<count {
            let index = data.index(data.startIndex, offsetBy: .random(in: 0..<data.count, using: &random))
            data[index] = .random(in: .min ... .max, using: &random)
        }
        return data
    }
}

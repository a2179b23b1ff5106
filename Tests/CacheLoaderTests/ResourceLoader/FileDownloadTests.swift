import TestSupport

@Suite("ResourceLoader: loading into a file", .timeLimit(.minutes(5))) struct FileDownloadTests {
    private let url = "https://example.com/a"
    private let directory: TemporaryDirectory
    private let file: URL

    init() throws {
        directory = try TemporaryDirectory()
        file = directory.url.appending(path: "ä b.bin")
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
    }

    @Test("Content from the network and from the store is written whole, and replaces a file")
    func sources() async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "hello, ", "world") }
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = 1 << 20 }
        try Data("a longer file from before".utf8).write(to: file)
        for source in [ResponseSource.network, .disk, .disk] {
            let loaded = try await fixture.loader.load(url, to: file)
            #expect(loaded.value == file)
            #expect(loaded.source == source)
            #expect(loaded.url == url)
            #expect(try Data(contentsOf: file) == Data("hello, world".utf8))
            #expect(try names == ["ä b.bin"])
            try FileManager.default.removeItem(at: file)
        }
        #expect(transport.requestCount == 1)
    }

    @Test(
        "Content that is not stored, or stored in a coding, is written as a load delivers it",
        arguments: ["no-store", "max-age=60"], ["gzip", nil])
    func unstored(cacheControl: String, coding: String?) async throws {
        let gzip = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11HIQKIAn6HKCRMAAAA="))
        let text = Data("hello, hello, hello".utf8)
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            TransportResponse(
                head: HTTPResponse(
                    status: .ok,
                    headerFields: HTTPFields(
                        [HTTPField(name: .cacheControl, value: cacheControl)]
                            + (coding.map { [HTTPField(name: .contentEncoding, value: $0)] } ?? []))),
                body: TransportBody(coding == nil ? text : gzip))
        }
        for _ in 0..<2 {
            try await fixture.loader.load(url, to: file)
            #expect(try Data(contentsOf: file) == text)
        }
        #expect(transport.requestCount == (cacheControl == "no-store" ? 2 : 1))
    }

    @Test("A part of a stored body is written as a part")
    func range() async throws {
        let transport = ScriptedTransport(.ok("0123456789".utf8, cacheControl: "max-age=60", etag: "\"1\""))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load(url)
        let part = try await fixture.loader.load(ResourceRequest(url, headerFields: [.range: "bytes=2-4"]), to: file)
        #expect(part.status == .partialContent)
        #expect(try Data(contentsOf: file) == Data("234".utf8))
    }

    @Test("The file is not a link to a stored body: changing it does not change the store", arguments: [10, 3 << 20])
    func isolation(count: Int) async throws {
        let bytes = Data.noise(count, seed: 1)
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60"]), body: TransportBody(bytes)
            )
        }
        for _ in 0..<2 {
            try await fixture.loader.load(url, to: file)
            #expect(try Data(contentsOf: file) == bytes)
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))
            #expect(attributes[.referenceCount] as? Int == 1)
            let handle = try FileHandle(forWritingTo: file)
            try handle.write(contentsOf: Data("changed".utf8))
            try handle.close()
        }
        #expect(try fixture.blobs.map(\.bytes) == [bytes])
        #expect(try await fixture.loader.load(url).data == bytes)
        #expect(transport.requestCount == 1)
    }

    @Test("A file that cannot be written throws, and changes neither the file nor the store")
    func unwritable() async throws {
        let transport = ScriptedTransport(.ok("body".utf8, cacheControl: "max-age=60"))
        let fixture = try LoaderFixture(transport: transport)
        let folder = directory.url.appending(path: "folder")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let places = [
            folder, directory.url, directory.url.appending(path: "missing/file"), URL(filePath: "/dev/null/file"),
            try #require(URL(string: "https://example.com/file")), directory.url.appending(path: "nul\u{0}"),
        ]
        for place in places {
            await #expect {
                try await fixture.loader.load(url, to: place)
            } throws: { error in
                guard case .unwritableFile(_, let reason)? = error as? LoadError else { return false }
                return !reason.isEmpty
            }
        }
        #expect(try names == ["folder"])
        #expect(transport.requestCount == 1)
        #expect(try await fixture.loader.load(url).source == .disk)
    }

    @Test("A failed load, a cancelled one and a 304 to the caller's condition leave the file unchanged")
    func unchanged() async throws {
        let gate = Gate()
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            switch request.path {
            case "/held":
                await gate.wait()
                return .reply(200, [:], "late")
            case "/condition": return .reply(304)
            default: return .reply(404, [:], "page")
            }
        }
        try Data("before".utf8).write(to: file)
        await #expect(throws: LoadError.self) { try await fixture.loader.load("https://example.com/404", to: file) }
        let condition = ResourceRequest("https://example.com/condition", headerFields: [.ifNoneMatch: "\"1\""])
        #expect(try await fixture.loader.load(condition, to: file).status == .notModified)
        let (loader, place) = (fixture.loader, file)
        let held = Task { try await loader.load("https://example.com/held", to: place) }
        await gate.reached(1)
        held.cancel()
        await #expect(throws: LoadError.cancelled) { try await held.value }
        #expect(try Data(contentsOf: file) == Data("before".utf8))
        #expect(try names == ["ä b.bin"])
    }

    @Test("The events report the progress; the file exists before the last event")
    func events() async throws {
        let gate = Gate()
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            guard request.path == "/a" else { return .reply(500) }
            await gate.wait()
            return .reply(200, [.cacheControl: "max-age=60", .contentLength: "10"], "01234", "56789")
        }
        var names: [String] = []
        for await event in fixture.loader.events(for: ResourceRequest(url), to: file) {
            names.append(event.name)
            switch event {
            case .completed(let loaded): #expect(try Data(contentsOf: loaded.value) == Data("0123456789".utf8))
            case .progress(_, let total): #expect(total == 10)
            default:
                #expect(!FileManager.default.fileExists(atPath: file.path(percentEncoded: false)))
                gate.open()
            }
        }
        #expect(names.first == "requesting")
        #expect(names.contains("progress 10/10"))
        #expect(names.last == "completed network")
        let failing = fixture.loader.events(for: ResourceRequest("https://example.com/b"), to: file)
        var last = ""
        for await event in failing { last = event.name }
        #expect(last == "failed")
        last = ""
        let nowhere = directory.url.appending(path: "missing/file")
        for await event in fixture.loader.events(for: ResourceRequest(url), to: nowhere) { last = event.name }
        #expect(last == "failed")
    }

    @Test("Loads into files and other loads share one transfer")
    func sharing() async throws {
        let origin = HeldOrigin()
        let fixture = try LoaderFixture(transport: origin.transport)
        let (loader, url, folder) = (fixture.loader, url, directory.url)
        let bytes = Task { try await loader.load(url).text }
        let files = (0..<3).map { number in
            Task { try await loader.load(url, to: folder.appending(path: "\(number)")).value }
        }
        await eventually { loader.waiterCount(of: ResourceRequest(url)) == 4 }
        origin.open("/a")
        #expect(try await bytes.value == "/a")
        for file in files { #expect(try Data(contentsOf: await file.value) == Data("/a".utf8)) }
        #expect(origin.begun == ["/a"])
    }
}

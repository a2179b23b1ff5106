import TestSupport

@Suite("ResourceLoader: files") struct FileLoadingTests {
    @Test("A path and its file URL are loaded without a request and a row; a missing file throws", .requirement("A8"))
    func files() async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, [:], "origin") }
        let fixture = try LoaderFixture(transport: transport) { $0.loadsFiles = true }
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "ä b.txt")
        try Data("file".utf8).write(to: file)
        let path = file.path(percentEncoded: false)
        for text in [path, file.absoluteString, "file://localhost" + file.path(percentEncoded: true)] {
            let loaded = try await fixture.loader.load(text)
            #expect(loaded.text == "file")
            #expect(loaded.source == .local)
            #expect(try await fixture.loader.load(text, as: .text).value == "file")
        }
        await #expect(throws: LoadError.self) { try await fixture.loader.load(path + "-missing") }
        await #expect(throws: LoadError.self) { try await fixture.loader.load(directory.url.absoluteString) }
        #expect(transport.requestCount == 0)
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("A path that is not a file, or a file that is too large, is rejected before the read", .requirement("A8"))
    func devices() async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport { _, _ in .reply(200, [:], "origin") }) {
            $0.loadsFiles = true
        }
        await #expect { try await fixture.loader.load("/dev/zero") } throws: { error in
            if case .unreadableFile? = error as? LoadError { true } else { false }
        }
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "large")
        try Data("four".utf8).write(to: file)
        fixture.loader.configuration.maxBodyBytes = 3
        await #expect(throws: LoadError.bodyTooLarge(url: file.path, limit: 3)) {
            try await fixture.loader.load(file.path)
        }
    }

    @Test("Rejects file URLs with a host and redirects to files; by default rejects every file", .requirement("A8"))
    func others() async throws {
        let transport = ScriptedTransport { _, _ in .reply(302, [.location: "file:///etc/hostname"]) }
        let fixture = try LoaderFixture(transport: transport) { $0.loadsFiles = true }
        for text in ["file://example.com/etc/hostname", "https://example.com/"] {
            await #expect(throws: LoadError.self) { try await fixture.loader.load(text) }
        }
        let byDefault = try LoaderFixture(transport: transport)
        for text in ["/etc/hostname", "file:///etc/hostname", "FILE:/etc/hostname"] {
            do throws(LoadError) {
                _ = try await byDefault.loader.load(text)
                Issue.record("loaded")
            } catch {
                guard case .invalidURL = error else { Issue.record("\(error)"); return }
            }
        }
    }
}

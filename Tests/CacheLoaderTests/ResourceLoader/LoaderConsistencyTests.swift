import TestSupport

@Suite("ResourceLoader: memory never lags behind the store", .timeLimit(.minutes(5))) struct LoaderConsistencyTests {
    private let url = "https://example.com/a"

    private func fixture(_ transport: ScriptedTransport) throws -> LoaderFixture {
        try LoaderFixture(transport: transport) { $0.memoryLimit = 1 << 20 }
    }

    /// Answers with the number of the request.
    private func counting(_ fields: HTTPFields = [.cacheControl: "max-age=60"]) -> ScriptedTransport {
        let requests = Counter()
        return ScriptedTransport { _, _ in .reply(200, fields, "\(requests.next())") }
    }

    @Test(
        "A replaced response leaves memory, whichever request replaced it", .requirement("B5", "J2"),
        arguments: [
            ResourceRequest("https://example.com/a", policy: .revalidateAlways),
            ResourceRequest("https://example.com/a", policy: .remoteOnly),
            ResourceRequest("https://example.com/a", headerFields: [.cacheControl: "no-cache"]),
            ResourceRequest(
                "https://example.com/a", policy: .revalidateAlways, usesMemory: false),
        ])
    func replaced(by request: ResourceRequest) async throws {
        let fixture = try fixture(counting())
        #expect(try await fixture.loader.load(url).text == "1")
        #expect(try await fixture.loader.load(url).source == .memory)
        #expect(try await fixture.loader.load(request).text == "2")
        #expect(try await fixture.loader.load(url).text == "2")
    }

    @Test(
        "A response invalidated by an unsafe request to another URL leaves memory", .requirement("I03", "J2"),
        arguments: [
            [HTTPField.Name.location: "https://example.com/a"], [.contentLocation: "/a"],
            [HTTPField.Name("Cache-Group-Invalidation")!: "\"group\""],
        ] as [HTTPFields])
    func invalidated(by fields: HTTPFields) async throws {
        let requests = Counter()
        let transport = ScriptedTransport { request, _ in
            guard request.method == .get else { return .reply(200, fields, "done") }
            let groups = HTTPField.Name("Cache-Groups")!
            return .reply(200, [.cacheControl: "max-age=60", groups: "\"group\""], "\(requests.next())")
        }
        let fixture = try fixture(transport)
        #expect(try await fixture.loader.load(url).text == "1")
        _ = try await fixture.loader.load(ResourceRequest("https://example.com/b", method: .post))
        #expect(try await fixture.loader.load(url).text == "2")
    }

    @Test(
        "A value whose bytes are replaced during its load or its processing is delivered, and not kept",
        .requirement("J2", "G6"), arguments: [true, false])
    func replacedMeanwhile(isStored: Bool) async throws {
        let gate = Gate()
        let processor = ClosureProcessor<Data, String>(ProcessorID("slow")) { data, _ in
            await gate.wait()
            return String(decoding: data, as: UTF8.self)
        }
        let fixture = try fixture(ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "old") })
        if isStored { try await fixture.loader.insert(Data("old".utf8), for: url) }
        async let old = fixture.loader.load(url, as: processor)
        await gate.reached(1)
        try await fixture.loader.insert(Data("new".utf8), for: url)
        gate.open()
        #expect(try await old.value == "old")
        #expect(try await fixture.loader.load(url, as: processor).value == "new")
    }

    @Test("An unstored variant is not kept in memory, even if another variant is stored", .requirement("G6"))
    func unstoredVariant() async throws {
        let transport = ScriptedTransport { request, _ in
            let language = request.headerFields[.acceptLanguage] ?? ""
            let directives = language == "de" ? "no-store, max-age=60" : "max-age=60"
            return .reply(200, [.cacheControl: directives, .vary: "Accept-Language"], language)
        }
        let fixture = try fixture(transport)
        for language in ["en", "de", "de"] {
            let request = ResourceRequest(url, headerFields: [.acceptLanguage: language])
            let resource = try await fixture.loader.load(request)
            #expect(resource.source == .network)
            #expect(resource.text == language)
        }
    }
}

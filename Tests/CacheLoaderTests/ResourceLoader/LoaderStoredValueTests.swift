import TestSupport

@Suite("ResourceLoader: processed values in the store", .timeLimit(.minutes(5))) struct LoaderStoredValueTests {
    private let url = "https://example.com/a"
    private let runs = Counter()

    /// A text of this many characters, made from the body.
    private func prefix(_ length: Int) -> some Processor<Data, String> {
        ClosureProcessor(ProcessorID("prefix", parameters: ["length": "\(length)"])) { [runs] (data: Data, _) in
            runs.next()
            return String(decoding: data.prefix(length), as: UTF8.self)
        }
        .stored(as: .text)
    }

    private func transport(_ body: String = "original", _ directives: String = "max-age=60") -> ScriptedTransport {
        ScriptedTransport(.ok(body.utf8, cacheControl: directives, etag: "\"1\""))
    }

    @Test("A value is made once, and later read from the store, also by another loader", .requirement("F4"))
    func madeOnce() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: transport())
        let first = try await fixture.loader.load(url, as: prefix(3))
        #expect(first.value == "ori")
        #expect(first.source == .network)
        let second = try await fixture.loader.load(url, as: prefix(3))
        #expect(second.value == "ori")
        #expect(second.source == .disk)
        let later = ResourceLoader(
            store: fixture.store, transport: transport, configuration: fixture.loader.configuration)
        #expect(try await later.load(url, as: prefix(3)).value == "ori")
        #expect(runs.count == 1)
        #expect(transport.requestCount == 1)
    }

    @Test("Two sizes are two values of one original, and a removal removes both", .requirement("F4"))
    func goneWithTheOriginal() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: transport())
        for _ in 1...2 {
            #expect(try await fixture.loader.load(url, as: prefix(3)).value == "ori")
            #expect(try await fixture.loader.load(url, as: prefix(5)).value == "origi")
        }
        #expect(runs.count == 2)
        #expect(transport.requestCount == 1)
        #expect(try fixture.blobs.count == 3)
        #expect(try await fixture.loader.remove(url))
        #expect(try fixture.blobs.count == 0)
        #expect(try await fixture.loader.load(url, as: prefix(3)).source == .network)
        #expect(runs.count == 3)
    }

    @Test("A 304 keeps the value; another body removes it, whichever request stored that body", .requirement("F4"))
    func replaced() async throws {
        let bodies = Mutex(("one", "\"1\""))
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            let (body, tag) = bodies.withLock { $0 }
            let fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: tag]
            return request.headerFields[.ifNoneMatch] == tag ? .reply(304, fields) : .reply(200, fields, body)
        }
        #expect(try await fixture.loader.load(url, as: prefix(9)).value == "one")
        fixture.clock.advance(by: 100)
        #expect(try await fixture.loader.load(url, as: prefix(9)).source == .notModified)
        #expect(runs.count == 1)
        fixture.clock.advance(by: 100)
        bodies.withLock { $0 = ("two", "\"2\"") }
        #expect(try await fixture.loader.load(url, as: prefix(9)).value == "two")
        #expect(runs.count == 2)
        try await fixture.loader.insert(Data("three".utf8), for: url)
        #expect(try await fixture.loader.load(url, as: prefix(9)).value == "three")
        #expect(runs.count == 3)
    }

    @Test("A value of replaced bytes is not stored with the new ones", .requirement("F4"))
    func replacedMeanwhile() async throws {
        let gate = Gate()
        let fixture = try LoaderFixture(transport: transport())
        let slow = ClosureProcessor<Data, String>(ProcessorID("slow")) { data, _ in
            await gate.wait()
            return String(decoding: data, as: UTF8.self)
        }
        .stored(as: .text)
        async let old = fixture.loader.load(url, as: slow)
        await gate.reached(1)
        try await fixture.loader.insert(Data("new".utf8), for: url)
        gate.open()
        #expect(try await old.value == "original")
        #expect(try await fixture.loader.load(url, as: slow).value == "new")
    }

    private struct Refusal: Error {}

    @Test("A value that cannot be encoded or decoded is made each time, and delivered", arguments: [true, false])
    func unreadable(refusesToEncode: Bool) async throws {
        let fixture = try LoaderFixture(transport: transport())
        let form = StoredForm<String>(
            "text", encode: { if refusesToEncode { throw Refusal() } else { Data($0.utf8) } },
            decode: { _ in throw Refusal() })
        let processor = ClosureProcessor<Data, String>(ProcessorID("text")) { [runs] data, _ in
            runs.next()
            return String(decoding: data, as: UTF8.self)
        }
        .stored(as: form)
        for count in 1...3 {
            #expect(try await fixture.loader.load(url, as: processor).value == "original")
            #expect(runs.count == count)
        }
    }

    @Test("No value of an unstored response is stored")
    func unstored() async throws {
        let fixture = try LoaderFixture(transport: transport("original", "no-store"))
        for count in 1...2 {
            #expect(try await fixture.loader.load(url, as: prefix(3)).value == "ori")
            #expect(runs.count == count)
        }
        #expect(try fixture.blobs.count == 0)
    }

    @Test("Values of the coded and of the decoded body are separate; the fields match the processed bytes")
    func codings() async throws {
        let gzip = Data(base64Encoded: "H4sIAAAAAAACA8svykzPzEvMAQCFcHIvCAAAAA==")
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            let fields: HTTPFields = [
                .cacheControl: "max-age=60", .contentEncoding: "gzip", .contentType: "text/plain",
            ]
            return TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: fields),
                body: TransportBody(chunks: [gzip].compactMap { $0 }))
        }
        let count = ClosureProcessor<Data, Int>(ProcessorID("count")) { [runs] data, _ in
            runs.next()
            return data.count
        }
        .stored(as: .json)
        for _ in 1...2 {
            let loaded = try await fixture.loader.load(url, as: count)
            #expect(loaded.value == 8)
            #expect(loaded.headerFields[.contentEncoding] == nil)
            #expect(loaded.headerFields[.contentType] == "text/plain")
        }
        fixture.loader.configuration.decodesContent = false
        for _ in 1...2 {
            let loaded = try await fixture.loader.load(url, as: count)
            #expect(loaded.value == 28)
            #expect(loaded.headerFields[.contentEncoding] == "gzip")
        }
        #expect(runs.count == 2)
    }

    @Test("An id of any length can name a stored value")
    func longNames() async throws {
        let fixture = try LoaderFixture(transport: transport())
        for _ in 1...2 {
            for name in [String(repeating: "n", count: 5_000), String(repeating: "n", count: 5_001)] {
                let processor = ClosureProcessor<Data, String>(ProcessorID(name)) { [runs] _, _ in
                    runs.next()
                    return name
                }
                #expect(try await fixture.loader.load(url, as: processor.stored(as: .text)).value == name)
            }
        }
        #expect(runs.count == 2)
    }

    @Test("A value that is stored and in memory comes from memory", .requirement("G6"))
    func memory() async throws {
        let fixture = try LoaderFixture(transport: transport()) { $0.memoryLimit = 1 << 20 }
        for source in [ResponseSource.network, .memory, .memory] {
            #expect(try await fixture.loader.load(url, as: prefix(3)).source == source)
        }
        fixture.loader.evictMemory()
        #expect(try await fixture.loader.load(url, as: prefix(3)).source == .disk)
        #expect(try await fixture.loader.load(url, as: prefix(3)).source == .memory)
        #expect(runs.count == 1)
    }

    // MARK: Sources of a value

    @Test(
        "Stores no value of a part or of the answer to a HEAD or a condition, and reads none of the whole",
        .requirement("F4"),
        arguments: [
            (HTTPRequest.Method.get, [HTTPField.Name.range: "bytes=0-2"], "ori"), (.head, [:], ""),
            (.get, [.ifNoneMatch: "\"1\""], ""),
        ] as [(HTTPRequest.Method, HTTPFields, String)], [true, false])
    func parts(of request: (HTTPRequest.Method, HTTPFields, String), wholeFirst: Bool) async throws {
        let (method, fields, value) = request
        let fixture = try LoaderFixture(transport: transport())
        _ = try await fixture.loader.load(url)
        let part = ResourceRequest(url, method: method, headerFields: fields)
        if wholeFirst { #expect(try await fixture.loader.load(url, as: prefix(9)).value == "original") }
        #expect(try await fixture.loader.load(part, as: prefix(9)).value == value)
        #expect(try await fixture.loader.load(url, as: prefix(9)).value == "original")
    }

    @Test("Refuses a stored value if content of its type is refused", .requirement("F7"))
    func contentType() async throws {
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            .reply(200, [.cacheControl: "max-age=60", .contentType: "text/html"], "original")
        }
        #expect(try await fixture.loader.load(url, as: prefix(3)).value == "ori")
        fixture.loader.configuration.contentTypes = ["image/*"]
        await #expect(throws: LoadError.unacceptableContentType("text/html", url: url)) {
            try await fixture.loader.load(url, as: prefix(3))
        }
    }

    @Test("Values of one processor in different forms do not mix", .requirement("F4"))
    func forms() async throws {
        let fixture = try LoaderFixture(transport: transport())
        let text = ClosureProcessor<Data, String>(ProcessorID("p")) { data, _ in String(decoding: data, as: UTF8.self) }
        let count = ClosureProcessor<Data, Int>(ProcessorID("p")) { data, _ in data.count }
        for _ in 1...2 {
            #expect(try await fixture.loader.load(url, as: count.stored(as: .json)).value == 8)
            #expect(try await fixture.loader.load(url, as: text.stored(as: .json)).value == "original")
            #expect(try await fixture.loader.load(url, as: text.stored(as: .text)).value == "original")
        }
    }

    @Test("The stored form of a chain is that of its last processor", .requirement("F1"))
    func chain() async throws {
        let fixture = try LoaderFixture(transport: transport())
        let upper = ClosureProcessor<String, String>(ProcessorID("upper")) { [runs] text, _ in
            runs.next()
            return text.uppercased()
        }
        for _ in 1...2 {
            let chain = TextProcessor().then(upper.stored(as: .text))
            #expect(try await fixture.loader.load(url, as: chain).value == "ORIGINAL")
        }
        #expect(runs.count == 1)
    }

    @Test("A stale value is also read from the store", .requirement("B5"))
    func stale() async throws {
        let gate = Gate()
        gate.admit()  // the first load
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            await gate.wait()
            return .reply(200, [.cacheControl: "max-age=1", .eTag: "\"1\""], "original")
        }
        _ = try await fixture.loader.load(url, as: prefix(3))
        fixture.clock.advance(by: 100)
        var names: [String] = []
        for await event in fixture.loader.events(for: ResourceRequest(url), as: prefix(3)) {
            names.append(event.name)
            gate.open()
        }
        #expect(names.first == "cached")
        // Once for the first load, and once for this one.
        #expect(runs.count == 2)
    }

    @Test("Counts the bytes of a stored value", .requirement("I8"))
    func counted() async throws {
        let fixture = try LoaderFixture(transport: transport())
        for bytes in [0, 3, 6] as [Int64] {
            _ = try await fixture.loader.load(url, as: prefix(3))
            #expect(Int64(fixture.loader.counters.diskBytes) == bytes)
        }
    }
}

import TestSupport

/// Removing an unusable response keeps all other entries of its key.
@Suite("ResourceLoader: removal of one unusable entry", .timeLimit(.minutes(5))) struct RefusedEntryTests {
    private let url = "https://example.com/a"

    private struct Refusal: Error {}

    /// Accepts only `good`.
    private let strict = ClosureProcessor<Data, Bool>(ProcessorID("strict")) { data, _ in
        guard data == Data("good".utf8) else { throw Refusal() }
        return true
    }

    private func request(_ language: String) -> ResourceRequest {
        ResourceRequest(url, headerFields: [.acceptLanguage: language])
    }

    private func isRefusal(_ error: LoadError?) -> Bool { if case .processing? = error { true } else { false } }

    /// Answers in two languages, of which only one is good.
    private func variants() -> ScriptedTransport {
        ScriptedTransport { request, _ in
            let isGood = request.headerFields[.acceptLanguage] == "en"
            return .reply(200, [.cacheControl: "max-age=60", .vary: "Accept-Language"], isGood ? "good" : "bad")
        }
    }

    @Test("RFC 9111 §4.1: a refused response leaves the other variants, new or stored")
    func variant() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: variants())
        #expect(try await fixture.loader.load(request("en"), as: strict).value)
        // Refused as a new response, then as a stored one that a load of the bytes has stored.
        for isStored in [false, true] {
            if isStored { _ = try await fixture.loader.load(request("de")) }
            let error = await #expect(throws: LoadError.self) {
                try await fixture.loader.load(request("de"), as: strict)
            }
            #expect(isRefusal(error))
            #expect(try fixture.store.statistics().entries == 1)
            #expect(try await fixture.loader.load(request("en"), as: strict).source == .disk)
        }
        #expect(transport.requests.map { $0.headerFields[.acceptLanguage] } == ["en", "de", "de", "de"])
    }

    @Test("A refused answer to a HEAD leaves the stored GET", arguments: [false, true])
    func head(isFromStore: Bool) async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            .reply(200, [.cacheControl: "max-age=60", .contentLength: "4"], request.method == .get ? "good" : "")
        }
        _ = try await fixture.loader.load(url)
        let head = ResourceRequest(url, method: .head, policy: isFromStore ? .init() : .remoteOnly)
        #expect(isRefusal(await #expect(throws: LoadError.self) { try await fixture.loader.load(head, as: strict) }))
        #expect(try await fixture.loader.load(url, as: strict).source == .disk)
        #expect(transport.requestCount == (isFromStore ? 1 : 2))
    }

    @Test("A refused answer to a range or to a condition of the caller leaves the stored whole")
    func parts() async throws {
        let transport = ScriptedTransport(.ok("good".utf8, cacheControl: "max-age=60", etag: "\"1\""))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load(url)
        for fields in [[.range: "bytes=0-1"], [.ifNoneMatch: "\"1\""]] as [HTTPFields] {
            let request = ResourceRequest(url, headerFields: fields)
            let error = await #expect(throws: LoadError.self) { try await fixture.loader.load(request, as: strict) }
            #expect(isRefusal(error))
        }
        #expect(try await fixture.loader.load(url, as: strict).source == .disk)
        #expect(transport.requestCount == 1)
    }

    @Test("A refused response leaves the newer entry of another load", arguments: [false, true])
    func newerEntry(isStored: Bool) async throws {
        let (gate, transport) = (Gate(), ScriptedTransport(.ok("bad".utf8, cacheControl: "max-age=60")))
        let slow = ClosureProcessor<Data, Bool>(ProcessorID("slow")) { data, _ in
            await gate.wait()
            guard data == Data("good".utf8) else { throw Refusal() }
            return true
        }
        let fixture = try LoaderFixture(transport: transport)
        if isStored { _ = try await fixture.loader.load(url) }
        let task = Task { try await fixture.loader.load(url, as: slow) }
        await gate.reached(1)
        try await fixture.loader.insert(Data("good".utf8), for: url)
        gate.open()
        if isStored {
            #expect(try await task.value.value, "the newer entry answers")
        } else {
            #expect(isRefusal(await #expect(throws: LoadError.self) { try await task.value }))
        }
        #expect(try fixture.loader.peek(url) == Data("good".utf8))
        #expect(transport.requestCount == 1)
    }

    @Test("RFC 9111 §4.1: a body that cannot be decoded leaves the other variants")
    func undecodable() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            var fields: HTTPFields = [.cacheControl: "max-age=60", .vary: "Accept-Language"]
            if request.headerFields[.acceptLanguage] == "de" { fields[.contentEncoding] = "gzip" }
            return .reply(200, fields, "good")
        }
        _ = try await fixture.loader.load(request("en"))
        await #expect(throws: LoadError.malformedContent(url: url, coding: "gzip")) {
            try await fixture.loader.load(request("de"))
        }
        #expect(try fixture.store.statistics().entries == 1)
        #expect(try await fixture.loader.load(request("en")).source == .disk)
    }

    @Test("RFC 9111 §4.1: a confirmed but unreadable body leaves the other variants")
    func unreadable() async throws {
        let damage = Mutex<(@Sendable () -> Void)?>(nil)
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            let language = request.headerFields[.acceptLanguage] ?? ""
            var fields: HTTPFields = [.vary: "Accept-Language", .eTag: "\"\(language)\""]
            guard request.headerFields[.ifNoneMatch] == nil else {
                damage.withLock { $0 }?()
                return .reply(304, fields)
            }
            fields[.cacheControl] = language == "en" ? "max-age=600" : "max-age=60"
            return .reply(200, fields, language)
        }
        for language in ["en", "de"] { _ = try await fixture.loader.load(request(language)) }
        fixture.clock.advance(by: 61)
        let blob = try #require(try fixture.blobs.first { $0.bytes == Data("de".utf8) }).url
        damage.withLock { $0 = { #expect(truncate(blob.path(percentEncoded: false), 1) == 0) } }
        let error = await #expect(throws: LoadError.self) { try await fixture.loader.load(request("de")) }
        guard case .store(.truncatedBody)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try fixture.store.statistics().entries == 1)
        #expect(try await fixture.loader.load(request("en")).source == .disk)
    }
}

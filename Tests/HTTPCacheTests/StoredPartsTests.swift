import TestSupport

@Suite("HTTPCache: parts in the store", .timeLimit(.minutes(5))) struct StoredPartsTests {
    private let key: CacheKey
    private let origin = RepresentationOrigin("0123456789")

    init() throws { key = try CacheKey(url: "https://example.com/a") }

    private func get(_ fixture: LoaderFixture, _ range: String? = nil) async throws -> String {
        try await fixture.cache.response(for: .to("/a", range.map { [.range: "bytes=\($0)"] } ?? [:])).text
    }

    @Test("A stored 206 answers its own range and smaller ones, nothing else", .requirement("G05", "G02"))
    func smaller() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: origin.transport)
        #expect(try await get(fixture, "2-5") == "2345")
        let same = try await fixture.cache.response(for: .to("/a", [.range: "bytes=2-5"]))
        #expect(same.source == .disk)
        #expect(same.status == .partialContent)
        #expect(same.headerFields[.contentRange] == "bytes 2-5/10")
        #expect(try await same.text == "2345")
        #expect(try await get(fixture, "3-4") == "34")
        #expect(try await get(fixture, "-5") == "56789", "5 to 9 is not in the part")
        #expect(transport.requestCount == 2)
        #expect(try await get(fixture, "4-8") == "45678", "both are one now")
        #expect(transport.requestCount == 2)
        let head = try await fixture.cache.response(for: .to("/a", method: .head))
        #expect(head.status == .ok)
        #expect(transport.requestCount == 3, "a part answers no HEAD")
    }

    @Test("Two parts and the bytes between them become the whole, a 200", .requirement("G06", "G08"))
    func gap() async throws {
        let transport = origin.transport
        let directory = try TemporaryDirectory()
        do {
            let fixture = try LoaderFixture(transport: transport, directory: directory)
            #expect(try await get(fixture, "0-2") == "012")
            #expect(try await get(fixture, "7-9") == "789")
            #expect(try fixture.store.responses(for: key).count == 2)
            fixture.store.close()
        }
        let fixture = try LoaderFixture(transport: transport, directory: directory)
        #expect(try await get(fixture, "1-2") == "12")
        #expect(transport.requestCount == 2)
        #expect(try await get(fixture, "2-7") == "234567")
        let entries = try fixture.store.responses(for: key)
        #expect(entries.map(\.metadata.status) == [200])
        #expect(entries.map(\.metadata.part) == [nil])
        let whole = try await fixture.cache.response(for: .to("/a"))
        #expect(whole.source == .disk)
        #expect(whole.status == .ok)
        #expect(whole.headerFields[.contentLength] == "10")
        #expect(whole.headerFields[.contentRange] == nil)
        #expect(try await whole.text == "0123456789")
        #expect(transport.requestCount == 3)
        #expect(try await fixture.store.check(digests: true).isSound)
    }

    @Test("A part with another validator replaces older ones", .requirement("G06"))
    func displacing() async throws {
        let fixture = try LoaderFixture(transport: origin.transport)
        #expect(try await get(fixture, "0-4") == "01234")
        fixture.clock.advance(by: 1)
        origin.set { state in
            state.body = Data("abcdefghij".utf8)
            state.fields[.eTag] = "\"2\""
        }
        #expect(try await get(fixture, "5-9") == "fghij")
        #expect(try fixture.store.responses(for: key).map(\.metadata.etag) == ["\"2\""])
        #expect(try await get(fixture, "0-1") == "ab")
        #expect(try await get(fixture) == "abcdefghij")
    }

    @Test("Parts without a strong validator are never combined", .requirement("G06"), arguments: ["W/\"1\"", nil])
    func weak(etag: String?) async throws {
        origin.set { $0.fields[.eTag] = etag }
        let (transport, fixture) = try LoaderFixture.sending(to: origin.transport)
        #expect(try await get(fixture, "0-4") == "01234")
        #expect(try await get(fixture, "5-9") == "56789")
        #expect(try await get(fixture) == "0123456789")
        #expect(transport.requests.map { $0.headerFields[.range] } == ["bytes=0-4", "bytes=5-9", nil])
    }

    @Test(
        "A 206 with other bytes than announced is neither stored nor combined", .requirement("G09", "S18"),
        arguments: ["345", "34567x"])
    func lyingPart(content: String) async throws {
        let fixture = try LoaderFixture(transport: origin.transport)
        #expect(try await get(fixture, "0-2") == "012")
        #expect(try await get(fixture, "8-9") == "89")
        origin.set {
            $0.override = { _ in
                .reply(206, [.eTag: "\"1\"", .cacheControl: "max-age=60", .contentRange: "bytes 3-7/10"], content)
            }
        }
        _ = try? await get(fixture, "3-7")
        origin.set { $0.override = nil }
        #expect(try await get(fixture) == "0123456789")
        #expect(try await get(fixture, "2-8") == "2345678")
        #expect(try await fixture.store.check(digests: true).isSound)
    }

    @Test("A part of unknown length answers ranges inside it, but no suffix", .requirement("G10"))
    func unknownLength() async throws {
        origin.set {
            $0.override = { request in
                request.headerFields[.range] == "bytes=0-4"
                    ? .reply(206, [.eTag: "\"1\"", .cacheControl: "max-age=60", .contentRange: "bytes 0-4/*"], "01234")
                    : nil
            }
        }
        let (transport, fixture) = try LoaderFixture.sending(to: origin.transport)
        #expect(try await get(fixture, "0-4") == "01234")
        let hit = try await fixture.cache.response(for: .to("/a", [.range: "bytes=1-2"]))
        #expect(hit.headerFields[.contentRange] == "bytes 1-2/*")
        #expect(try await hit.text == "12")
        #expect(transport.requestCount == 1)
        #expect(try await get(fixture, "-2") == "89")
        #expect(transport.requestCount == 2)
    }

    @Test("A stale part is validated for its range, and answers it after a 304", .requirement("C02", "G05"))
    func stalePart() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: origin.transport)
        #expect(try await get(fixture, "2-5") == "2345")
        fixture.clock.advance(by: 61)
        let validated = try await fixture.cache.response(for: .to("/a", [.range: "bytes=3-4"]))
        #expect(validated.source == .notModified)
        #expect(validated.status == .partialContent)
        #expect(try await validated.text == "34")
        #expect(transport.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
        // The 304 has freshened the part.
        let fresh = try await fixture.cache.response(for: .to("/a", [.range: "bytes=2-4"]))
        #expect(fresh.source == .disk)
        #expect(try await fresh.text == "234")
        #expect(transport.requestCount == 2)
    }

    @Test("A 206 with all bytes answers a request for the whole", .requirement("G05"), arguments: ["0-", "-10", "0-9"])
    func wholePart(range: String) async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: origin.transport)
        let part = try await fixture.cache.response(for: .to("/a", [.range: "bytes=\(range)"]))
        #expect(part.status == .partialContent)
        #expect(try await part.text == "0123456789")
        let whole = try await fixture.cache.response(for: .to("/a"))
        #expect(whole.source == .disk)
        #expect(whole.status == .ok)
        #expect(whole.headerFields[.contentRange] == nil)
        #expect(try await whole.text == "0123456789")
        #expect(try await get(fixture, "3-4") == "34")
        #expect(transport.requestCount == 1)
        #expect(try await fixture.store.check(digests: true).isSound)
    }

    @Test(
        "A 206 without a valid Content-Range is not stored", .requirement("G01"),
        arguments: ["lines 0-4/10", "bytes 4-0/10"])
    func otherUnit(contentRange: String) async throws {
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            .reply(206, [.cacheControl: "max-age=60", .eTag: "\"1\"", .contentRange: contentRange], "01234")
        }
        #expect(try await get(fixture, "0-4") == "01234")
        #expect(try fixture.store.statistics().entries == 0)
    }
}

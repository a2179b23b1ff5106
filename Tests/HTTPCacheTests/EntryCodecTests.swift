import TestSupport

@Suite("EntryCodec") struct EntryCodecTests {
    @Test("Fields read back in order and byte for byte, lines of one name separate", .requirement("P28", "P05", "S11"))
    func roundTrip() async throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .setCookie, value: "a=1, b"))
        fields.append(HTTPField(name: .setCookie, value: "c=2"))
        fields.append(HTTPField(name: try #require(.init("X-Bytes")), value: (0x80...0xFF).map { UInt8($0) }))
        fields.append(HTTPField(name: try #require(.init("X-Empty")), value: ""))
        fields.append(HTTPField(name: try #require(.init("X-Colons")), value: "a: b: c"))
        fields.append(HTTPField(name: .cacheControl, value: "max-age=60"))
        fields.append(HTTPField(name: .date, value: "Tue, 15 Nov 1994 12:45:26 GMT"))
        let sent = fields
        let transport = ScriptedTransport { _, _ in .reply(200, sent, "body") }
        let fixture = try LoaderFixture(transport: transport, policy: CachePolicy(mode: .cacheFirst))
        _ = try await fixture.cache.response(for: .to("/a")).bytes
        var stored = try await fixture.cache.response(for: .to("/a")).headerFields
        stored[.age] = nil
        stored[try #require(.init("Cache-Status"))] = nil
        #expect(Array(stored) == Array(sent))
        #expect(transport.requestCount == 1)
    }

    @Test("Decoding an edited head never traps: invalid lines are skipped, and too many are truncated")
    func tamperedHead() async throws {
        let url = "https://example.com/a"
        let heads = [
            "", "\n\n", "no colon\n", ": no name\n", "bad name: x\nGood: y\n",
            String(repeating: "a:b\n", count: 65_536), "X: \u{0}\u{1}\n", "Cache-Control",
        ]
        for head in heads {
            let fixture = try LoaderFixture(transport: ScriptedTransport(.ok()), policy: CachePolicy(mode: .cacheFirst))
            let metadata = EntryMetadata(
                requestedAt: fixture.clock.now, receivedAt: fixture.clock.now, head: Array(head.utf8))
            try await fixture.store.insert(Data("body".utf8), metadata: metadata, for: CacheKey(url: url))
            let resource = try await fixture.loader.load(url)
            #expect(resource.text == "body")
            #expect(resource.headerFields.count <= 1001)
        }
    }
}

import TestSupport

@Suite("ResourceLoader: the properties of a result", .timeLimit(.minutes(5))) struct LoaderResultTests {
    @Test("Status, URL, fields, age and expiry are those of the response, from any source", .requirement("I2"))
    func sources() async throws {
        let url = "https://example.com/a"
        let fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"1\"", .contentType: "text/plain"]
        let transport = ScriptedTransport { request, _ in
            request.headerFields[.ifNoneMatch] == nil ? .reply(203, fields, "body") : .reply(304, fields)
        }
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = 1 << 20 }
        let start = fixture.clock.now
        for (source, seconds, age) in [
            (ResponseSource.network, 0.0, Int64(0)), (.memory, 10, 10), (.disk, 20, 20), (.notModified, 60, 0),
        ] {
            fixture.clock.set(start + seconds)
            let loaded = try await fixture.loader.load(ResourceRequest(url, usesMemory: source != .disk))
            #expect(loaded.source == source)
            #expect(loaded.text == "body")
            #expect(loaded.url == url)
            #expect(loaded.status == .nonAuthoritativeInformation)
            #expect(loaded.headerFields[.contentType] == "text/plain")
            #expect(loaded.age == age)
            #expect(loaded.expiresAt == start + (source == .notModified ? 120 : 60))
            #expect(!loaded.isStale)
            #expect(loaded.failure == nil)
        }
        #expect(transport.requestCount == 2)
    }
}

#if Zstd
import CacheCodings
import TestSupport

@Suite("HTTPCache: decoding with a dictionary", .enabled(if: Encoder.areInstalled), .timeLimit(.minutes(5)))
struct DictionaryDecodingTests {
    private let versions: DictionaryVersions
    private let using = CachePolicy(usesDictionaries: true)

    init() async throws { versions = try await DictionaryVersions() }

    private func offered(_ transport: ScriptedTransport) -> [String?] {
        transport.requests.map { $0.headerFields[.availableDictionary] }
    }

    @Test(
        "Decodes dcb with a window of 16 MiB, plus the dictionary", .requirement("D16"),
        .enabled(if: DictionaryCoding.supported.contains(.dcb)))
    func window() async throws {
        let transport = versions.origin(.dcb) { request in
            guard request.headerFields[.availableDictionary] != nil else { return nil }
            return DictionaryVersions.reply(DictionaryVersions.fields(.dcb), versions.tallDifference())
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        #expect(try await fixture.cache.response(for: .to("/v2.js")).bytes == versions.tall)
    }

    #if Brotli
    @Test(
        "Decodes dcb bodies of the tool brotli, at every level", .requirement("D16"),
        .enabled("brotli 1.1") {
            guard DictionaryCoding.supported.contains(.dcb) else { return false }
            return await Encoder.brotli.hasDictionaries
        }, arguments: Encoder.brotli.levels)
    func levels(_ level: [String]) async throws {
        let noise = Data.noise(300_000, seed: 1)
        for content in [versions.second, noise, Data(versions.first.reversed())] {
            let encoded = try await DictionaryVersions.encode(content, with: versions.first, .brotli, level)
            let transport = versions.origin(.dcb) { request in
                guard request.headerFields[.availableDictionary] != nil else { return nil }
                return DictionaryVersions.reply(DictionaryVersions.fields(.dcb), encoded)
            }
            let fixture = try LoaderFixture(transport: transport, policy: using)
            _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
            #expect(try await fixture.cache.response(for: .to("/v2.js")).bytes == content)
            #expect(offered(transport) == [nil, versions.hash])
        }
    }
    #endif

    @Test(
        "A body with another dictionary, or in a coding that was not offered, leads to one request without",
        .requirement("D16"), arguments: ["dcz", "dcb", "dcz, gzip", "header"])
    func otherDictionary(coding: String) async throws {
        var other = try await DictionaryVersions.encode(versions.second, with: Data("another dictionary".utf8), .zstd)
        if coding == "header" { other = Data(other.prefix(39)) }
        let transport = versions.origin { [other] request in
            guard request.headerFields[.availableDictionary] != nil else { return nil }
            var fields = DictionaryVersions.fields(.dcz)
            if coding != "header" { fields[.contentEncoding] = coding }
            return DictionaryVersions.reply(fields, other)
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        #expect(try await fixture.cache.response(for: .to("/v2.js")).bytes == versions.second)
        #expect(offered(transport) == [nil, versions.hash, nil])
        #expect(try await fixture.cache.response(for: .to("/v2.js")).source == .disk)
    }

    @Test(
        "A damaged body fails, and is not stored", .requirement("D16"), arguments: DictionaryCoding.supported,
        ["short", "changed", "longer"])
    func damaged(_ coding: DictionaryCoding, damage: String) async throws {
        var body = versions.difference(coding)
        switch damage {
        case "short": body.removeLast(10)
        // Brotli has no checksum, so this body declares a window that the coding does not allow.
        case "changed" where coding == .dcb: body = versions.largeWindow()
        case "changed": body[body.count / 2] ^= 0x40
        default: body += Data("rest".utf8)
        }
        let transport = versions.origin(coding) { [body] request in
            guard request.headerFields[.availableDictionary] != nil else { return nil }
            return DictionaryVersions.reply(DictionaryVersions.fields(coding), body)
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        let response = try await fixture.cache.response(for: .to("/v2.js"))
        await #expect(throws: LoadError.self) { try await response.bytes }
        #expect(try !fixture.store.contains(CacheKey(url: "https://example.com/v2.js")))
    }

    @Test(
        "Decodes a body in chunks of any length", .requirement("D16"), arguments: DictionaryCoding.supported,
        [1, 35, 37, 39, 41, 1_000])
    func chunks(_ coding: DictionaryCoding, length: Int) async throws {
        let transport = versions.origin(coding) { request in
            guard request.headerFields[.availableDictionary] != nil else { return nil }
            return DictionaryVersions.reply(
                DictionaryVersions.fields(coding), versions.difference(coding), pieces: length)
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        #expect(try await fixture.cache.response(for: .to("/v2.js")).bytes == versions.second)
        #expect(transport.requestCount == 2)
    }

    @Test("The limit of a body counts decoded bytes", .requirement("D16"), arguments: DictionaryCoding.supported)
    func limit(_ coding: DictionaryCoding) async throws {
        let fixture = try LoaderFixture(transport: versions.origin(coding), policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        let limit = Int64(versions.second.count) - 1
        fixture.cache.configuration.maxBodyBytes = limit
        let response = try await fixture.cache.response(for: .to("/v2.js"))
        await #expect(throws: LoadError.bodyTooLarge(url: "https://example.com/v2.js", limit: limit)) {
            try await response.bytes
        }
    }

    @Test(
        "A dictionary evicted while the origin answers stays readable", .requirement("D17"), arguments: [false, true])
    func evictedBeforeReply(isEncoded: Bool) async throws {
        let encoded = try await Encoder.zstd.encode(versions.first)
        let evict = Mutex<(@Sendable () async -> Void)?>(nil)
        let (transport, fixture) = try LoaderFixture.scripted(policy: using) { [versions] request, _ in
            guard request.headerFields[.availableDictionary] != nil else {
                var fields = DictionaryVersions.fresh
                if isEncoded { fields[.contentEncoding] = "zstd" }
                return DictionaryVersions.reply(fields, isEncoded ? encoded : versions.first)
            }
            await evict.withLock { $0 }?()
            return DictionaryVersions.reply(DictionaryVersions.fields(.dcz), versions.difference(.dcz))
        }
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        for path in ["/v2.js", "/v3.js"] {
            if path == "/v3.js" {
                // The digest is already known; the bytes are not in memory.
                evict.withLock { $0 = { [store = fixture.store] in _ = try? await store.removeAll(.everything) } }
            }
            #expect(try await fixture.cache.response(for: .to(path)).bytes == versions.second)
        }
        #expect(offered(transport) == [nil, versions.hash, versions.hash])
        #expect(try !fixture.store.contains(CacheKey(url: "https://example.com/v1.js")))
    }

    @Test(
        "A dictionary evicted while a response needs it stays readable", .requirement("D17"),
        arguments: DictionaryCoding.supported)
    func evicted(_ coding: DictionaryCoding) async throws {
        let fed = FedBody()
        let transport = versions.origin(coding) { request in
            guard request.headerFields[.availableDictionary] != nil else { return nil }
            return fed.response(.ok, DictionaryVersions.fields(coding))
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        fed.feed(Data(versions.difference(coding).prefix(50)))
        let response = try await fixture.cache.response(for: .to("/v2.js"))
        try await fixture.store.removeAll(.everything)
        #expect(try fixture.blobs.isEmpty)
        fed.feed(Data(versions.difference(coding).dropFirst(50)))
        fed.end()
        #expect(try await response.bytes == versions.second)
    }
}
#endif

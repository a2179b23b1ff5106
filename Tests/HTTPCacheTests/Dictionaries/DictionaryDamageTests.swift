#if Zstd
import CacheCodings
import TestSupport

@Suite("HTTPCache: damaged dictionaries", .enabled(if: Encoder.areInstalled), .timeLimit(.minutes(5)))
struct DictionaryDamageTests {
    enum Damage: CaseIterable {
        /// Other bytes in the same file, with an unchanged modification time.
        case altered
        case truncated

        func inflict(on file: URL) throws {
            let handle = try FileHandle(forUpdating: file)
            switch self {
            case .altered:
                // Without a checksum, zstd decodes the damaged body to other bytes.
                let offset = try handle.seekToEnd() / 4
                try handle.seek(toOffset: offset)
                let byte = try #require(try handle.read(upToCount: 1)?.first)
                try handle.seek(toOffset: offset)
                try handle.write(contentsOf: Data([byte ^ 0x40]))
            case .truncated:
                try handle.truncate(atOffset: 100)
            }
            try handle.close()
            try DictionaryDamageTests.setTime(of: file)
        }
    }

    private let versions: DictionaryVersions
    /// The first version in zstd.
    private let encoded: Data
    private let using = CachePolicy(usesDictionaries: true)

    init() async throws {
        versions = try await DictionaryVersions()
        encoded = try await Encoder.zstd.encode(versions.first)
    }

    /// An origin whose `/v1.js` is the dictionary, coded or not. All other paths have the second version.
    private func origin(
        _ coding: DictionaryCoding = .dcz, encoded: Data? = nil, beforeDifference: @escaping @Sendable () -> Void = {}
    ) -> ScriptedTransport {
        ScriptedTransport { [versions] request, _ in
            if request.path == "/v1.js" {
                var fields = DictionaryVersions.fresh
                if encoded != nil { fields[.contentEncoding] = "zstd" }
                return DictionaryVersions.reply(fields, encoded ?? versions.first)
            }
            guard request.headerFields[.availableDictionary] == versions.hash else {
                return DictionaryVersions.reply([.cacheControl: "max-age=600"], versions.second)
            }
            beforeDifference()
            return DictionaryVersions.reply(DictionaryVersions.fields(coding), versions.difference(coding))
        }
    }

    private static func verifying(
        _ verification: ResponseStore.Configuration.Verification
    ) -> ResponseStore.Configuration {
        var configuration = ResponseStore.Configuration()
        configuration.verification = verification
        return configuration
    }

    private func offered(_ transport: ScriptedTransport) -> [String?] {
        transport.requests.map { $0.headerFields[.availableDictionary] }
    }

    /// Sets a time without a fraction, so that the same time can be set again.
    private static func setTime(of file: URL) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)],
            ofItemAtPath: file.path(percentEncoded: false))
    }

    private func file(of bytes: Data, in fixture: LoaderFixture) throws -> URL {
        try #require(fixture.blobs.first { $0.bytes == bytes }?.url)
    }

    struct Case: Sendable {
        let damage: Damage
        let verification: ResponseStore.Configuration.Verification
        /// Whether the cache offers the dictionary, and detects the damage only when an answer needs the bytes.
        let isOffered: Bool
    }

    @Test(
        "A damaged dictionary is offered at most once, and its next load comes from the origin", .requirement("D19"),
        arguments: [
            Case(damage: .altered, verification: .never, isOffered: true),
            Case(damage: .altered, verification: .firstRead, isOffered: true),
            Case(damage: .altered, verification: .everyRead, isOffered: false),
            Case(damage: .truncated, verification: .never, isOffered: false),
            Case(damage: .truncated, verification: .firstRead, isOffered: false),
        ], [false, true])
    func damaged(_ c: Case, isEncoded: Bool) async throws {
        for coding in DictionaryCoding.supported {
            let first = isEncoded ? encoded : versions.first
            let transport = origin(coding, encoded: isEncoded ? encoded : nil)
            let fixture = try LoaderFixture(
                transport: transport, policy: using, storing: Self.verifying(c.verification))
            _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
            let file = try file(of: first, in: fixture)
            try Self.setTime(of: file)
            #expect(try await fixture.cache.response(for: .to("/v2.js")).bytes == versions.second)
            try c.damage.inflict(on: file)
            #expect(try await fixture.cache.response(for: .to("/v3.js")).bytes == versions.second)
            #expect(try !fixture.store.contains(CacheKey(url: "https://example.com/v1.js")))
            #expect(try await fixture.cache.response(for: .to("/v4.js")).bytes == versions.second)

            let reloaded = try await fixture.cache.response(for: .to("/v1.js"))
            #expect(reloaded.source == .network)
            #expect(try await reloaded.bytes == first)
            #expect(try await fixture.cache.response(for: .to("/v5.js")).bytes == versions.second)
            let hash: String? = versions.hash
            // The answer to the offer is unusable, so a request without an offer follows.
            let afterDamage = c.isOffered ? [hash, nil] : [nil]
            #expect(offered(transport) == [nil, hash] + afterDamage + [nil, nil, hash])
            #expect(try await fixture.store.check(digests: true).isSound)
        }
    }

    @Test(
        "A coded dictionary damaged before its first use is loaded again", .requirement("D19"),
        arguments: ["--check", "--no-check"])
    func damagedBeforeUse(checksum: String) async throws {
        let encoded = try await Encoder.zstd.encode(versions.first, [checksum])
        let transport = origin(encoded: encoded)
        let fixture = try LoaderFixture(transport: transport, policy: using, storing: Self.verifying(.never))
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        try Damage.altered.inflict(on: file(of: encoded, in: fixture))
        #expect(try await fixture.cache.response(for: .to("/v2.js")).bytes == versions.second)
        #expect(try !fixture.store.contains(CacheKey(url: "https://example.com/v1.js")))
        let reloaded = try await fixture.cache.response(for: .to("/v1.js"))
        #expect(reloaded.source == .network)
        // The entry exists once the body is complete.
        #expect(try await reloaded.bytes == encoded)
        #expect(try await fixture.cache.response(for: .to("/v3.js")).bytes == versions.second)
        #expect(offered(transport) == [nil, nil, nil, versions.hash])
    }

    @Test("A damaged dictionary of a read-only store is offered once", .requirement("D19"))
    func readOnly() async throws {
        let directory = try TemporaryDirectory()
        do {
            let fixture = try LoaderFixture(transport: origin(), directory: directory, policy: using)
            _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
            fixture.store.close()
        }
        let transport = origin()
        var storing = Self.verifying(.never)
        storing.isReadOnly = true
        let fixture = try LoaderFixture(transport: transport, directory: directory, policy: using, storing: storing)
        try Damage.altered.inflict(on: file(of: versions.first, in: fixture))
        for path in ["/v2.js", "/v3.js"] {
            #expect(try await fixture.cache.response(for: .to(path)).bytes == versions.second)
        }
        #expect(offered(transport) == [versions.hash, nil, nil])
    }

    @Test(
        "Damage to the dictionary while the origin answers leads to one request without it", .requirement("D16", "D19"),
        arguments: Damage.allCases)
    func damagedBeforeReply(_ damage: Damage) async throws {
        let inflict = Mutex<(@Sendable () throws -> Void)?>(nil)
        let transport = origin(beforeDifference: { try? inflict.withLock { $0.take() }?() })
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        let file = try file(of: versions.first, in: fixture)
        // The same file, so that the open body has the changed bytes, too.
        inflict.withLock { $0 = { try damage.inflict(on: file) } }
        for path in ["/v2.js", "/v3.js"] {
            #expect(try await fixture.cache.response(for: .to(path)).bytes == versions.second)
        }
        #expect(offered(transport) == [nil, versions.hash, nil, nil])
        #expect(try await fixture.cache.response(for: .to("/v1.js")).source == .network)
    }
}
#endif

import TestSupport

/// The content of the examples in RFC 9530, and its digests.
private enum Hello {
    static let text = "{\"hello\": \"world\"}\n"
    static let sha256 = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:"
    static let sha512 =
        "sha-512=:YMAam51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:"
    static let other256 = "sha-256=:jjcgBDWNAtbYUXI37CVG3gRuGOAjaaDRGpIUFsdyepQ=:"
    static let other512 =
        "sha-512=:AAAAm51Jz/jOATT6/zvHrLVgOYTGFy1d6GJiOHTohq4yP+pgk4vf2aCsyRZOtw8MjkM7iw7yZ/WkppmM44T3qg==:"
    static let empty = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
}

@Suite("HTTPCache: integrity fields", .timeLimit(.minutes(5))) struct IntegrityTests {
    private let key: CacheKey
    private let url = "https://example.com/a"
    private let verifying = CachePolicy(verifiesDigests: true)

    init() throws { key = try CacheKey(url: "https://example.com/a") }

    private static func digest(of text: String) -> String {
        let digest = ContentDigest(of: Data(text.utf8)).withUnsafeBytes { Data($0) }
        return "sha-256=:\(digest.base64EncodedString()):"
    }

    private func mismatch(_ field: String) -> LoadError { .digestMismatch(url: url, field: field) }

    /// A field with digests, and the name of the mismatched field, or `nil`.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let fields: HTTPFields
        let text: String
        let expected: String?

        init(_ name: String, _ fields: HTTPFields, _ text: String = Hello.text, expect expected: String?) {
            self.name = name
            self.fields = fields
            self.text = text
            self.expected = expected
        }

        var testDescription: String { name }
    }

    static let cases = [
        Case("I12: no field", [:], expect: nil),
        Case("I12, I13: SHA-256 of the content", [.contentDigest: Hello.sha256], expect: nil),
        Case("I12, I13: SHA-512 of the content", [.contentDigest: Hello.sha512], expect: nil),
        Case("I12: both", [.contentDigest: "\(Hello.sha256), \(Hello.sha512)"], expect: nil),
        Case("I14: of the representation", [.reprDigest: "\(Hello.sha256), \(Hello.sha512)"], expect: nil),
        Case("I13: other bytes", [.contentDigest: Hello.other256], expect: "content-digest"),
        Case("I14: other bytes", [.reprDigest: Hello.other512], expect: "repr-digest"),
        Case("I12: one of two", [.contentDigest: "\(Hello.sha256), \(Hello.other512)"], expect: "content-digest"),
        Case("I12: the other", [.contentDigest: "\(Hello.other256), \(Hello.sha512)"], expect: "content-digest"),
        Case(
            "I12: one of two fields", [.contentDigest: Hello.sha256, .reprDigest: Hello.other256], expect: "repr-digest"
        ),
        Case("I12: a digest of the wrong length", [.contentDigest: "sha-256=:YWJj:"], expect: "content-digest"),
        Case("I11: a malformed field", [.contentDigest: "sha-256=:YWJj"], expect: nil),
        Case("I11: an unknown algorithm", [.contentDigest: "md5=:YWJj:"], expect: nil),
        Case("I12: no content", [.contentDigest: Hello.empty, .reprDigest: Hello.empty], "", expect: nil),
        Case("I12: content in place of none", [.contentDigest: Hello.empty], expect: "content-digest"),
        Case("I12: none in place of content", [.reprDigest: Hello.sha256], "", expect: "repr-digest"),
        Case(
            "I15: the digests of encoded bytes",
            [.contentDigest: Hello.sha256, .reprDigest: Hello.sha512, .contentEncoding: "x"], expect: nil),
    ]

    /// Reads a response of the cache, whose body must end as the case expects.
    private func expectBody(of cache: HTTPCache, _ c: Case) async throws {
        let response = try await cache.response(for: .to("/a"))
        if let expected = c.expected {
            await #expect(throws: mismatch(expected)) { try await response.bytes }
        } else {
            #expect(try await response.text == c.text)
        }
    }

    @Test(
        "Content that does not match its digest is not stored, and reading it throws at the end", .requirement("I16"),
        arguments: cases)
    func storing(_ c: Case) async throws {
        var fields = c.fields
        fields[.cacheControl] = "max-age=60"
        fields[.eTag] = "\"1\""
        let transport = ScriptedTransport { [fields] _, _ in .reply(200, fields, c.text) }
        let fixture = try LoaderFixture(transport: transport, policy: verifying)
        try await expectBody(of: fixture.cache, c)
        #expect(try fixture.store.statistics().entries == (c.expected == nil ? 1 : 0))
        // Loads of a loader fail with the same error.
        fixture.clock.advance(by: 61)
        if let expected = c.expected {
            await expectError(mismatch(expected)) { try await fixture.loader.load(url) }
        } else {
            #expect(try await fixture.loader.load(url).text == c.text)
        }
    }

    @Test("Unstored content is verified, too", .requirement("I16"), arguments: cases)
    func passing(_ c: Case) async throws {
        var fields = c.fields
        fields[.cacheControl] = "no-store"
        let transport = ScriptedTransport { [fields] _, _ in .reply(200, fields, c.text) }
        let fixture = try LoaderFixture(transport: transport, policy: verifying)
        try await expectBody(of: fixture.cache, c)
    }

    @Test(
        "A loader verifies decoded content with Unencoded-Digest, and does not store a mismatch", .requirement("I16"),
        arguments: [Hello.sha256, Hello.other256, Hello.sha512, Hello.other512])
    func decoded(digest: String) async throws {
        let gzipped = try #require(Data(base64Encoded: "H4sIAAAAAAACA6tWykjNyclXslJQKs8vyklRquUCANnkMecTAAAA"))
        let fields: HTTPFields = [.cacheControl: "max-age=60", .contentEncoding: "gzip", .unencodedDigest: digest]
        let transport = ScriptedTransport([.reply(200, fields, body: gzipped)])
        let fixture = try LoaderFixture(transport: transport, policy: verifying)
        if [Hello.sha256, Hello.sha512].contains(digest) {
            #expect(try await fixture.loader.load(url).text == Hello.text)
            #expect(try await fixture.loader.load(url).source == .disk)
        } else {
            await expectError(mismatch("unencoded-digest")) { try await fixture.loader.load(url) }
            #expect(try fixture.store.statistics().entries == 0)
            fixture.loader.configuration.policy.verifiesDigests = false
            #expect(try await fixture.loader.load(url).text == Hello.text)
        }
    }

    @Test("Verifies only if the policy or the request asks", .requirement("I16"))
    func policy() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60", .contentDigest: Hello.other256]
        let (_, fixture) = try LoaderFixture.scripted { _, _ in .reply(200, fields, Hello.text) }
        #expect(try await fixture.cache.response(for: .to("/a")).text == Hello.text)
        let asking = CachePolicy.Override(mode: .remoteOnly, verifiesDigests: true)
        let response = try await fixture.cache.response(for: .to("/a"), policy: asking)
        await #expect(throws: mismatch("content-digest")) { try await response.bytes }
        #expect(try await fixture.cache.response(for: .to("/a")).source == .disk, "the old response stays")
    }

    @Test("A request that asks does not join a transfer that is not verified", .requirement("I16"))
    func joining() async throws {
        let bodies = [FedBody("{"), FedBody("{")]
        let fields: HTTPFields = [.cacheControl: "max-age=60", .contentDigest: Hello.other256]
        let number = Counter()
        let transport = ScriptedTransport { _, _ in bodies[number.next() == 1 ? 0 : 1].response(.ok, fields) }
        let fixture = try LoaderFixture(transport: transport)
        let first = try await fixture.cache.response(for: .to("/a"))
        let joined = try await fixture.cache.response(for: .to("/a"))
        #expect(transport.requestCount == 1)
        let asking = try await fixture.cache.response(for: .to("/a"), policy: .init(verifiesDigests: true))
        #expect(transport.requestCount == 2)
        for body in bodies { body.end() }
        #expect(try await joined.text == "{")
        await #expect(throws: mismatch("content-digest")) { try await asking.bytes }
        withExtendedLifetime(first) {}
    }

    @Test("A request that does not ask joins no verified transfer, and does not fail with it", .requirement("I16"))
    func notJoining() async throws {
        let bodies = [FedBody("{"), FedBody("{")]
        let fields: HTTPFields = [.cacheControl: "max-age=60", .contentDigest: Hello.other256]
        let number = Counter()
        let transport = ScriptedTransport { _, _ in bodies[number.next() == 1 ? 0 : 1].response(.ok, fields) }
        let fixture = try LoaderFixture(transport: transport)
        let asking = try await fixture.cache.response(for: .to("/a"), policy: .init(verifiesDigests: true))
        let other = try await fixture.cache.response(for: .to("/a"))
        #expect(transport.requestCount == 2)
        for body in bodies { body.end() }
        await #expect(throws: mismatch("content-digest")) { try await asking.bytes }
        #expect(try await other.text == "{")
    }

    @Test("Does not verify content whose coding the transport removed", .requirement("I15"))
    func decoded() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60", .contentDigest: Hello.other256]
        let (_, fixture) = try LoaderFixture.scripted(policy: verifying) { _, _ in
            var response = TransportResponse.reply(200, fields, Hello.text)
            response.isBodyDecoded = true
            return response
        }
        #expect(try await fixture.cache.response(for: .to("/a")).text == Hello.text)
    }

    // MARK: Parts

    /// Answers GETs and ranges with the digests of their content and of `whole`.
    private static func origin(_ text: String, whole: String? = nil, content: String? = nil) -> RepresentationOrigin {
        let origin = RepresentationOrigin(text, [.cacheControl: "max-age=60", .eTag: "\"1\""])
        origin.set { state in
            if let whole { state.fields[.reprDigest] = whole }
            if let content { state.fields[.contentDigest] = content }
        }
        return origin
    }

    private func get(_ fixture: LoaderFixture, _ range: String) async throws -> String {
        try await fixture.cache.response(for: .to("/a", [.range: "bytes=\(range)"])).text
    }

    @Test("RFC 9530 §2: Content-Digest covers the content of a 206", .requirement("I13"), arguments: [true, false])
    func part(isRight: Bool) async throws {
        let digest = isRight ? Hello.other256 : Hello.sha256
        let origin = Self.origin(Hello.text, whole: Hello.sha256, content: digest)
        let fixture = try LoaderFixture(transport: origin.transport, policy: verifying)
        if isRight {
            #expect(try await get(fixture, "10-18") == String(Hello.text.dropFirst(10)))
        } else {
            await #expect(throws: mismatch("content-digest")) { try await get(fixture, "10-18") }
        }
        #expect(try fixture.store.responses(for: key).count == (isRight ? 1 : 0))
    }

    @Test(
        "RFC 9530 §3: combined parts are verified by Repr-Digest", .requirement("I14"),
        arguments: [Hello.sha256, Hello.sha512])
    func combining(digest: String) async throws {
        let origin = Self.origin(Hello.text, whole: digest)
        let fixture = try LoaderFixture(transport: origin.transport, policy: verifying)
        _ = try await get(fixture, "0-9")
        #expect(try await get(fixture, "10-18") == String(Hello.text.dropFirst(10)))
        #expect(try fixture.store.responses(for: key).map(\.metadata.part) == [nil])
    }

    @Test(
        "Parts that do not match their Repr-Digest when combined are removed, and the load fails",
        .requirement("I14", "I16"), arguments: [Hello.other256, Hello.other512])
    func wrongCombination(digest: String) async throws {
        let origin = Self.origin(Hello.text, whole: digest)
        let fixture = try LoaderFixture(transport: origin.transport, policy: verifying)
        _ = try await get(fixture, "0-9")
        await #expect(throws: mismatch("repr-digest")) { try await get(fixture, "10-18") }
        #expect(try fixture.store.responses(for: key).isEmpty)
    }

    @Test("Delivers a 206 with its own Content-Digest, removes older parts that do not fit", .requirement("I14", "I16"))
    func wrongOlderPart() async throws {
        let origin = Self.origin(Hello.text, whole: Hello.other512)
        let fixture = try LoaderFixture(transport: origin.transport, policy: verifying)
        _ = try await get(fixture, "0-9")
        origin.set { $0.fields[.contentDigest] = Hello.other256 }
        #expect(try await get(fixture, "10-18") == String(Hello.text.dropFirst(10)))
        #expect(try fixture.store.responses(for: key).isEmpty)
    }

    /// The digests of a resumed response: of the whole, and of the rest.
    struct Resumption: Sendable, CustomTestStringConvertible {
        let name: String
        let whole: String
        let rest: String
        let expected: String?
        var testDescription: String { name }

        init(_ name: String, whole: String, rest: String, expect expected: String?) {
            self.name = name
            self.whole = whole
            self.rest = rest
            self.expected = expected
        }
    }

    @Test(
        "RFC 9530 §2, §3: a resumed body has the Repr-Digest of the whole, the rest its Content-Digest",
        arguments: [
            Resumption("I14: SHA-256", whole: Hello.sha256, rest: Hello.other256, expect: nil),
            Resumption("I14: SHA-512", whole: Hello.sha512, rest: Hello.other256, expect: nil),
            Resumption("I14: another whole", whole: Hello.other256, rest: Hello.other256, expect: "repr-digest"),
            Resumption("I14: another SHA-512", whole: Hello.other512, rest: Hello.other256, expect: "repr-digest"),
            Resumption("I13: another rest", whole: Hello.sha256, rest: Hello.sha256, expect: "content-digest"),
        ])
    func resuming(_ c: Resumption) async throws {
        let origin = Self.origin(Hello.text, whole: c.whole)
        let fixture = try LoaderFixture(transport: origin.transport, policy: verifying)
        origin.set { $0.breaksOffAfter = 10 }
        await #expect(throws: LoadError.self) { try await fixture.cache.response(for: .to("/a")).bytes }
        #expect(try fixture.store.responses(for: key).map(\.byteCount) == [10])
        origin.set { state in
            state.breaksOffAfter = nil
            state.fields[.contentDigest] = c.rest
        }
        let response = try await fixture.cache.response(for: .to("/a"))
        if let expected = c.expected {
            await #expect(throws: mismatch(expected)) { try await response.bytes }
            #expect(try fixture.store.responses(for: key).isEmpty, "no later load completes the part")
        } else {
            #expect(try await response.text == Hello.text)
            let stored = try await fixture.cache.response(for: .to("/a"))
            #expect(stored.source == .disk)
            #expect(stored.headerFields[.contentDigest] == nil, "it covered the rest only")
        }
    }

    @Test(
        "The Content-Digest of an interrupted 200 covers the whole that a 206 completes", .requirement("I13"),
        arguments: [true, false])
    func interruptedContent(isRight: Bool) async throws {
        let origin = Self.origin(Hello.text, content: isRight ? Hello.sha256 : Hello.other256)
        let fixture = try LoaderFixture(transport: origin.transport, policy: verifying)
        origin.set { $0.breaksOffAfter = 10 }
        await #expect(throws: LoadError.self) { try await fixture.cache.response(for: .to("/a")).bytes }
        origin.set { state in
            state.breaksOffAfter = nil
            state.fields[.contentDigest] = nil
        }
        let response = try await fixture.cache.response(for: .to("/a"))
        if isRight {
            #expect(try await response.text == Hello.text)
        } else {
            await #expect(throws: mismatch("content-digest")) { try await response.bytes }
            #expect(try fixture.store.responses(for: key).isEmpty)
        }
    }

    // MARK: A failing store

    @Test(
        "A store that fails in the middle of a body does not prevent verification", .requirement("I12"),
        arguments: [true, false])
    func fullStore(isRight: Bool) async throws {
        let chunks = (0..<8).map { String(repeating: "\($0)", count: 1_000) }
        let digest = isRight ? Self.digest(of: chunks.joined()) : Hello.sha256
        let transport = ScriptedTransport { _, _ in
            TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60", .contentDigest: digest]),
                body: TransportBody(chunks: chunks.map { Data($0.utf8) }))
        }
        let limits = Limits(maxEntryBytes: 3_500)
        let fixture = try LoaderFixture(transport: transport, policy: verifying, limits: limits)
        let response = try await fixture.cache.response(for: .to("/a"))
        if isRight {
            #expect(try await response.text == chunks.joined())
        } else {
            await #expect(throws: mismatch("content-digest")) { try await response.bytes }
        }
        #expect(try fixture.store.statistics().entries == 0)
    }
}

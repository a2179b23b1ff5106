#if Zstd
import CacheCodings
import TestSupport

/// A transport that fails at an unknown coding, like `URLSession` on Linux.
private struct DecodingTransport: HTTPTransport {
    let base: ScriptedTransport
    let passesUnknownCodings = false

    func prepare(_ request: HTTPRequest) -> HTTPRequest { base.prepare(request) }

    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        try await base.send(request, content: content, onInterimResponse: onInterimResponse)
    }
}

@Suite("HTTPCache: offering dictionaries", .enabled(if: Encoder.areInstalled), .timeLimit(.minutes(5)))
struct DictionaryOfferTests {
    private let versions: DictionaryVersions
    private let using = CachePolicy(usesDictionaries: true)
    /// The codings that requests name.
    private static let names = DictionaryCoding.supported.map(\.rawValue).joined(separator: ", ")
    private static let hasBrotli = DictionaryCoding.supported.contains(.dcb)

    init() async throws { versions = try await DictionaryVersions() }

    private func offered(_ transport: ScriptedTransport) -> [String?] {
        transport.requests.map { $0.headerFields[.availableDictionary] }
    }

    @Test(
        "The second version is sent as a difference, and stored without the coding", .requirement("D15", "D16"),
        arguments: DictionaryCoding.supported)
    func difference(_ coding: DictionaryCoding) async throws {
        let transport = versions.origin(coding)
        let fixture = try LoaderFixture(transport: transport, policy: using)
        #expect(try await fixture.cache.response(for: .to("/v1.js")).bytes == versions.first)
        #expect(versions.difference(coding).count < versions.second.count / 20)
        for source in [ResponseSource.network, .disk] {
            let response = try await fixture.cache.response(for: .to("/v2.js", [.acceptEncoding: "gzip"]))
            #expect(response.source == source)
            #expect(response.headerFields[.contentEncoding] == nil)
            #expect(response.headerFields[.eTag] == "W/\"2\"", "the tag is that of the encoded bytes")
            #expect(try await response.bytes == versions.second)
        }
        #expect(offered(transport) == [nil, versions.hash])
        #expect(transport.requests.last?.headerFields[.dictionaryID] == "\"one\"")
        #expect(transport.requests.last?.headerFields[.acceptEncoding] == "gzip, \(Self.names)")
        #expect(try await fixture.store.check(digests: true).isSound)
    }

    @Test("A loader gets the value, even in another process", .requirement("D15", "D16"))
    func loading() async throws {
        let transport = versions.origin()
        let directory = try TemporaryDirectory()
        do {
            let fixture = try LoaderFixture(transport: transport, directory: directory, policy: using)
            _ = try await fixture.loader.load("https://example.com/v1.js")
            fixture.store.close()
        }
        let fixture = try LoaderFixture(transport: transport, directory: directory, policy: using)
        #expect(try await fixture.loader.load("https://example.com/v2.js").data == versions.second)
        #expect(try await fixture.loader.load("https://example.com/v2.js").source == .disk)
        #expect(offered(transport) == [nil, versions.hash])
        #expect(transport.requests.last?.headerFields[.acceptEncoding] == "\(ContentCoding.accepted), \(Self.names)")
    }

    @Test("Accepts dcb if the library supports dictionaries", .requirement("D15"), .enabled(if: Self.hasBrotli))
    func brotli() { #expect(Self.names == "dcb, dcz") }

    @Test("Does not accept dcb if the library has no dictionaries", .requirement("D15"), .disabled(if: Self.hasBrotli))
    func noBrotli() { #expect(Self.names == "dcz") }

    @Test("A dictionary stored in a coding is identified by its decoded content", .requirement("D15"))
    func encodedDictionary() async throws {
        let encoded = try await Encoder.zstd.encode(versions.first)
        let transport = versions.origin { request in
            guard request.path == "/v1.js" else { return nil }
            var fields = DictionaryVersions.fresh
            fields[.contentEncoding] = "zstd"
            return DictionaryVersions.reply(fields, encoded)
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.loader.load("https://example.com/v1.js")
        #expect(try await fixture.loader.load("https://example.com/v2.js").data == versions.second)
        #expect(offered(transport) == [nil, versions.hash])
    }

    @Test(
        "Without a dictionary, sends no field and no coding", .requirement("D12", "D13", "D18"),
        arguments: [
            "policy", "path", "origin", "partition", "user", "range", "digests", "shared", "insecure", "transport",
        ])
    func none(reason: String) async throws {
        let transport = versions.origin()
        var policy = using
        if reason == "policy" { policy.usesDictionaries = false }
        if reason == "shared" { policy.isShared = true }
        let directory = try TemporaryDirectory()
        let first = try LoaderFixture(transport: transport, directory: directory, policy: policy)
        let authorized: HTTPFields = reason == "user" ? [.authorization: "one"] : [:]
        var dictionary = HTTPRequest.to("/v1.js", authorized)
        if reason == "insecure" { dictionary.scheme = "http" }
        _ = try await first.cache.response(for: dictionary).bytes
        first.store.close()
        if reason == "digests" { policy.verifiesDigests = true }
        let carrier: any HTTPTransport = reason == "transport" ? DecodingTransport(base: transport) : transport
        let fixture = try LoaderFixture(transport: carrier, directory: directory, policy: policy)
        if reason == "partition" { fixture.cache.configuration.partition = "other" }
        var request = HTTPRequest.to(reason == "path" ? "/w2.js" : "/v2.js", [.acceptEncoding: "gzip"])
        if reason == "insecure" { request.scheme = "http" }
        if reason == "origin" { request.authority = "example.org" }
        if reason == "user" { request.headerFields[.authorization] = "two" }
        if reason == "range" { request.headerFields[.range] = "bytes=0-9" }
        _ = try await fixture.cache.response(for: request).bytes
        let sent = try #require(transport.requests.last)
        #expect(sent.headerFields[.availableDictionary] == nil)
        #expect(sent.headerFields[.dictionaryID] == nil)
        #expect(sent.headerFields[.acceptEncoding] == "gzip")
    }

    @Test(
        "RFC 9842 §2.2.1: a dictionary is fresh, or within stale-while-revalidate", .requirement("D13"),
        arguments: [
            ("max-age=600", 599, true), ("max-age=600", 600, false),
            ("max-age=600, stale-while-revalidate=60", 660, true),
            ("max-age=600, stale-while-revalidate=60", 661, false),
            ("max-age=600, stale-while-revalidate=60, must-revalidate", 601, false),
            ("max-age=600, stale-if-error=60", 601, false),
        ])
    func stale(control: String, age: Int, isOffered: Bool) async throws {
        let transport = versions.origin { request in
            guard request.path == "/v1.js" else { return nil }
            var fields = DictionaryVersions.fresh
            fields[.cacheControl] = control
            return DictionaryVersions.reply(fields, versions.first)
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        fixture.clock.advance(by: TimeInterval(age))
        #expect(try await fixture.cache.response(for: .to("/v2.js")).bytes == versions.second)
        #expect(offered(transport) == [nil, isOffered ? versions.hash : nil])
    }

    @Test("A user's own response serves as a dictionary for that user", .requirement("D13"))
    func sameUser() async throws {
        let transport = versions.origin()
        let fixture = try LoaderFixture(transport: transport, policy: using)
        for path in ["/v1.js", "/v2.js"] {
            _ = try await fixture.cache.response(for: .to(path, [.authorization: "one"])).bytes
        }
        #expect(offered(transport) == [nil, versions.hash])
    }

    @Test("A client that offers its own dictionary gets the coded response unchanged", .requirement("D18"))
    func ownDictionary() async throws {
        let transport = versions.origin()
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        let own: HTTPFields = [.acceptEncoding: "dcz", .availableDictionary: versions.hash]
        let response = try await fixture.cache.response(for: .to("/v2.js", own))
        #expect(response.headerFields[.contentEncoding] == "dcz")
        #expect(try await response.bytes == versions.difference(.dcz))
        #expect(transport.requests.last?.headerFields[.acceptEncoding] == "dcz")
    }

    @Test("RFC 9842 §6.2: a shared cache stores a response for each dictionary of its clients", .requirement("D18"))
    func shared() async throws {
        let transport = versions.origin { request in
            guard request.path == "/v2.js", request.headerFields[.availableDictionary] == nil else { return nil }
            var fields = DictionaryVersions.fields(.dcz)
            fields[.contentEncoding] = nil
            return DictionaryVersions.reply(fields, versions.second)
        }
        var policy = CachePolicy.shared
        policy.usesDictionaries = true
        let fixture = try LoaderFixture(transport: transport, policy: policy)
        let own: HTTPFields = [.acceptEncoding: "gzip, dcb, dcz", .availableDictionary: versions.hash]
        for source in [ResponseSource.network, .disk] {
            for (fields, body) in [(own, versions.difference(.dcz)), (HTTPFields(), versions.second)] {
                let response = try await fixture.cache.response(for: .to("/v2.js", fields))
                #expect(response.source == source)
                #expect(try await response.bytes == body)
            }
        }
        #expect(transport.requestCount == 2)
    }

    @Test("RFC 9842 §2.2.3: offers the longest pattern, then the latest response", .requirement("D14"))
    func precedence() async throws {
        let (transport, fixture) = try LoaderFixture.scripted(policy: using) { request, _ in
            let match = request.path == "/long" ? "/v2*" : "/v*"
            return .reply(
                200, [.cacheControl: "max-age=600", .useAsDictionary: "match=\"\(match)\""], request.path ?? "")
        }
        func load(_ path: String) async throws {
            _ = try await fixture.cache.response(for: .to(path)).bytes
            fixture.clock.advance(by: 1)
        }
        for path in ["/long", "/old", "/new", "/v3", "/v2"] { try await load(path) }
        let hashes = ["/new", "/long"].map { DictionaryVersions.hash(of: Data($0.utf8)) }
        #expect(offered(transport) == [nil, nil, nil, hashes[0], hashes[1]])
    }
}
#endif

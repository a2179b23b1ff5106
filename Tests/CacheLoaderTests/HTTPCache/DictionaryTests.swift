#if Zstd
import CacheLoader
import CacheStore
import CacheStoreTesting
import Foundation
import HTTPCaching
import HTTPTypes
import Synchronization
import TestSupport
import Testing

extension HTTPField.Name {
    fileprivate static var availableDictionary: Self { HTTPField.Name("Available-Dictionary") ?? .via }
    fileprivate static var dictionaryID: Self { HTTPField.Name("Dictionary-ID") ?? .via }
    fileprivate static var useAsDictionary: Self { HTTPField.Name("Use-As-Dictionary") ?? .via }
}

/// Two versions of a script, and the second one in the coding `dcz` with the first as its dictionary.
private struct Versions: Sendable {
    static let fresh: HTTPFields = [.cacheControl: "max-age=600", .useAsDictionary: "match=\"/v*.js\", id=\"one\""]
    static let vary: HTTPFields = [
        .cacheControl: "max-age=600", .contentEncoding: "dcz", .vary: "Accept-Encoding, Available-Dictionary",
        .eTag: "\"2\"",
    ]

    let first = Data((0..<20_000).flatMap { "line \($0) \($0 &* 2_654_435_761 % 1_000_003)\n".utf8 })
    let second: Data
    let difference: Data
    let hash: String

    init() async throws {
        second = Data(first.prefix(100_000)) + Data("changed\n".utf8) + Data(first.dropFirst(120_000))
        difference = try await Self.encode(second, with: first)
        hash = Self.hash(of: first)
    }

    static func hash(of data: Data) -> String {
        ":\(ContentDigest(of: data).withUnsafeBytes { Data($0) }.base64EncodedString()):"
    }

    /// Returns data in the coding `dcz` (RFC 9842 §5).
    static func encode(_ data: Data, with dictionary: Data) async throws -> Data {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "dictionary")
        try dictionary.write(to: file)
        let frames = try await Encoder.zstd.encode(data, ["-D", file.path(percentEncoded: false)])
        let digest = ContentDigest(of: dictionary).withUnsafeBytes { Data($0) }
        return Data([0x5E, 0x2A, 0x4D, 0x18, 0x20, 0, 0, 0]) + digest + frames
    }

    /// An origin that sends the difference to a client that has the first version.
    func origin(_ answer: (@Sendable (HTTPRequest) -> TransportResponse?)? = nil) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            if let response = answer?(request) { return response }
            guard request.path == "/v2.js" else { return Self.reply(Self.fresh, first) }
            let accepts = request.headerFields[.acceptEncoding]?.contains("dcz") == true
            guard accepts, request.headerFields[.availableDictionary] == hash else {
                return Self.reply([.cacheControl: "max-age=600"], second)
            }
            return Self.reply(Self.vary, difference)
        }
    }

    static func reply(_ fields: HTTPFields, _ data: Data, pieces: Int = 7_000) -> TransportResponse {
        var (chunks, rest) = ([Data](), data)
        while !rest.isEmpty {
            chunks.append(Data(rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
        }
        return TransportResponse(
            head: HTTPResponse(status: .ok, headerFields: fields), body: TransportBody(chunks: chunks))
    }
}

/// A transport that fails at a coding that it does not know, as `URLSession` on Linux does.
private struct DecodingTransport: HTTPTransport {
    let base: ScriptedTransport
    let passesUnknownCodings = false

    func prepare(_ request: HTTPRequest) -> HTTPRequest { base.prepare(request) }

    func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        try await base.send(request, content: content)
    }
}

@Suite("HTTPCache: compression dictionaries", .enabled(if: Encoder.areInstalled), .timeLimit(.minutes(5)))
struct DictionaryTests {
    private let versions: Versions
    private let using = CachePolicy(usesDictionaries: true)

    init() async throws { versions = try await Versions() }

    private func offered(_ transport: ScriptedTransport) -> [String?] {
        transport.requests.map { $0.headerFields[.availableDictionary] }
    }

    @Test("D15, D16: the second version travels as its difference, and is stored without the coding")
    func difference() async throws {
        let transport = versions.origin()
        let fixture = try LoaderFixture(transport: transport, policy: using)
        #expect(try await fixture.cache.response(for: .to("/v1.js")).bytes == versions.first)
        #expect(versions.difference.count < versions.second.count / 20)
        for source in [ResponseSource.network, .disk] {
            let response = try await fixture.cache.response(for: .to("/v2.js", [.acceptEncoding: "gzip"]))
            #expect(response.source == source)
            #expect(response.headerFields[.contentEncoding] == nil)
            #expect(response.headerFields[.eTag] == "W/\"2\"", "the tag is that of the encoded bytes")
            #expect(try await response.bytes == versions.second)
        }
        #expect(offered(transport) == [nil, versions.hash])
        #expect(transport.requests.last?.headerFields[.dictionaryID] == "\"one\"")
        #expect(transport.requests.last?.headerFields[.acceptEncoding] == "gzip, dcz")
        #expect(try await fixture.store.check(digests: true).isSound)
    }

    @Test("D15, D16: a loader gets the value, in another process, too")
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
        #expect(transport.requests.last?.headerFields[.acceptEncoding] == "\(ContentCoding.accepted), dcz")
    }

    @Test("D15: a dictionary that is stored in a coding is named by its decoded content")
    func encodedDictionary() async throws {
        let encoded = try await Encoder.zstd.encode(versions.first)
        let transport = versions.origin { request in
            guard request.path == "/v1.js" else { return nil }
            var fields = Versions.fresh
            fields[.contentEncoding] = "zstd"
            return Versions.reply(fields, encoded)
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.loader.load("https://example.com/v1.js")
        #expect(try await fixture.loader.load("https://example.com/v2.js").data == versions.second)
        #expect(offered(transport) == [nil, versions.hash])
    }

    @Test(
        "D12, D13, D18: without a dictionary no field and no coding is sent",
        arguments: [
            "policy", "path", "origin", "partition", "stale", "user", "range", "digests", "shared", "insecure",
            "transport",
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
        if reason == "stale" { fixture.clock.advance(by: 601) }
        var request = HTTPRequest.to(reason == "path" ? "/w2.js" : "/v2.js", [.acceptEncoding: "gzip"])
        if reason == "insecure" { request.scheme = "http" }
        if reason == "origin" { request.authority = "example.org" }
        if reason == "user" { request.headerFields[.authorization] = "two" }
        if reason == "range" { request.headerFields[.range] = "bytes=0-9" }
        _ = try await fixture.cache.response(for: request).bytes
        let sent = try #require(transport.requests.last)
        #expect(sent.headerFields[.availableDictionary] == nil && sent.headerFields[.dictionaryID] == nil)
        #expect(sent.headerFields[.acceptEncoding] == "gzip")
    }

    @Test("D13: a user's own response is a dictionary for the user")
    func sameUser() async throws {
        let transport = versions.origin()
        let fixture = try LoaderFixture(transport: transport, policy: using)
        for path in ["/v1.js", "/v2.js"] {
            _ = try await fixture.cache.response(for: .to(path, [.authorization: "one"])).bytes
        }
        #expect(offered(transport) == [nil, versions.hash])
    }

    @Test("D18: a client with a dictionary of its own gets the coding as it is")
    func ownDictionary() async throws {
        let transport = versions.origin()
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        let own: HTTPFields = [.acceptEncoding: "dcz", .availableDictionary: versions.hash]
        let response = try await fixture.cache.response(for: .to("/v2.js", own))
        #expect(response.headerFields[.contentEncoding] == "dcz")
        #expect(try await response.bytes == versions.difference)
        #expect(transport.requests.last?.headerFields[.acceptEncoding] == "dcz")
    }

    @Test("D14 RFC 9842 §2.2.3: the longest pattern is offered, then the latest response")
    func precedence() async throws {
        let transport = ScriptedTransport { request, _ in
            let match = request.path == "/long" ? "/v2*" : "/v*"
            return .reply(
                200, [.cacheControl: "max-age=600", .useAsDictionary: "match=\"\(match)\""], request.path ?? "")
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        func load(_ path: String) async throws {
            _ = try await fixture.cache.response(for: .to(path)).bytes
            fixture.clock.advance(by: 1)
        }
        for path in ["/long", "/old", "/new", "/v3", "/v2"] { try await load(path) }
        let hashes = ["/new", "/long"].map { Versions.hash(of: Data($0.utf8)) }
        #expect(offered(transport) == [nil, nil, nil, hashes[0], hashes[1]])
    }

    @Test("D16: a body with another dictionary leads to one request without")
    func otherDictionary() async throws {
        let other = try await Versions.encode(versions.second, with: Data("another dictionary".utf8))
        let transport = versions.origin { request in
            request.headerFields[.availableDictionary] == nil ? nil : Versions.reply(Versions.vary, other)
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        #expect(try await fixture.cache.response(for: .to("/v2.js")).bytes == versions.second)
        #expect(offered(transport) == [nil, versions.hash, nil])
        #expect(try await fixture.cache.response(for: .to("/v2.js")).source == .disk)
    }

    @Test("D16: a damaged body fails, and is not stored", arguments: ["short", "changed", "longer"])
    func damaged(damage: String) async throws {
        var body = versions.difference
        switch damage {
        case "short": body.removeLast(10)
        case "changed": body[body.count / 2] ^= 0x40
        default: body += Data("rest".utf8)
        }
        let transport = versions.origin { [body] request in
            request.headerFields[.availableDictionary] == nil ? nil : Versions.reply(Versions.vary, body)
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        let response = try await fixture.cache.response(for: .to("/v2.js"))
        await #expect(throws: LoadError.self) { try await response.bytes }
        #expect(try !fixture.store.contains(CacheKey(url: "https://example.com/v2.js")))
    }

    @Test("D16: a body is decoded in chunks of any length", arguments: [1, 39, 41, 1_000])
    func chunks(length: Int) async throws {
        let transport = versions.origin { request in
            guard request.headerFields[.availableDictionary] != nil else { return nil }
            return Versions.reply(Versions.vary, versions.difference, pieces: length)
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        #expect(try await fixture.cache.response(for: .to("/v2.js")).bytes == versions.second)
        #expect(transport.requestCount == 2)
    }

    @Test("D16: the limit of a body counts decoded bytes")
    func limit() async throws {
        let fixture = try LoaderFixture(transport: versions.origin(), policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        let limit = Int64(versions.second.count) - 1
        fixture.cache.configuration.maxBodyBytes = limit
        let response = try await fixture.cache.response(for: .to("/v2.js"))
        await #expect(throws: LoadError.bodyTooLarge(url: "https://example.com/v2.js", limit: limit)) {
            try await response.bytes
        }
    }

    @Test("D17: a dictionary that is evicted while the origin answers stays readable", arguments: [false, true])
    func evictedBeforeReply(isEncoded: Bool) async throws {
        let encoded = try await Encoder.zstd.encode(versions.first)
        let evict = Mutex<(@Sendable () async -> Void)?>(nil)
        let transport = ScriptedTransport { [versions] request, _ in
            guard request.headerFields[.availableDictionary] != nil else {
                var fields = Versions.fresh
                if isEncoded { fields[.contentEncoding] = "zstd" }
                return Versions.reply(fields, isEncoded ? encoded : versions.first)
            }
            await evict.withLock { $0 }?()
            return Versions.reply(Versions.vary, versions.difference)
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        for path in ["/v2.js", "/v3.js"] {
            if path == "/v3.js" {
                // The digest is known by now; the bytes are not in memory.
                evict.withLock { $0 = { [store = fixture.store] in _ = try? await store.removeAll(.everything) } }
            }
            #expect(try await fixture.cache.response(for: .to(path)).bytes == versions.second)
        }
        #expect(offered(transport) == [nil, versions.hash, versions.hash])
        #expect(try !fixture.store.contains(CacheKey(url: "https://example.com/v1.js")))
    }

    @Test("D17: a dictionary that is evicted while a response needs it stays readable")
    func evicted() async throws {
        let fed = FedBody()
        let transport = versions.origin { request in
            request.headerFields[.availableDictionary] == nil ? nil : fed.response(.ok, Versions.vary)
        }
        let fixture = try LoaderFixture(transport: transport, policy: using)
        _ = try await fixture.cache.response(for: .to("/v1.js")).bytes
        fed.feed(Data(versions.difference.prefix(50)))
        let response = try await fixture.cache.response(for: .to("/v2.js"))
        try await fixture.store.removeAll(.everything)
        #expect(try fixture.blobs.isEmpty)
        fed.feed(Data(versions.difference.dropFirst(50)))
        fed.end()
        #expect(try await response.bytes == versions.second)
    }
}
#endif

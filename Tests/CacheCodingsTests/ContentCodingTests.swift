import CacheCodings
import TestSupport

@Suite("Content codings")
struct ContentCodingTests {
    private static let text = Data("hello, hello, hello".utf8)
    private static let gzip = Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11HIQKIAn6HKCRMAAAA=") ?? Data()
    private static let zlib = Data(base64Encoded: "eJzLSM3JyddRyECiAEQoBtU=") ?? Data()
    private static let raw = Data(base64Encoded: "y0jNycnXUchAogA=") ?? Data()
    /// zlib, and gzip around it.
    private static let both = Data(base64Encoded: "H4sIAAAAAAACA6uYc9rj7MmT1wNPOCxicNFguwoAT5FK0BEAAAA=") ?? Data()

    private func decode(_ data: Data, _ codings: String..., limit: Int64 = 1_000) throws(ContentDecodingError) -> Data?
    {
        let fields = HTTPFields(codings.map { HTTPField(name: .contentEncoding, value: $0) })
        return try ContentCoding.decode(data, fields, limit: limit)
    }

    @Test("RFC 9110 §8.4.1: gzip and deflate, with and without its wrapper, in any spelling")
    func known() throws {
        for name in ["gzip", "GZip", "x-gzip", " gzip ", "identity, gzip", "gzip,"] {
            #expect(try decode(Self.gzip, name) == Self.text, "\(name)")
        }
        #expect(try decode(Self.zlib, "deflate") == Self.text)
        #expect(try decode(Self.raw, "deflate") == Self.text)
        #expect(try decode(Self.both, "deflate, gzip") == Self.text)
        #expect(try decode(Self.both, "deflate", "gzip") == Self.text)
        #expect(try decode(Self.gzip + Self.gzip, "gzip") == Self.text + Self.text, "two members")
        #expect(try decode(Self.gzip + Data("rest".utf8), "gzip") == Self.text)
        #expect(try decode(Data(), "gzip") == nil)
    }

    @Test(
        "A body in no coding, in an unknown one, or in more than five stays unchanged",
        arguments: ["", "identity", "x-other", "gzip, x-other", "gzip, gzip, gzip, gzip, gzip, gzip"])
    func others(codings: String) throws {
        #expect(try decode(Self.gzip, codings) == nil)
    }

    @Test("A truncated or invalid body throws, wherever the damage is")
    func malformed() throws {
        for count in 1..<Self.gzip.count {
            #expect(throws: ContentDecodingError.malformed(coding: "gzip")) {
                try decode(Self.gzip.prefix(count), "gzip")
            }
        }
        #expect(throws: ContentDecodingError.malformed(coding: "deflate")) { try decode(Self.text, "deflate") }
        var generator = SeededGenerator()
        for _ in 0..<2_000 {
            var damaged = Self.gzip
            let index = damaged.indices.randomElement(using: &generator) ?? 0
            damaged[index] = .random(in: .min ... .max, using: &generator)
            // Unused bits of the header may differ; bytes of the text may not.
            if let decoded = try? decode(damaged, "gzip") { #expect(decoded == Self.text, "\(generator)") }
        }
    }

    @Test("Few bytes that expand beyond the limit throw, before they take memory")
    func bomb() throws {
        #expect(throws: ContentDecodingError.tooLarge(limit: 18)) { try decode(Self.gzip, "gzip", limit: 18) }
        #expect(try decode(Self.gzip, "gzip", limit: 19) == Self.text)
        let bomb = Data(repeating: 0, count: 1) + Self.gzip
        #expect(throws: ContentDecodingError.self) { try decode(bomb, "gzip") }
        var members = Data()
        for _ in 0..<10_000 { members += Self.gzip }
        #expect(throws: ContentDecodingError.tooLarge(limit: 1_000)) { try decode(members, "gzip") }
    }

    @Test("Decodes a body as it arrives, in chunks of any length", arguments: 1...20)
    func chunks(length: Int) throws {
        for (data, coding, text) in [
            (Self.gzip, "gzip", Self.text), (Self.zlib, "deflate", Self.text), (Self.raw, "deflate", Self.text),
            (Self.both, "deflate, gzip", Self.text), (Self.gzip + Self.gzip, "gzip", Self.text + Self.text),
            (Self.gzip + Data([0x1F]), "gzip", Self.text), (Self.gzip + Data("rest".utf8), "gzip", Self.text),
            (Data([3, 0]), "deflate", Data()),
        ] {
            let fields: HTTPFields = [.contentEncoding: coding]
            for count in [data.count, data.count - 1] {
                let decoder = try #require(ContentDecoder(fields, limit: 1_000))
                var (rest, decoded) = (data.prefix(count), Data())
                while !rest.isEmpty {
                    decoded += try decoder.decode(Data(rest.prefix(length)))
                    rest = rest.dropFirst(length)
                }
                let isWhole = (try? decoder.finish()) != nil
                #expect(text.starts(with: decoded))
                if count == data.count {
                    #expect(isWhole, "\(coding)")
                    #expect(decoded == text, "\(coding)")
                }
                if isWhole { #expect(decoded == text, "\(coding), without the last byte") }
            }
        }
        #expect(try decode(Data([3, 0]), "deflate") == Data())
        let decoder = try #require(ContentDecoder([.contentEncoding: "gzip"], limit: 18))
        #expect(throws: ContentDecodingError.tooLarge(limit: 18)) { _ = try decoder.decode(Self.gzip) }
        let unused = try #require(ContentDecoder([.contentEncoding: "gzip"], limit: 18))
        try unused.finish()
    }

    @Test("Decodes a chunk in steps, through all its codings")
    func pieces() throws {
        let decoder = try #require(ContentDecoder([.contentEncoding: "deflate, gzip"], limit: 1_000))
        var decoded = Data()
        for chunk in [Self.both.prefix(9), Self.both.dropFirst(9)] {
            decoder.append(chunk)
            while let piece = try decoder.next() { decoded += piece }
        }
        try decoder.finish()
        #expect(decoded == Self.text)
    }

    private func decodeStart(
        _ data: Data, _ codings: String..., limit: Int64 = 1_000
    ) -> (bytes: Data, isWhole: Bool)? {
        let fields = HTTPFields(codings.map { HTTPField(name: .contentEncoding, value: $0) })
        return ContentCoding.decodeStart(of: data, fields, limit: limit)
    }

    @Test("Decodes the start of a body up to a limit, and up to the end of truncated data")
    func start() throws {
        for (data, coding) in [(Self.gzip, "gzip"), (Self.zlib, "deflate"), (Self.raw, "deflate")] {
            let whole = try #require(decodeStart(data, coding))
            #expect(whole.bytes == Self.text)
            #expect(whole.isWhole)
            for limit in 1..<Self.text.count {
                let start = try #require(decodeStart(data, coding, limit: Int64(limit)))
                #expect(start.bytes == Self.text.prefix(limit), "\(coding), \(limit) bytes")
                #expect(!start.isWhole, "\(coding), \(limit) bytes")
            }
            for count in 1..<data.count {
                guard let start = decodeStart(data.prefix(count), coding) else { continue }
                #expect(Self.text.starts(with: start.bytes), "\(coding), \(count) bytes")
                #expect(!start.isWhole, "\(coding), \(count) bytes")
            }
        }
        let both = try #require(decodeStart(Self.both, "deflate, gzip"))
        #expect(both.bytes == Self.text)
        #expect(both.isWhole)
        let cut = try #require(decodeStart(Self.gzip.dropLast(8), "gzip"))
        #expect(cut.bytes == Self.text)
        #expect(!cut.isWhole)
        let members = try #require(decodeStart(Self.gzip + Self.gzip, "gzip", limit: 30))
        #expect(members.bytes == (Self.text + Self.text).prefix(30))
        #expect(!members.isWhole)
    }

    @Test("Decodes no start of a body in an unknown coding, or of one that is damaged from the first byte")
    func noStart() {
        for codings in ["", "identity", "x-other", "gzip, x-other"] {
            #expect(decodeStart(Self.gzip, codings) == nil, "\(codings)")
        }
        #expect(decodeStart(Data(), "gzip") == nil)
        #expect(decodeStart(Self.text, "gzip") == nil)
    }

    @Test("Accept-Encoding names exactly the codings that this build decodes", .requirement("E11"))
    func accepted() {
        var names = ["gzip", "deflate"]
        #if Brotli
        names.append("br")
        #endif
        #if Zstd
        names.append("zstd")
        #endif
        #expect(ContentCoding.accepted == names.joined(separator: ", "))
        for name in ["gzip", "deflate", "br", "zstd", "dcb", "dcz"] {
            #expect(ContentCoding.isKnown([.contentEncoding: name]) == names.contains(name), "\(name)")
        }
    }

    @Test("A loader requests the codings, stores the received bytes, and delivers the decoded ones")
    func loading() async throws {
        let transport = ScriptedTransport { _, _ in
            TransportResponse(
                head: HTTPResponse(
                    status: .ok,
                    headerFields: [
                        .cacheControl: "max-age=60", .contentEncoding: "gzip", .contentLength: "\(Self.gzip.count)",
                        .vary: "Accept-Encoding", .contentDigest: "sha-256=:AA==:", .reprDigest: "sha-256=:AA==:",
                    ]), body: TransportBody(Self.gzip))
        }
        let fixture = try LoaderFixture(transport: transport)
        let url = "https://example.com/a"
        for source in [ResponseSource.network, .disk] {
            let loaded = try await fixture.loader.load(url)
            #expect(loaded.source == source)
            #expect(loaded.data == Self.text)
            #expect(loaded.headerFields[.contentEncoding] == nil)
            #expect(loaded.headerFields[.contentLength] == nil)
            // RFC 9530 §6.5: digests cover encoded bytes.
            #expect(loaded.headerFields[.contentDigest] == nil)
            #expect(loaded.headerFields[.reprDigest] == nil)
        }
        #expect(transport.requests.map { $0.headerFields[.acceptEncoding] } == [ContentCoding.accepted])
        #expect(try fixture.loader.peek(url) == Self.text)
        #expect(try fixture.blobs.map(\.bytes) == [Self.gzip])
        fixture.loader.configuration.decodesContent = false
        let raw = try await fixture.loader.load(
            ResourceRequest(url, headerFields: [.acceptEncoding: ContentCoding.accepted]))
        #expect(raw.data == Self.gzip)
        #expect(raw.source == .disk)
    }

    @Test("The limit of a body in memory counts decoded bytes", .requirement("D5"), arguments: [18, 19] as [Int64])
    func limitInMemory(limit: Int64) async throws {
        let transport = ScriptedTransport([
            .reply(200, [.contentEncoding: "gzip", .cacheControl: "max-age=60"], body: Self.gzip)
        ])
        let fixture = try LoaderFixture(transport: transport) { $0.maxDecodedBytes = limit }
        let url = "https://example.com/a"
        do throws(LoadError) {
            #expect(try await fixture.loader.load(url).data == Self.text)
            #expect(limit == 19)
        } catch {
            #expect(error == .bodyTooLarge(url: url, limit: 18))
        }
    }
}

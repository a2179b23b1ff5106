#if Brotli || Zstd
import CacheCodings
import TestSupport

@Suite("Codings: bodies of the tools brotli and zstd", .enabled(if: Encoder.areInstalled), .timeLimit(.minutes(5)))
struct EncoderTests {
    private static let sentence = Data("hello, hello, hello".utf8)

    /// Texts that compress to nothing, well, and not at all. The last two exceed the decoder's buffer.
    private static let texts = [
        Data(), sentence, Data((0..<20_000).flatMap { "line \($0)\n".utf8 }), Data.noise(300_000, seed: 1),
    ]

    private func decode(
        _ data: Data, _ coding: String, limit: Int64 = 10_000_000, chunk: Int = .max
    ) throws -> Data {
        let decoder = try #require(ContentDecoder([.contentEncoding: coding], limit: limit))
        var (rest, decoded) = (data, Data())
        while !rest.isEmpty {
            decoded += try decoder.decode(Data(rest.prefix(chunk)))
            rest = rest.dropFirst(min(chunk, rest.count))
        }
        try decoder.finish()
        return decoded
    }

    private func malformed(_ encoder: Encoder) -> ContentDecodingError { .malformed(coding: encoder.coding) }

    @Test("Decodes every level of the tool, in chunks of any length", .requirement("E13"), arguments: Encoder.allCases)
    func levels(_ encoder: Encoder) async throws {
        for level in encoder.levels {
            for text in Self.texts {
                let encoded = try await encoder.encode(text, level)
                for chunk in [1, 7, 4_096, Int.max] where chunk > 1 || encoded.count < 100_000 {
                    #expect(try decode(encoded, encoder.coding, chunk: chunk) == text, "\(level), \(chunk)")
                }
            }
        }
    }

    @Test("Removes a coding inside another", .requirement("E13"), arguments: Encoder.allCases)
    func nested(_ encoder: Encoder) async throws {
        let once = try await encoder.encode(Self.texts[2])
        for other in Encoder.allCases {
            let twice = try await other.encode(once)
            #expect(try decode(twice, "\(encoder.coding), \(other.coding)", chunk: 100) == Self.texts[2])
        }
    }

    @Test("Bytes that expand beyond the limit throw early", .requirement("E13"), arguments: Encoder.allCases)
    func bomb(_ encoder: Encoder) async throws {
        let encoded = try await encoder.encode(Data(count: 20_000_000))
        #expect(encoded.count < 20_000)
        #expect(throws: ContentDecodingError.tooLarge(limit: 1_000_000)) {
            try decode(encoded, encoder.coding, limit: 1_000_000)
        }
        let fields: HTTPFields = [.contentEncoding: encoder.coding]
        let start = try #require(ContentCoding.decodeStart(of: encoded, fields, limit: 1_000_000))
        #expect(start.bytes.count == 1_000_000)
        #expect(!start.isWhole)
        let hello = try await encoder.encode(Self.sentence)
        let count = Int64(Self.sentence.count)
        #expect(try decode(hello, encoder.coding, limit: count) == Self.sentence)
        #expect(throws: ContentDecodingError.tooLarge(limit: count - 1)) {
            try decode(hello, encoder.coding, limit: count - 1)
        }
    }

    #if Brotli
    @Test("Decodes all output of the received bytes, even beyond the buffer's length", .requirement("E13"))
    func output() async throws {
        let encoded = try await Encoder.brotli.encode(Self.texts[3])
        let decoder = try #require(ContentDecoder([.contentEncoding: "br"], limit: .max))
        let decoded = try decoder.decode(encoded.prefix(200_000))
        #expect(decoded.count > 199_000)
        #expect(Self.texts[3].starts(with: decoded))
    }
    #endif

    @Test("Refuses a window that the content coding does not allow", .requirement("E14"), arguments: Encoder.allCases)
    func window(_ encoder: Encoder) async throws {
        // The tool does not know the length of its input, and so announces the whole window.
        let encoded = try await encoder.encode(Self.texts[2], encoder.largeWindow)
        #expect(throws: malformed(encoder)) { try decode(encoded, encoder.coding) }
    }

    @Test("A body that is too short or too long is malformed", .requirement("E15"), arguments: Encoder.allCases)
    func incomplete(_ encoder: Encoder) async throws {
        let encoded = try await encoder.encode(Self.sentence)
        for count in 1..<encoded.count {
            #expect(throws: malformed(encoder), "\(count) bytes") { try decode(encoded.prefix(count), encoder.coding) }
        }
        #expect(throws: malformed(encoder)) { try decode(encoded + Data("rest".utf8), encoder.coding) }
        #expect(throws: malformed(encoder)) { try decode(encoded + Data("rest".utf8), encoder.coding, chunk: 1) }
    }

    @Test("Damaged bytes are decoded within the limit or refused", .requirement("E15"), arguments: Encoder.allCases)
    func random(_ encoder: Encoder) async throws {
        let encoded = try await encoder.encode(Self.texts[2])
        var generator = SeededGenerator()
        for _ in 0..<2_000 {
            var damaged = encoded
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<damaged.count, using: &generator)
                damaged[index] = .random(in: .min ... .max, using: &generator)
            }
            let limit: Int64 = 1_000_000
            let decoded = try? decode(damaged, encoder.coding, limit: limit, chunk: 5_000)
            #expect(decoded.map { $0.count <= limit } ?? true, "\(generator)")
            let noise = Data((0..<200).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
            _ = try? decode(encoded.prefix(12) + noise, encoder.coding, limit: limit)
        }
    }

    @Test("Stores a body as received; decodes only values", .requirement("E12"), arguments: Encoder.allCases)
    func storing(_ encoder: Encoder) async throws {
        let text = Self.texts[2]
        let encoded = try await encoder.encode(text)
        let digest = ContentDigest(of: encoded).withUnsafeBytes { Data($0) }.base64EncodedString()
        let transport = ScriptedTransport { _, _ in
            .init(
                head: HTTPResponse(
                    status: .ok,
                    headerFields: [
                        .cacheControl: "max-age=60", .contentEncoding: encoder.coding, .eTag: "\"1\"",
                        .vary: "Accept-Encoding", .reprDigest: "sha-256=:\(digest):",
                    ]), body: TransportBody(encoded))
        }
        let fixture = try LoaderFixture(transport: transport, policy: CachePolicy(verifiesDigests: true))
        let loaded = try await fixture.loader.load("https://example.com/a")
        #expect(loaded.data == text)
        #expect(loaded.headerFields[.contentEncoding] == nil)
        #expect(try fixture.blobs.map(\.bytes) == [encoded])
        let accepting: HTTPFields = [.acceptEncoding: ContentCoding.accepted]
        let whole = try await fixture.cache.response(for: .to("/a", accepting))
        #expect(whole.source == .disk)
        #expect(whole.headerFields[.contentEncoding] == encoder.coding)
        #expect(try await whole.bytes == encoded)
        var ranged = accepting
        ranged[.range] = "bytes=3-9"
        let range = try await fixture.cache.response(for: .to("/a", ranged))
        #expect(range.source == .disk)
        #expect(range.headerFields[.contentEncoding] == encoder.coding)
        #expect(try await range.bytes == encoded[3..<10])
        #expect(transport.requestCount == 1)
    }

    #if Zstd
    @Test("Decodes output that the library holds without further input", .requirement("E13"))
    func heldOutput() async throws {
        // Three blocks of 128 KiB, each longer than the buffer. The last block has four bytes: a header and a zero.
        let encoded = try await Encoder.zstd.encode(Data(count: 393_216), ["--no-check"])
        let decoder = try #require(ContentDecoder([.contentEncoding: "zstd"], limit: .max))
        #expect(try decoder.decode(encoded.dropLast(4)).count == 262_144)
        #expect(try decoder.decode(encoded.suffix(4)).count == 131_072)
        try decoder.finish()
    }

    @Test("Several frames and skippable ones are one body", .requirement("E15"))
    func frames() async throws {
        let (one, two) = (try await Encoder.zstd.encode(Self.sentence), try await Encoder.zstd.encode(Self.texts[2]))
        // RFC 8878 §3.1.2: magic number, length, and ignored bytes.
        let skippable = Data([0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3])
        for chunk in [1, 1_000, Int.max] {
            #expect(try decode(one + skippable + two, "zstd", chunk: chunk) == Self.sentence + Self.texts[2])
        }
    }
    #endif
}
#endif

#if Zstd
import CacheCodings
import TestSupport

extension HTTPField.Name {
    static var availableDictionary: Self { HTTPField.Name("Available-Dictionary") ?? .via }
    static var dictionaryID: Self { HTTPField.Name("Dictionary-ID") ?? .via }
    static var useAsDictionary: Self { HTTPField.Name("Use-As-Dictionary") ?? .via }
}

/// Two versions of a script, and the second version in each coding with the first as its dictionary.
struct DictionaryVersions: Sendable {
    static let fresh: HTTPFields = [.cacheControl: "max-age=600", .useAsDictionary: "match=\"/v*.js\", id=\"one\""]

    static func fields(_ coding: DictionaryCoding) -> HTTPFields {
        [
            .cacheControl: "max-age=600", .contentEncoding: coding.rawValue,
            .vary: "Accept-Encoding, Available-Dictionary", .eTag: "\"2\"",
        ]
    }

    let first = Data((0..<20_000).flatMap { "line \($0) \($0 &* 2_654_435_761 % 1_000_003)\n".utf8 })
    let second: Data
    /// 17 MiB of zeros, then the end of the first version: the window cannot hold both.
    var tall: Data { Data(count: 17 << 20) + Data(first.dropFirst(200_000)) }
    let hash: String
    private let dcz: Data

    init() async throws {
        second = Data(first.prefix(100_000)) + Data("changed\n".utf8) + Data(first.dropFirst(120_000))
        dcz = try await Self.encode(second, with: first, .zstd)
        hash = Self.hash(of: first)
    }

    /// The second version as its difference from the first. The dcb bodies, here and below, were recorded from `brotli
    /// -D first -q 11 -w 24` of version 1.2.1: the tool of Debian 12 does not support dictionaries.
    func difference(_ coding: DictionaryCoding) -> Data {
        coding == .dcz ? dcz : Self.dcb("Xx38hF8qja0Keay6OmuWX0A7qR/wl7YB8D4=", with: first)
    }

    /// The tall body in dcb, with a window of 16 MiB.
    func tallDifference() -> Data { Self.dcb("z///f/gnAOKxQCD3/j/reSTwTwDEYQVAb7r3D2BpBEYeAQ==", with: first) }

    /// The second version in dcb with `--large_window=26` instead of `-w`.
    func largeWindow() -> Data { Self.dcb("EVp18BN+qTS2KuSx6spZZvkFtJP6AX9pGwDvAw==", with: first) }

    private static func dcb(_ stream: String, with dictionary: Data) -> Data {
        header([0xFF, 0x44, 0x43, 0x42], dictionary) + (Data(base64Encoded: stream) ?? Data())
    }

    /// Returns the header of `dcb` or `dcz` (RFC 9842 §4, §5).
    private static func header(_ magic: [UInt8], _ dictionary: Data) -> Data {
        Data(magic) + ContentDigest(of: dictionary).withUnsafeBytes { Data($0) }
    }

    static func hash(of data: Data) -> String {
        ":\(ContentDigest(of: data).withUnsafeBytes { Data($0) }.base64EncodedString()):"
    }

    /// Returns the data that a tool encodes with a dictionary.
    static func encode(
        _ data: Data, with dictionary: Data, _ encoder: Encoder, _ options: [String] = []
    ) async throws -> Data {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "dictionary")
        try dictionary.write(to: file)
        let encoded = try await encoder.encode(data, options + ["-D", file.path(percentEncoded: false)])
        let magic: [UInt8] =
            encoder == .zstd ? [0x5E, 0x2A, 0x4D, 0x18, 0x20, 0, 0, 0] : [0xFF, 0x44, 0x43, 0x42]
        return header(magic, dictionary) + encoded
    }

    /// An origin that sends the difference to a client with the first version.
    func origin(
        _ coding: DictionaryCoding = .dcz, _ answer: (@Sendable (HTTPRequest) -> TransportResponse?)? = nil
    ) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            if let response = answer?(request) { return response }
            guard request.path == "/v2.js" else { return Self.reply(Self.fresh, first) }
            let accepts = request.headerFields[.acceptEncoding]?.contains(coding.rawValue) == true
            guard accepts, request.headerFields[.availableDictionary] == hash else {
                return Self.reply([.cacheControl: "max-age=600"], second)
            }
            return Self.reply(Self.fields(coding), difference(coding))
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
#endif

package import CacheFoundation
package import HTTPCaching

/// The content codings that this library decodes (RFC 9110 §8.4.1). The traits `Brotli` and `Zstd` of the package add
/// their codings.
///
/// The module `CacheCodings` removes content codings, from a whole body or while it arrives. The module may use zlib
/// and, with their traits, libbrotli and libzstd. The module knows no store, no request and no transport.
package enum ContentCoding: String, Sendable, CaseIterable {
    case gzip
    case deflate
    #if canImport(CBrotli)
    /// RFC 7932.
    case br
    #endif
    #if canImport(CZstd)
    /// RFC 8878, RFC 9659.
    case zstd
    #endif

    /// The `Accept-Encoding` of requests (RFC 9110 §12.5.3).
    package static let accepted = allCases.map(\.rawValue).joined(separator: ", ")

    /// RFC 9110 §8.4.1.3: "x-gzip" is equivalent to "gzip". Names are case-insensitive.
    private init?(name: Substring) {
        let name = name.lowercased()
        self.init(rawValue: name == "x-gzip" ? "gzip" : name)
    }

    /// Decodes the codings that `Content-Encoding` names. `limit` is the largest length of the decoded body in bytes: a
    /// few encoded bytes can expand to any length. Returns `nil` for an empty body, and for fields with no coding or an
    /// unknown one. The caller then keeps the body and the fields unchanged.
    package static func decode(
        _ data: Data, _ fields: HTTPFields, limit: Int64
    ) throws(ContentDecodingError) -> Data? {
        guard !data.isEmpty, let decoder = ContentDecoder(fields, limit: limit) else { return nil }
        let decoded = try decoder.decode(data)
        try decoder.finish()
        return decoded
    }

    /// Decodes the start of a body, which may be incomplete. Returns up to `limit` bytes, and whether these are the
    /// whole body. The limit also applies to each inner coding. Returns `nil` for a body without a known coding, and
    /// when no byte can be decoded.
    package static func decodeStart(
        of data: Data, _ fields: HTTPFields, limit: Int64
    ) -> (bytes: Data, isWhole: Bool)? {
        guard let codings = codings(fields), !data.isEmpty else { return nil }
        var (bytes, isWhole) = (data, true)
        for coding in codings.reversed() {
            let decoded = coding.makeDecompressor(limit: limit).start(of: bytes)
            guard decoded.isWhole || !decoded.bytes.isEmpty else { return nil }
            bytes = decoded.bytes
            isWhole = isWhole && decoded.isWhole
        }
        return (bytes, isWhole)
    }

    /// Returns whether the fields name at least one coding, and only known ones.
    package static func isKnown(_ fields: HTTPFields) -> Bool { codings(fields) != nil }

    /// The maximum number of nested codings to decode. Each one needs its own buffers; servers apply one, rarely two.
    private static let maxCount = 5

    /// Returns the codings in the order of the fields. Returns `nil` for no coding, an unknown one or too many.
    static func codings(_ fields: HTTPFields) -> [ContentCoding]? {
        guard fields.contains(.contentEncoding) else { return nil }
        let names = fields[values: .contentEncoding].joined(separator: ",").split(separator: ",")
            .map { Substring($0.trimmingPrefix { $0 == " " || $0 == "\t" }) }
            .map { name in name.prefix { $0 != " " && $0 != "\t" } }
            .filter { !$0.isEmpty && $0.lowercased() != "identity" }
        let codings = names.compactMap(Self.init(name:))
        return codings.isEmpty || codings.count < names.count || codings.count > maxCount ? nil : codings
    }

    /// `limit` is the largest length of the decoded body in bytes.
    func makeDecompressor(limit: Int64) -> any Decompressor {
        switch self {
        case .gzip: return Inflater(.gzip, limit: limit)
        case .deflate: return Inflater(.zlibOrNone, limit: limit)
        #if canImport(CBrotli)
        case .br: return BrotliDecompressor(limit: limit)
        #endif
        #if canImport(CZstd)
        case .zstd: return ZstdDecompressor(limit: limit)
        #endif
        }
    }
}

#if canImport(CBrotli)
internal import CBrotli
#endif
package import CacheFoundation

/// The content codings of bodies that are compressed with a dictionary (RFC 9842).
package enum DictionaryCoding: String, Sendable, CaseIterable {
    /// Brotli (§4). Needs the trait `Brotli` and libbrotli 1.1.
    case dcb
    /// Zstandard (§5). Needs the trait `Zstd`.
    case dcz

    /// The codings that this build decodes.
    package static let supported: [DictionaryCoding] = {
        var codings: [DictionaryCoding] = []
        #if canImport(CBrotli)
        if cbrotli_has_dictionaries() { codings.append(.dcb) }
        #endif
        #if canImport(CZstd)
        codings.append(.dcz)
        #endif
        return codings
    }()

    /// The bytes before the digest of the dictionary.
    private var magic: [UInt8] {
        switch self {
        case .dcb: [0xFF, 0x44, 0x43, 0x42]
        case .dcz: [0x5E, 0x2A, 0x4D, 0x18, 0x20, 0, 0, 0]
        }
    }

    /// Returns the header of a body that is compressed with a dictionary, whose SHA-256 is `digest`.
    package func header(digest: Data) -> Data { Data(magic) + digest }

    /// Returns a decompressor of the bytes after the header, or `nil` when this build has none.
    package func makeStep(dictionary: Data) -> DecompressionStep? {
        makeDecompressor(dictionary: dictionary).map { DecompressionStep($0) }
    }

    private func makeDecompressor(dictionary: Data) -> (any Decompressor)? {
        switch self {
        case .dcb:
            #if canImport(CBrotli)
            return BrotliDecompressor(dictionary: dictionary)
            #else
            return nil
            #endif
        case .dcz:
            #if canImport(CZstd)
            return ZstdDecompressor(dictionary: dictionary)
            #else
            return nil
            #endif
        }
    }
}

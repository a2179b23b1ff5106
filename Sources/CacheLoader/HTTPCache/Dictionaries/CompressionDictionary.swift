#if canImport(CZstd)
internal import CacheStore
internal import HTTPTypes

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A stored response whose bytes help to decompress another one (RFC 9842).
///
/// Holds the open body: the dictionary stays readable after its entry is evicted.
struct CompressionDictionary: Sendable {
    /// The largest dictionary in bytes, which a reply that needs it holds in memory.
    static let maxByteCount: Int64 = 16 << 20

    let id: String
    /// The SHA-256 of the bytes.
    let digest: ContentDigest
    /// Returns the bytes; `nil` if they cannot be read. May take long.
    let read: @Sendable () -> Data?

    /// Adds the fields that offer the dictionary to the origin (RFC 9842 §2.2, §2.3, §6.1).
    func offer(in request: inout HTTPRequest) {
        let accepted = request.headerFields[.acceptEncoding].map { "\($0), " } ?? ""
        request.headerFields[.acceptEncoding] = accepted + DictionaryHeader.coding
        let hash = digest.withUnsafeBytes { Data($0) }.base64EncodedString()
        if let name = HTTPField.Name("Available-Dictionary") { request.headerFields[name] = ":\(hash):" }
        guard !id.isEmpty, let name = HTTPField.Name("Dictionary-ID") else { return }
        let escaped = id.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        request.headerFields[name] = "\"\(escaped)\""
    }
}

/// The fixed header of a body in the coding `dcz` (RFC 9842 §5).
enum DictionaryHeader {
    static let coding = "dcz"
    static let byteCount = 40
    private static let magic: [UInt8] = [0x5E, 0x2A, 0x4D, 0x18, 0x20, 0, 0, 0]

    /// Whether a header names the dictionary with this digest.
    static func names(_ digest: ContentDigest, in header: Data) -> Bool {
        header.count == byteCount && header.starts(with: magic)
            && digest.withUnsafeBytes { header.suffix(32).elementsEqual($0) }
    }
}
#endif

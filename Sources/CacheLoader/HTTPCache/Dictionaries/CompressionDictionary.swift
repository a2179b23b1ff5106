internal import CacheFoundation
internal import CacheStore
internal import HTTPCaching
internal import HTTPTypes

/// A stored response whose bytes help to decompress another one (RFC 9842).
///
/// Holds the open body: the dictionary stays readable after its entry is evicted.
struct CompressionDictionary: Sendable {
    /// The largest dictionary in bytes, which a reply that needs it holds in memory.
    static let maxByteCount: Int64 = 16 << 20

    /// The stored response.
    let entry: StoredEntry
    let id: String
    /// The SHA-256 of the bytes.
    let digest: ContentDigest
    /// Returns the bytes, unverified; `nil` if they cannot be read.
    let read: @Sendable () -> Data?

    /// Returns the bytes; `nil` if they cannot be read, or have another digest. May take long.
    ///
    /// RFC 9842 §2.1.3: "The dictionary hash MUST be validated before use". The store verifies bodies as its
    /// configuration asks for, and before it opens them.
    func content() -> Data? {
        read().flatMap { ContentDigest(of: $0) == digest ? $0 : nil }
    }
}

extension HTTPRequest {
    /// Adds the fields that offer a dictionary to the origin (RFC 9842 §2.2, §2.3, §6.1).
    ///
    /// - Parameters:
    ///   - id: The `id` that the server gave it; empty for none.
    ///   - digest: The SHA-256 of its bytes.
    mutating func offerDictionary(id: String, _ digest: ContentDigest) {
        var accepted = headerFields[fields: .acceptEncoding].flatMap { $0.trimmedBytes + Array(", ".utf8) }
        accepted += Array(DictionaryCoding.supported.map(\.rawValue).joined(separator: ", ").utf8)
        headerFields[fields: .acceptEncoding] = [HTTPField(name: .acceptEncoding, lenientValue: accepted)]
        let hash = digest.withUnsafeBytes { Data($0) }.base64EncodedString()
        if let name = HTTPField.Name("Available-Dictionary") { headerFields[name] = ":\(hash):" }
        guard !id.isEmpty, let name = HTTPField.Name("Dictionary-ID") else { return }
        let escaped = id.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        headerFields[name] = "\"\(escaped)\""
    }
}

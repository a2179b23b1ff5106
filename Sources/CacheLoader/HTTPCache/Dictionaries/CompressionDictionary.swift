internal import CacheCodings
internal import CacheFoundation
internal import CacheStore

/// A stored response whose bytes help to decompress other responses (RFC 9842). Holds the open body, so the dictionary
/// stays readable after the eviction of its entry.
struct CompressionDictionary: Sendable {
    /// The maximum size of a dictionary in bytes. A reply that needs the dictionary holds it in memory.
    static let maxByteCount: Int64 = 16 << 20

    let entry: StoredEntry
    let id: String
    /// The SHA-256 of the bytes.
    let digest: ContentDigest
    /// Returns the unverified bytes, or `nil` when they cannot be read.
    let read: @Sendable () -> Data?

    /// May take long. Returns `nil` when the bytes cannot be read or differ from the digest. RFC 9842 §2.1.3: "The
    /// dictionary hash MUST be validated before use". The store's own verification is not enough: it depends on the
    /// configuration, and happens before the body is opened.
    func content() -> Data? {
        read().flatMap { ContentDigest(of: $0) == digest ? $0 : nil }
    }
}

extension HTTPRequest {
    /// Adds the fields that offer a dictionary to the origin (RFC 9842 §2.2, §2.3, §6.1). `id` is the one that the
    /// server gave the dictionary, or an empty string.
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

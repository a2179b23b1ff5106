internal import ByteText
public import CacheFoundation

/// The key of an entry: a normalised URL or a name of the caller's choosing, within a partition.
///
/// Normalisation follows RFC 3986 §6.2.2.1 and §6.2.3. Scheme and host become lower case, the default port of `http`
/// and `https` is left out, and an empty path becomes `/`. The fragment is removed. Characters that no URL may contain
/// are percent-encoded. Everything else stays as it is: percent-encoding, dot segments, trailing slashes and the query.
public struct CacheKey: Hashable, Sendable {
    /// The most bytes of a normalised URL, of a name and of a partition.
    public static let maxByteCount = 32_768

    /// The user, tenant or site that the entry belongs to. A lookup in one partition never finds an entry of another.
    public let partition: String

    /// The normalised URL, or `name=` and the name. The key of the answer to a QUERY request continues with `#` and a
    /// digest of the request content.
    public let text: String

    /// Creates the key of a URL.
    ///
    /// - Throws: ``StoreError/invalidKey(_:reason:)`` unless the URL has a scheme and a host, no user or password, no
    ///   spaces or control characters, and at most ``maxByteCount`` bytes.
    public init(url: String, partition: String = "") throws(StoreError) {
        text = try URLText.normalized(url)
        self.partition = try Self.checked(partition)
    }

    /// Creates the key of a URL.
    ///
    /// - Throws: The errors of ``init(url:partition:)-(String,_)``.
    public init(url: URL, partition: String = "") throws(StoreError) {
        try self.init(url: url.absoluteString, partition: partition)
    }

    /// Creates a key from a name, which never equals the key of a URL.
    ///
    /// - Throws: ``StoreError/invalidKey(_:reason:)`` if the name has more than ``maxByteCount`` bytes or contains a
    ///   NUL.
    public init(name: String, partition: String = "") throws(StoreError) {
        // A scheme cannot contain '=', so no URL begins like this.
        text = "name=" + (try Self.checked(name))
        self.partition = try Self.checked(partition)
    }

    /// Creates a key that was read from the index.
    init(stored text: String, partition: String) {
        self.text = text
        self.partition = partition
    }

    /// Returns a URL without its user and password, for messages. The text may be no URL.
    package static func withoutCredentials(_ url: String) -> String { URLText.withoutCredentials(url) }

    /// The host of the URL as the index stores it, or `nil` for a name.
    package var host: String? { URLText.host(ofNormalized: text) }

    private static func checked(_ text: String) throws(StoreError) -> String {
        guard text.utf8.count <= maxByteCount else {
            throw .invalidKey(text, reason: "it has more than \(maxByteCount) bytes")
        }
        // SQLite's text functions stop at a NUL.
        guard !text.utf8.contains(0) else { throw .invalidKey(text, reason: "it contains a NUL character") }
        return text
    }

    /// Compares keys byte by byte, as the index does. Swift compares strings by canonical equivalence.
    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.text.hasSameBytes(as: right.text) && left.partition.hasSameBytes(as: right.partition)
    }
}

extension CacheKey: CustomStringConvertible {
    /// The text, preceded by the partition unless that is empty.
    public var description: String { partition.isEmpty ? text : "\(partition): \(text)" }
}

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What an entry is found by: a normalised URL or a name of the caller's choosing, within a partition.
///
/// Two URLs are one key when RFC 3986 §6.2.2–6.2.3 makes them equal without knowing the resource: scheme and host in any
/// case, the default port given or left out, an empty path for `/`. A fragment is no part of it. Percent-encoding,
/// trailing slashes and the query are kept to the letter.
public struct CacheKey: Hashable, Sendable {
    /// The longest URL, once normalised, the longest name and the longest partition in bytes.
    public static let maxByteCount = 32_768

    /// User, tenant or site that the entry belongs to; entries of different partitions never meet.
    public let partition: String

    /// The normalised URL, or `name=` and the name.
    public let text: String

    /// The key of a URL.
    ///
    /// - Throws: ``StoreError/invalidKey(_:reason:)`` unless the URL has a scheme and a host, no user or password, no
    ///   spaces or control characters, and at most ``maxByteCount`` bytes.
    public init(url: String, partition: String = "") throws(StoreError) {
        text = try URLText.normalized(url)
        self.partition = try Self.checked(partition)
    }

    /// The key of a URL.
    ///
    /// - Throws: As ``init(url:partition:)-(String,_)``.
    public init(url: URL, partition: String = "") throws(StoreError) {
        try self.init(url: url.absoluteString, partition: partition)
    }

    /// A key that is no URL. It never meets the key of one.
    ///
    /// - Throws: ``StoreError/invalidKey(_:reason:)`` if the name has more than ``maxByteCount`` bytes
    ///   or contains a NUL.
    public init(name: String, partition: String = "") throws(StoreError) {
        // A scheme cannot contain '=', so no URL begins like this.
        text = "name=" + (try Self.checked(name))
        self.partition = try Self.checked(partition)
    }

    /// A key that was read from the index.
    init(stored text: String, partition: String) {
        self.text = text
        self.partition = partition
    }

    /// The host of the URL, as the index has it; `nil` for a name.
    package var host: String? { URLText.host(ofNormalized: text) }

    private static func checked(_ text: String) throws(StoreError) -> String {
        guard text.utf8.count <= maxByteCount else {
            throw .invalidKey(text, reason: "it has more than \(maxByteCount) bytes")
        }
        // SQLite's text functions stop at a NUL.
        guard !text.utf8.contains(0) else { throw .invalidKey(text, reason: "it contains a NUL character") }
        return text
    }

    /// Equal byte by byte, as rows of the index are: strings are equal in Swift when they look the same.
    public static func == (left: CacheKey, right: CacheKey) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8) && left.partition.utf8.elementsEqual(right.partition.utf8)
    }
}

extension CacheKey: CustomStringConvertible {
    /// The text, behind the partition if there is one.
    public var description: String { partition.isEmpty ? text : "\(partition): \(text)" }
}

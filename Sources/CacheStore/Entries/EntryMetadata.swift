// The folder `Entries/` has the values that callers pass and receive: keys, metadata, options, selections and digests.
// The folder may parse, normalise and check these values. The folder names no type of another folder, and opens no file
// and no index.

public import CacheFoundation

/// The metadata of a stored response: everything but its body.
///
/// The store keeps the metadata, and shows it to SQL queries. HTTP and the loader define the meaning of the fields.
public struct EntryMetadata: Hashable, Sendable {
    /// The kind of a response. A key and variant can have one response of each kind.
    public enum Kind: Int64, Sendable {
        /// The requested content.
        case content = 0
        /// An error response, which leaves the last good content in place.
        case error = 1
    }

    /// The kind: content or error.
    public var kind: Kind
    /// The request fields that `Vary` nominates, one a line. Empty if there are no such fields.
    public var variant: String
    /// The URL of the body, if the key does not contain it.
    public var url: String?
    /// The HTTP status code.
    public var status: Int
    /// `ETag`, verbatim.
    public var etag: String?
    /// `Last-Modified`, verbatim.
    public var lastModified: String?
    /// `Content-Type`, verbatim.
    public var contentType: String?
    /// When the request was sent.
    public var requestedAt: Date
    /// When the response arrived.
    public var receivedAt: Date
    /// When the response becomes stale, or `nil` for a response without a freshness lifetime.
    public var expiresAt: Date?
    /// Whether a content coding was removed from the body before it was stored.
    public var isBodyDecoded: Bool
    /// The field lines of the response, `Name: value`, a line feed after each, byte by byte as received.
    public var head: [UInt8]
    /// The position of the body in the whole representation, or `nil` for a whole body.
    ///
    /// A key can have several parts and a whole response. ``ResponseStore/lookup(_:)`` and ``ResponseStore/peek(_:)``
    /// skip the parts.
    public var part: EntryPart?
    /// The names of the groups that the response belongs to (RFC 9875). Names are compared byte by byte, within one
    /// origin.
    public var groups: [String]
    /// The URL without its query, if the response also answers the same URL with other queries (No-Vary-Search).
    public var searchBase: String?

    /// The most bytes of ``head``, and of each other text of the metadata.
    public static let maxHeadByteCount = 262_144

    /// Creates metadata; only the times have no default.
    public init(
        kind: Kind = .content, variant: String = "", url: String? = nil, status: Int = 200, etag: String? = nil,
        lastModified: String? = nil, contentType: String? = nil, requestedAt: Date, receivedAt: Date,
        expiresAt: Date? = nil, isBodyDecoded: Bool = false, head: [UInt8] = [], part: EntryPart? = nil,
        groups: [String] = [], searchBase: String? = nil
    ) {
        self.kind = kind
        self.variant = variant
        self.url = url
        self.status = status
        self.etag = etag
        self.lastModified = lastModified
        self.contentType = contentType
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        self.expiresAt = expiresAt
        self.isBodyDecoded = isBodyDecoded
        self.head = head
        self.part = part
        self.groups = groups
        self.searchBase = searchBase
    }
}

/// The position of a body in the whole representation.
public struct EntryPart: Hashable, Sendable {
    /// The position of the first byte.
    public var start: Int64
    /// The length of the whole representation, or `nil` for an unknown length.
    public var completeLength: Int64?

    /// Creates the description of a part.
    public init(start: Int64, completeLength: Int64?) {
        self.start = start
        self.completeLength = completeLength
    }
}

extension EntryMetadata {
    /// - Throws: ``StoreError/headTooLarge(byteCount:limit:)``.
    func checkLengths() throws(StoreError) {
        precondition((part?.start ?? 0) >= 0, "a part starts at a byte")
        let texts = [variant, url, etag, lastModified, contentType, searchBase] + groups
        let longest = texts.reduce(head.count) { max($0, $1?.utf8.count ?? 0) }
        guard longest <= Self.maxHeadByteCount else {
            throw .headTooLarge(byteCount: longest, limit: Self.maxHeadByteCount)
        }
    }

    /// The metadata with the times as the index stores them.
    var inWholeMilliseconds: EntryMetadata {
        var copy = self
        copy.requestedAt = Date(milliseconds: requestedAt.milliseconds)
        copy.receivedAt = Date(milliseconds: receivedAt.milliseconds)
        copy.expiresAt = expiresAt.map { Date(milliseconds: $0.milliseconds) }
        return copy
    }
}

/// A stored response as it is in the index. ``ResponseStore/openBody(of:)`` opens its body.
public struct StoredEntry: Hashable, Sendable {
    /// The key that finds the entry.
    public let key: CacheKey
    /// The metadata of the response.
    public let metadata: EntryMetadata
    /// The SHA-256 of the body, or `nil` for an empty body.
    public let digest: ContentDigest?
    /// The length of the body in bytes.
    public let byteCount: Int64
    /// When this body was stored. A validation does not change it.
    public let createdAt: Date
    /// The lifetime, the pin and the tags of the entry, never `nil` here.
    public let options: EntryOptions
    /// The id of the row, new with each body. An index never reuses an id; a new index after a quarantine starts again.
    package let id: Int64
}

extension StoredEntry {
    /// Returns whether an entry of the same key with this metadata replaces this entry.
    func isReplaced(by metadata: EntryMetadata) -> Bool {
        metadata.kind == self.metadata.kind && metadata.variant == self.metadata.variant
            && metadata.part?.start == self.metadata.part?.start
    }
}

extension Date {
    /// The time as the index stores it, limited to some 290 million years around 1970. Rounds to the nearest
    /// millisecond: rounding down would change a time that is read from the index and written back.
    package var milliseconds: Int64 {
        let value = (timeIntervalSince1970 * 1000).rounded()
        guard value > -9.2e18 else { return value.isNaN ? 0 : -9_200_000_000_000_000_000 }
        return value < 9.2e18 ? Int64(value) : 9_200_000_000_000_000_000
    }

    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

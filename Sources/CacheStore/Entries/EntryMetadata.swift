#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is to be known of a stored response besides its body.
///
/// The store keeps it and answers SQL about it; what the fields mean is HTTP's affair, and the loader's.
public struct EntryMetadata: Hashable, Sendable {
    /// Which of the two responses that a key and variant can have at once.
    public enum Kind: Int64, Sendable {
        /// What was asked for.
        case content = 0
        /// An error response; it leaves the last good content in place.
        case error = 1
    }

    /// Content or error.
    public var kind: Kind
    /// The request fields that `Vary` nominates, a line each; empty for none.
    public var variant: String
    /// Where the body came from, when the key does not say it.
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
    /// When the response turns stale; `nil` when it is never fresh by itself.
    public var expiresAt: Date?
    /// Whether a content coding was removed from the body on its way here.
    public var isBodyDecoded: Bool
    /// The field lines of the response, `Name: value`, a line feed after each, byte by byte as received.
    public var head: [UInt8]
    /// Which bytes of the whole the body is, when it is not the whole.
    ///
    /// Parts stand beside each other and beside a whole response; ``ResponseStore/lookup(_:)`` and
    /// ``ResponseStore/peek(_:)`` pass them over.
    public var part: EntryPart?
    /// Names of the groups that the response belongs to (RFC 9875); compared byte by byte, within one origin.
    public var groups: [String]
    /// The URL without its query, if the response also answers the same URL with other queries (No-Vary-Search).
    public var searchBase: String?

    /// The longest ``head`` in bytes, and the longest of each text beside it.
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

/// Which bytes of a whole the body of an entry is.
public struct EntryPart: Hashable, Sendable {
    /// The position of the first byte.
    public var start: Int64
    /// The length of the whole; `nil` when it is not known.
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

    /// The same, with the times as the index keeps them.
    var inWholeMilliseconds: EntryMetadata {
        var copy = self
        copy.requestedAt = Date(milliseconds: requestedAt.milliseconds)
        copy.receivedAt = Date(milliseconds: receivedAt.milliseconds)
        copy.expiresAt = expiresAt.map { Date(milliseconds: $0.milliseconds) }
        return copy
    }
}

/// A stored response as the index has it. Its body is opened with ``ResponseStore/openBody(of:)``.
public struct StoredEntry: Hashable, Sendable {
    /// What it is found by.
    public let key: CacheKey
    /// What is known of it.
    public let metadata: EntryMetadata
    /// The SHA-256 of its body; `nil` when the body is empty.
    public let digest: ContentDigest?
    /// The length of its body in bytes.
    public let byteCount: Int64
    /// When this body was stored. A validation leaves it alone.
    public let createdAt: Date
    /// How long it may stay, whether it is pinned, and its tags; none is `nil`.
    public let options: EntryOptions
    /// The row; another entry may get the number once this one is gone.
    package let id: Int64
}

extension StoredEntry {
    /// Whether an entry of the same key with this metadata takes the place of this one.
    func isReplaced(by metadata: EntryMetadata) -> Bool {
        metadata.kind == self.metadata.kind && metadata.variant == self.metadata.variant
            && metadata.part?.start == self.metadata.part?.start
    }
}

extension Date {
    /// The time as the index keeps it; what lies beyond some 290 million years is cut to that.
    ///
    /// Rounded to the nearest: cut off, a time that was read from the index would move each time it is written back.
    var milliseconds: Int64 {
        let value = (timeIntervalSince1970 * 1000).rounded()
        guard value > -9.2e18 else { return value.isNaN ? 0 : -9_200_000_000_000_000_000 }
        return value < 9.2e18 ? Int64(value) : 9_200_000_000_000_000_000
    }

    init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

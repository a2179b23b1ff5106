public import CacheFoundation

/// The outcome of a request.
@nonexhaustive
public enum RequestOutcome: String, Hashable, Sendable, CaseIterable, Codable {
    /// A fresh stored response answered.
    case hit
    /// A stale stored response answered, also after a failed request to the origin.
    case stale
    /// A stored response answered after the origin had validated it.
    case revalidated
    /// A shared tier answered in place of the origin.
    case tier
    /// The origin answered, also with a 4xx status.
    case miss
    /// Nothing answered, or the origin answered with a 5xx status.
    case error
    /// The response to another request answered this one, too, while it was still arriving.
    case coalesced
}

/// One request that a cache on the store has answered.
///
/// Contains no field lines and no bodies. A ``CacheKey`` has no user or password, so the URL contains neither. Its
/// query is recorded, and may contain secrets such as tokens and signatures.
public struct RequestRecord: Hashable, Sendable {
    /// The start of the request, by the clock of the cache.
    public var startedAt: Date
    /// The normalised URL of the request, or only its beginning if ``isTruncated``.
    public var url: String
    /// The partition of the cache, or only its beginning if ``isTruncated``.
    public var partition: String
    /// The method, or only its first 24 bytes if ``isTruncated``.
    public var method: String
    /// A 64-bit checksum of partition and key of the stored response, the same in every process. Distinguishes requests
    /// with truncated URLs.
    public var keyChecksum: Int64
    /// The status of the response, or `nil` without a response.
    public var status: Int?
    /// How the request was answered.
    public var outcome: RequestOutcome
    /// The length of the body, or `nil` for a length unknown at the start.
    public var contentByteCount: Int64?
    /// The bytes of stored bodies that were read for the request.
    public var diskByteCount: Int64
    /// The bytes of the body that came from the origin for this request. If requests share a response, only the first
    /// of them counts its bytes.
    public var networkByteCount: Int64
    /// The time from the start to the head of the response.
    public var latency: Duration
    /// The time from the start to the end or the release of the body.
    public var duration: Duration
    /// The process that answered.
    public var processID: Int32
    /// Whether the cache itself made the request to validate a response that it had served stale.
    public var isBackground: Bool
    /// Whether method, partition or URL were too long for a record.
    public var isTruncated: Bool
    /// A number of the cache for the reason to forward the request. 0 for none.
    package var forwardCode: UInt8 = 0
    /// A number of the cache for the decision on the reply of the origin. 0 for none.
    package var replyCode: UInt8 = 0

    /// The host of the URL, or `nil` for a key without a URL.
    public var host: String? { URLText.host(ofNormalized: url) }

    /// A request for `target`, the key of the URL. The stored response has `key`, or the same key for `nil`.
    package init(
        startedAt: Date, method: String, target: CacheKey, key: CacheKey? = nil, outcome: RequestOutcome,
        isBackground: Bool = false
    ) {
        self.startedAt = startedAt
        self.method = method
        self.outcome = outcome
        self.isBackground = isBackground
        url = target.text
        partition = target.partition
        keyChecksum = KeyChecksum(key ?? target).key
        status = nil
        contentByteCount = nil
        diskByteCount = 0
        networkByteCount = 0
        latency = .zero
        duration = .zero
        processID = 0
        isTruncated = false
    }
}

/// A position in the record of a store, after the requests already read.
///
/// Its description is short text without spaces, for the `Last-Event-ID` of server-sent events.
public struct RequestCursor: Hashable, Sendable, LosslessStringConvertible {
    /// Identifies the file, because a store can begin a new one.
    let file: UInt64
    /// The number of the next record.
    let number: UInt64

    init(file: UInt64, number: UInt64) {
        self.file = file
        self.number = number
    }

    /// Reads a description. Returns `nil` for any other text.
    public init?(_ description: String) {
        let words = description.split(separator: "-", omittingEmptySubsequences: false)
        guard words.count == 2, let file = UInt64(words[0], radix: 16), let number = UInt64(words[1]) else {
            return nil
        }
        self.init(file: file, number: number)
    }

    /// The file and the number.
    public var description: String { String(file, radix: 16) + "-\(number)" }
}

/// An entry that has left a recording store, or several.
public struct RemovalRecord: Hashable, Sendable {
    /// The cause of a removal.
    @nonexhaustive
    public enum Cause: String, Hashable, Sendable, CaseIterable, Codable {
        /// Removed to make room, or by an ``EvictionRule``.
        case evicted
        /// Removed by the program, by a person, or by a response that forbids storing.
        case removed
        /// Removed after the success of an unsafe request (RFC 9111 §4.4), or as a member of its group (RFC 9875).
        case invalidated
    }

    /// The time of the removal, by the clock of the store.
    public var removedAt: Date
    /// Why the entry was removed.
    public var cause: Cause
    /// The URL of the key, or only its beginning if ``isTruncated``. Empty for several entries.
    public var url: String
    /// The partition of the entry, or only its beginning if ``isTruncated``. Empty for several entries.
    public var partition: String
    /// The number of removed entries. Of the entries that one transaction removes, the first 64 have separate records.
    /// One record counts the others.
    public var entryCount: Int64
    /// The process that removed the entry.
    public var processID: Int32
    /// Whether partition or URL were too long for a record.
    public var isTruncated: Bool

    /// The host of the URL, or `nil` for a key without a URL.
    public var host: String? { URLText.host(ofNormalized: url) }
}

/// A line of the record.
enum RecordedEvent: Hashable, Sendable {
    case request(RequestRecord)
    case removal(RemovalRecord)
}

/// Records read from a store.
public struct RequestRecords: Sendable {
    /// The requests, in the order in which processes wrote them.
    public internal(set) var records: [RequestRecord] = []
    /// The removals of entries between the requests, in the order in which processes wrote them.
    public internal(set) var removals: [RemovalRecord] = []
    /// The number of requests and removals.
    public var count: Int { records.count + removals.count }
    /// The position after the records, or `nil` for a store that has never recorded.
    public internal(set) var next: RequestCursor?
    /// The number of lost records between both positions: overwritten, erased, damaged, or dropped by a process that
    /// had too many.
    public internal(set) var lost: Int64 = 0
}

/// The state of the record of a store.
public struct RequestRecording: Hashable, Sendable {
    /// Whether the processes on the store record their requests.
    public let isOn: Bool
    /// The number of requests and removals that the record can hold.
    public let capacity: Int
    /// The number of requests and removals in the record.
    public let count: Int64
    /// The number of requests and removals lost from the record.
    public let lost: Int64
    /// The size of the file in bytes.
    public let byteCount: Int64
    /// The position after the latest request.
    public let end: RequestCursor

    /// Returns the position before the latest `count` requests, or before the oldest one in the record.
    package func cursor(beforeLast count: Int64) -> RequestCursor {
        RequestCursor(file: end.file, number: end.number - UInt64(min(max(0, count), self.count)))
    }
}

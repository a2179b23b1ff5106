/// The store in numbers; all but the size of the index as in the view `cache_stats`.
public struct StoreStatistics: Hashable, Sendable {
    /// Stored responses. Forms derived from them are none.
    public let entries: Int
    /// Files below `blobs/`.
    public let files: Int
    /// Bytes of all bodies, derived ones too, as if none were shared.
    public let logicalBytes: Int64
    /// Bytes of all files: a shared body counts once.
    public let physicalBytes: Int64
    /// Answers given from entries, removed ones included, as far as they have reached the index.
    public let hits: Int
    /// Keys whose latest load failed.
    public let failingKeys: Int
    /// Bodies that were found missing or altered, and dropped.
    public let damagedBodies: Int
    /// Forms derived from stored responses; see ``ResponseStore/openDerived(name:of:)``.
    public let derivedBodies: Int
    /// Their bytes, which are among the logical ones, as if none were shared.
    public let derivedBytes: Int64
    /// Bytes of the index that hold something. Those of its log are not among them.
    public let indexBytes: Int64
    /// What ``Limits/maxBytes`` and an eviction by bytes go by: the bodies that entries and their derived forms need, each once,
    /// and the pages of the index beyond those of an empty one and those bodies.
    public let limitedBytes: Int64
}

/// What a removal removed, or would remove.
public struct RemovalReport: Hashable, Sendable {
    /// Entries removed.
    public internal(set) var entries = 0
    /// Keys whose failures are forgotten.
    public internal(set) var failures = 0
    /// Bytes of the bodies that no entry needs any more.
    public internal(set) var bytes: Int64 = 0
}

/// What an eviction freed.
public struct EvictionReport: Hashable, Sendable {
    /// Entries removed.
    public internal(set) var entries = 0
    /// Bytes of the bodies that no entry needs any more.
    public internal(set) var bytes: Int64 = 0

    static func += (left: inout EvictionReport, right: EvictionReport) {
        left.entries += right.entries
        left.bytes &+= right.bytes
    }
}

/// The store in numbers; the same as a row of the view `cache_stats`.
public struct StoreStatistics: Hashable, Sendable {
    /// Stored responses.
    public let entries: Int
    /// Files below `blobs/`.
    public let files: Int
    /// Bytes of all bodies, as if none were shared.
    public let logicalBytes: Int64
    /// Bytes of all files: a body that several entries share counts once.
    public let physicalBytes: Int64
    /// Of the physical bytes, those that no entry needs any more and that the next write deletes.
    public let unreferencedBytes: Int64
    /// Answers given from entries, removed ones included, as far as they have reached the index.
    public let hits: Int
    /// Keys whose latest load failed.
    public let failingKeys: Int
}

/// What an eviction freed.
public struct EvictionReport: Hashable, Sendable {
    /// Entries removed.
    public internal(set) var entries = 0
    /// Bytes of the files that no entry needs any more.
    public internal(set) var bytes: Int64 = 0
}

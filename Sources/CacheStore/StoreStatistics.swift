/// The totals of a store. All but ``indexBytes`` and ``limitedBytes`` are also in the view `cache_stats`.
public struct StoreStatistics: Hashable, Sendable {
    /// Stored responses. Derived representations are not counted.
    public let entries: Int
    /// Bodies of entries and derived representations, one file each.
    public let files: Int
    /// Bytes of all bodies, including derived representations, as if no body were shared.
    public let logicalBytes: Int64
    /// Bytes of all these files. A shared body counts once.
    public let physicalBytes: Int64
    /// Answers from entries, including removed entries. Accesses that are only in memory do not count yet.
    public let hits: Int
    /// Keys with recorded failures. A key counts once, even if several requests for it failed.
    public let failingKeys: Int
    /// Missing or altered bodies that were dropped.
    public let damagedBodies: Int
    /// Derived representations; see ``ResponseStore/openDerived(name:of:)``.
    public let derivedBodies: Int
    /// Bytes of the derived representations, as if no body were shared. Included in ``logicalBytes``.
    public let derivedBytes: Int64
    /// Bytes of the used pages of the index, without the WAL.
    public let indexBytes: Int64
    /// Bytes that count toward ``Limits/maxBytes`` and evictions by bytes: ``physicalBytes``, and the pages of the
    /// index beyond those of an empty one.
    public let limitedBytes: Int64
}

/// The entries and bytes that a removal removed, or would remove.
public struct RemovalReport: Hashable, Sendable {
    /// Entries removed.
    public package(set) var entries = 0
    /// Keys whose failures were removed.
    public package(set) var failures = 0
    /// Bytes of the bodies that no entry needs any more.
    public package(set) var bytes: Int64 = 0

    package init() {}
}

/// The entries and bytes that an eviction removed, or would remove.
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

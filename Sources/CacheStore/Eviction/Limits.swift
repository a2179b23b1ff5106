public import CacheFoundation

/// The limits of a store. Every process that opens the store with limits enforces them.
///
/// The limits count the bytes on disk: bodies, the WAL, and the pages of the index beyond those of an empty one. A body
/// counts once, even if several entries and derived representations share it. A body that is being written counts from
/// its commit on, as does a part that the loader commits earlier.
///
/// An eighth of a limit, at most 16 MB, is reserved for the WAL. A limit below 32 MiB reserves nothing: then the WAL
/// takes up to 4 MiB in addition.
///
/// A commit that would exceed a limit evicts in its own transaction. Then a pass in the background evicts down to the
/// low-water mark. After a limit was lowered, the first commit evicts some dozens of entries, and the pass evicts the
/// rest. A commit also leaves the eviction to the pass if it would have to write many accesses first. A partition gets
/// its room before the commit.
///
/// The limits of time and ``minFreeBytes`` need no call and no commit. The store looks at them when it opens, and then
/// each sixteenth of the shortest time: at least each hour, and at most each minute. An entry that is too old may
/// answer until then. A look counts the accesses, and reads every entry if one of the oldest has to go.
public struct Limits: Hashable, Sendable {
    /// The most bytes on disk, or `nil` for no limit.
    public var maxBytes: Int64?
    /// The most entries, or `nil` for no limit.
    public var maxEntries: Int?
    /// The most bytes of one body, or `nil` for no limit. Writing a larger body throws
    /// ``StoreError/bodyTooLarge(limit:)``. Does not follow a change of ``maxBytes``.
    public var maxEntryBytes: Int64?
    /// The most bytes of each partition except `""`, as if no body were shared, or `nil` for no limit. Derived
    /// representations do not count. The least recently used entries of a partition go first, under any
    /// ``EvictionPolicy``.
    public var maxPartitionBytes: Int64?
    /// The longest time without an access, or `nil` for no limit. An entry that was never used counts from its storing.
    public var maxIdleTime: Duration?
    /// The longest time since the body of an entry was stored, or `nil` for no limit. A validation does not change that
    /// time, and freshness does not matter.
    public var maxAge: Duration?
    /// The bytes that stay free on the volume of the store, or `nil` for no limit. While other programs fill the
    /// volume, each look evicts the missing bytes, at most all unpinned entries. Bytes that a snapshot of the volume or
    /// an open file keeps do not become free, and the next look evicts more.
    public var minFreeBytes: Int64?
    /// The share of a limit, between 0 and 1, down to which an eviction goes. With 0.9, the default, one eviction
    /// removes many entries, so that not every write evicts.
    public var lowWaterMark: Double

    /// Creates limits. Numbers below zero count as zero, and a low-water mark above 1 as 1.
    ///
    /// - Parameters:
    ///   - maxBytes: The most bytes on disk, or `nil` for no limit.
    ///   - maxEntries: The most entries, or `nil` for no limit.
    ///   - maxEntryBytes: The most bytes of one body. The default is an eighth of `maxBytes`, because one large body
    ///     would displace very many small ones.
    ///   - maxPartitionBytes: The most bytes of each partition, or `nil` for no limit.
    ///   - maxIdleTime: The longest time without an access, or `nil` for no limit.
    ///   - maxAge: The longest time since the body of an entry was stored, or `nil` for no limit.
    ///   - minFreeBytes: The bytes that stay free on the volume of the store, or `nil` for no limit.
    ///   - lowWaterMark: The share of a limit down to which an eviction goes.
    public init(
        maxBytes: Int64? = nil, maxEntries: Int? = nil, maxEntryBytes: Int64? = nil, maxPartitionBytes: Int64? = nil,
        maxIdleTime: Duration? = nil, maxAge: Duration? = nil, minFreeBytes: Int64? = nil, lowWaterMark: Double = 0.9
    ) {
        self.maxBytes = maxBytes.map { max(0, $0) }
        self.maxEntries = maxEntries.map { max(0, $0) }
        self.maxEntryBytes = (maxEntryBytes ?? maxBytes.map { $0 / 8 }).map { max(0, $0) }
        self.maxPartitionBytes = maxPartitionBytes.map { max(0, $0) }
        self.maxIdleTime = maxIdleTime.map { max(.zero, $0) }
        self.maxAge = maxAge.map { max(.zero, $0) }
        self.minFreeBytes = minFreeBytes.map { max(0, $0) }
        self.lowWaterMark = lowWaterMark.isNaN ? 0.9 : min(max(lowWaterMark, 0), 1)
    }

    /// Returns a limit of bytes that is a share of the size of a volume, as it is now.
    ///
    /// ```swift
    /// configuration.limits = try .fraction(of: directory, 0.05)
    /// ```
    ///
    /// - Parameters:
    ///   - directory: A directory on the volume, such as that of the store. It need not exist yet.
    ///   - share: The share, from 0 to 1.
    /// - Throws: ``StoreError/file(_:)`` if the size of the volume cannot be read.
    public static func fraction(of directory: URL, _ share: Double) throws(StoreError) -> Limits {
        let size = try FileDescriptor.volumeByteCount(ofNearest: directory)
        let byteCount = Double(size) * (share.isNaN ? 0 : min(max(share, 0), 1))
        return Limits(maxBytes: Int64(exactly: byteCount.rounded(.down)) ?? .max)
    }

    /// The default limits of a store: 512 MiB on disk.
    public static let standard = Limits(maxBytes: 512 << 20)
}

extension Limits {
    private static let smallestWAL: Int64 = 4 << 20

    /// The size at which the WAL is restarted: an eighth of the limit, from 4 MiB to 16 MB. 16 MB without a limit.
    static func walByteCount(below maxBytes: Int64?) -> Int64 {
        min(max((maxBytes ?? .max) / 8, smallestWAL), Connection.maxWALByteCount)
    }

    /// The size of the largest body that the store can hold, or `nil` without a limit.
    package var largestBody: Int64? {
        [maxEntryBytes, maxBytesBesideWAL].compactMap { $0 }.min()
    }

    /// The part of ``maxBytes`` that is not reserved for the WAL, or `nil` without a limit.
    var maxBytesBesideWAL: Int64? {
        maxBytes.map { $0 < 8 * Self.smallestWAL ? $0 : $0 - Self.walByteCount(below: $0) }
    }

    /// The rules of the limits of time.
    var ageRules: [EvictionRule] {
        [maxIdleTime.map { .unusedFor($0) }, maxAge.map { .olderThan($0) }].compactMap(\.self)
    }

    /// The time between two looks at the limits that no commit exceeds, or `nil` without such limits.
    package var checkInterval: Duration? {
        let ages = [maxIdleTime, maxAge].compactMap(\.self).map { min($0 / 16, .seconds(3600)) }
        let floor = minFreeBytes.map { _ in Duration.seconds(60) }
        return (ages + [floor].compactMap(\.self)).min().map { max($0, .seconds(60)) }
    }

    /// Whether a store of this size exceeds a limit after adding a body, or, with `nil`, exceeds a low-water mark.
    func isExceeded(by size: StoreSize, addingBody byteCount: Int64? = 0) -> Bool {
        let share = byteCount == nil ? lowWaterMark : 1
        // A `Double` cannot overflow: the sizes may be damaged, and a limit may be `.max`.
        let bytes = Double(size.bytes) + Double(byteCount ?? 0)
        if let maxBytesBesideWAL, bytes > Double(maxBytesBesideWAL) * share { return true }
        if let maxEntries, Double(size.entries) > Double(maxEntries) * share { return true }
        return false
    }

    /// Whether a partition exceeds its limit, or its low-water mark, like ``isExceeded(by:addingBody:)``.
    func isExceeded(
        byPartition partition: String, _ connection: Connection, addingBody byteCount: Int64? = 0
    ) throws(StoreError) -> Bool {
        guard let maxPartitionBytes, !partition.isEmpty else { return false }
        let share = byteCount == nil ? lowWaterMark : 1
        let bytes = try Double(connection.byteCount(ofPartition: partition)) + Double(byteCount ?? 0)
        return bytes > Double(maxPartitionBytes) * share
    }
}

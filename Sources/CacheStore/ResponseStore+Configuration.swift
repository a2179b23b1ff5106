public import CacheFoundation
public import CoreMetrics
public import Logging

extension ResponseStore {
    /// The behaviour of a store. The store copies its configuration when it opens: later changes have no effect.
    public struct Configuration: Sendable {
        /// Decides when the store compares the bytes of a body with its digest.
        @nonexhaustive
        public enum Verification: Sendable {
            /// Verifies a body before its first read in this process. The default.
            case firstRead
            /// Verifies a body before every read.
            case everyRead
            /// Checks only the length.
            case never
        }

        /// Decides which acknowledged changes a power cut may lose.
        @nonexhaustive
        public enum Durability: Sendable {
            /// Does not wait for the disk. A power cut may lose the latest commits, and may damage a body. Verification
            /// detects the damage before a read. The default.
            case relaxed
            /// Loses no acknowledged change: body, names and row are on the disk before the call returns. Each
            /// transaction takes some milliseconds; commits at the same time share them.
            case durable
        }

        /// The limits of the store. ``Limits/standard``, 512 MiB, by default. With `nil`, the store grows until the
        /// program evicts.
        public var limits: Limits? = .standard

        /// The time between two looks at limits that no commit exceeds. `nil` means ``Limits/checkInterval``.
        package var limitCheckInterval: Duration?

        /// The policy that decides which entries are evicted first. `nil`, the default, keeps the policy of the store:
        /// ``EvictionPolicy/leastRecentlyUsed`` in a new one.
        ///
        /// The index records the policy, which holds for every process on the store and for later openings. Opening
        /// takes constant time, also with a new policy. A background task moves the present entries to the new order in
        /// short transactions, some ten milliseconds for each thousand of them. A read-only store ignores this
        /// property.
        public var evictionPolicy: EvictionPolicy?

        /// Whether every process on the store records its requests, for `cachestore record` and `cachestore simulate`.
        /// `nil`, the default, keeps the setting of the store: off in a new one.
        ///
        /// The store records the setting. `true` and `false` change it when this process opens the store, like
        /// ``ResponseStore/startRecordingRequests(capacity:)`` and
        /// ``ResponseStore/stopRecordingRequests(discardsRecords:)``. A record contains the URL of a request with its
        /// query, which may contain secrets. A read-only store ignores this property, and never records.
        public var recordsRequests: Bool?

        /// The verification of bodies; ``Verification/firstRead`` by default.
        public var verification: Verification = .firstRead

        /// The durability of changes. ``Durability/relaxed`` by default. With either value, a killed process loses no
        /// acknowledged change.
        public var durability: Durability = .relaxed

        /// Whether the index keeps no trace of a removed entry, such as its URL or field lines. `false` by default.
        ///
        /// Before a removal or an eviction returns, the store rewrites the index and truncates the WAL. Both take time
        /// in proportion to the index, some milliseconds per megabyte. The store also deletes the counts of requests to
        /// hosts without entries. Traces of replaced entries, and of entries evicted to keep ``limits``, go with the
        /// next removal or with `flush()`.
        ///
        /// A removal or an eviction throws ``StoreError/busy(path:)`` when a reader uses the WAL for longer than
        /// ``busyTimeout``. Then the entries are removed, but their traces remain. The files of bodies are deleted, but
        /// their blocks on the disk are not overwritten. A removal also erases the record of requests: all of it,
        /// unless the removal names only a partition or a key. An eviction leaves the record alone. The index keeps a
        /// 64-bit checksum of the removed key or partition, for the latest 1,000 removals.
        public var secureDelete: Bool = false

        /// Whether to open the store read-only, for example in a widget or an inspector. `false` by default.
        ///
        /// The store must exist. Accesses are not recorded, and calls that would write throw
        /// ``StoreError/readOnly(path:)``.
        public var isReadOnly: Bool = false

        /// Whether to accept a directory that belongs to another user, or that other users may write. `false` by
        /// default.
        ///
        /// A user who can write the directory can plant an index, and the store then answers with planted bodies. So
        /// opening such a directory throws ``StoreError/foreignDirectory(path:reason:)``. The directory may belong to
        /// root, and the group of this process may write it.
        public var acceptsForeignDirectory: Bool = false

        #if canImport(Darwin)
        /// The protection class of the store's files. `nil`, the default, keeps the class of the directory. A new
        /// directory has the class of the app's files, usually `.completeUntilFirstUserAuthentication`.
        ///
        /// `.complete` and `.completeUnlessOpen` make the index unreadable while the device is locked, so work in the
        /// background fails. Suspend the store when `UIApplication` announces that protected data becomes unavailable.
        /// A change applies to the index and to new bodies; present bodies keep their class. This property exists only
        /// on Apple's systems, because other systems have no such classes. A read-only store ignores it. If the file
        /// system has no classes, opening throws ``StoreError/unusableDirectory(path:reason:)``.
        public var fileProtection: FileProtectionType?
        #endif

        /// The number of connections for lookups, and so of simultaneous lookups. 4 by default, at least 1.
        public var readerCount: Int = 4

        /// The most keys whose entries stay in memory after a lookup. Another lookup then reads no row while the index
        /// has not changed. 512 by default, of which at least half stay; 0 for none. A key takes about two kilobytes,
        /// at most 20.
        public var hotKeyCount: Int = 512

        /// The most bodies that stay open after a read, so that another read opens no file. 64 by default, of which at
        /// least half stay; 0 for none. With ``secureDelete``, no body stays open.
        ///
        /// A body of more than 256 KiB does not stay open. If another process deletes an open body, its space becomes
        /// free when this process opens other bodies, or suspends or closes the store.
        public var openBodyCount: Int = 64

        /// The bytes of pages in the memory of each connection: of the writer and of each reader. 8 MiB by default.
        public var cacheByteCount: Int = 8 << 20

        /// The longest wait for a lock of another process before ``StoreError/busy(path:)``. 5 seconds by default.
        public var busyTimeout: Duration = .seconds(5)

        /// The longest time that a ``ResponseStore/query(_:_:maxRows:)`` runs before
        /// ``StoreError/queryTimedOut(limit:)``. 5 seconds by default, or `nil` for no limit.
        public var queryTimeout: Duration? = .seconds(5)

        /// The longest time that an access stays in memory before the store writes it. 10 seconds by default.
        ///
        /// The first access after an opening stays only for a hundredth of it, because no key is hot before some
        /// process has written to the index.
        public var accessInterval: Duration = .seconds(10)

        /// Returns the present time, also for ``ResponseStore/query(_:_:maxRows:)``. The system clock by default.
        public var clock: @Sendable () -> Date = { Date() }

        /// Receives reports of damaged bodies, quarantined indexes and full disks. Silent by default. The handler runs
        /// on a separate queue.
        public var logger: Logger = Logger(label: "CacheStore") { _ in SwiftLogNoOpLogHandler() }

        /// Whether the logger also receives the number of evicted entries, at the level `debug`. `false` by default.
        public var logsEviction: Bool = false

        /// The factory of metrics. `nil`, the default, means the one with which swift-metrics is bootstrapped when the
        /// store opens.
        public var metrics: (any MetricsFactory)?

        /// Creates the default configuration.
        public init() {}

        /// A configuration for widgets and extensions, which have little memory: one reader, 512 KiB of pages for each
        /// connection, and 32 MiB on disk.
        public static var small: Self {
            var configuration = Self()
            configuration.limits = Limits(maxBytes: 32 << 20)
            configuration.readerCount = 1
            configuration.hotKeyCount = 64
            configuration.openBodyCount = 8
            configuration.cacheByteCount = 512 << 10
            return configuration
        }
    }
}

extension ResponseStore.Configuration {
    var isDurable: Bool { durability == .durable }
    var maxWALByteCount: Int64 { Limits.walByteCount(below: limits?.maxBytes) }
}

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import CoreMetrics
public import Logging

extension ResponseStore {
    /// How a store behaves. What it says is read once, when the store opens.
    public struct Configuration: Sendable {
        /// When the bytes of a body are held against their digest.
        @nonexhaustive
        public enum Verification: Sendable {
            /// Before a body is read for the first time in this process. The default.
            case firstRead
            /// Before every read.
            case everyRead
            /// Never; only the length is checked.
            case never
        }

        /// What a power cut may take.
        @nonexhaustive
        public enum Durability: Sendable {
            /// The latest commits may be lost, and a body may be damaged, which is found before it is read. Nothing waits
            /// for the disk. The default.
            case relaxed
            /// Nothing that was acknowledged: body, names and row are on the disk before the call returns. Some
            /// milliseconds for each transaction; commits that come together share them.
            case durable
        }

        /// What the store keeps itself below; ``Limits/standard``, 512 MiB, by default. `nil` for no limit: such a store grows until its
        /// program evicts.
        public var limits: Limits? = .standard

        /// Which entries are evicted first. `nil`, the default, for what the store has been using:
        /// ``EvictionPolicy/leastRecentlyUsed`` in a new one.
        ///
        /// A choice is kept with the store, and holds for every process that has it open, and for the next ones. Opening
        /// stays constant in time: entries that are there go over to the new order in the background, in short transactions,
        /// some ten milliseconds for each thousand of them. It is no choice when the store is only read.
        public var evictionPolicy: EvictionPolicy?

        /// When bodies are verified; ``Verification/firstRead`` by default.
        public var verification: Verification = .firstRead

        /// What a power cut may take; ``Durability/relaxed`` by default. A killed process never takes what was
        /// acknowledged.
        public var durability: Durability = .relaxed

        /// Whether nothing of a removed entry stays behind in the index: neither URL nor fields, nor a body that was there.
        /// `false` by default.
        ///
        /// Before a removal or an eviction returns, the index is written anew and its log cut to nothing, which takes time in
        /// proportion to the index, some milliseconds per megabyte; counts of requests go with the last entry of their host.
        /// What was replaced, or evicted to keep ``limits``, goes with the next removal, or with `flush()`. A removal throws
        /// ``StoreError/busy(path:)`` when a reader keeps the log in use for longer than ``busyTimeout``; then the entries
        /// are removed and the traces of them are not. Files of bodies are deleted, but their blocks on the disk not
        /// overwritten.
        public var secureDelete: Bool = false

        /// Whether the store is only read, and has to be there: for a widget, or for looking into a store. `false` by
        /// default.
        ///
        /// Nothing is noted or written, and whatever would write throws ``StoreError/readOnly(path:)``.
        public var isReadOnly: Bool = false

        /// Connections for lookups: as many lookups run at once. 4 by default, at least 1.
        public var readerCount: Int = 4

        /// Bytes of pages that each connection keeps in memory, the writer's and each reader's. 8 MiB by default.
        public var cacheByteCount: Int = 8 << 20

        /// How long to wait for another process's write lock before ``StoreError/busy(path:)``. 5 seconds by default.
        public var busyTimeout: Duration = .seconds(5)

        /// The longest that a ``ResponseStore/query(_:_:maxRows:)`` runs before ``StoreError/queryTimedOut(limit:)``. 5 seconds by
        /// default; `nil` for no limit.
        public var queryTimeout: Duration? = .seconds(5)

        /// The longest that an access stays in memory only. 10 seconds by default.
        public var accessInterval: Duration = .seconds(10)

        /// Tells the time. The system clock by default.
        public var clock: @Sendable () -> Date = { Date() }

        /// Reports damage that was found and dropped, and an index that was quarantined. Silent by default. Called on a queue of its own.
        public var logger: Logger = Logger(label: "CacheStore") { _ in SwiftLogNoOpLogHandler() }

        /// Whether the logger is also told of entries that are evicted, at the level `debug`. `false` by default.
        public var logsEviction: Bool = false

        /// Where metrics go. `nil`, the default, for what swift-metrics is bootstrapped with when the store is opened.
        public var metrics: (any MetricsFactory)?

        /// The defaults.
        public init() {}

        /// For widgets and extensions, which have little memory: one reader, 512 KiB of pages for each connection, and 32 MiB on disk.
        public static var small: Self {
            var configuration = Self()
            configuration.limits = Limits(maxBytes: 32 << 20)
            configuration.readerCount = 1
            configuration.cacheByteCount = 512 << 10
            return configuration
        }
    }
}

extension ResponseStore.Configuration {
    func indexOptions(_ log: StoreLog) -> IndexOptions {
        IndexOptions(
            busyTimeout: busyTimeout, isDurable: durability == .durable, deletesSecurely: secureDelete,
            cacheByteCount: cacheByteCount, evictionPolicy: evictionPolicy, clock: clock, log: log)
    }
}

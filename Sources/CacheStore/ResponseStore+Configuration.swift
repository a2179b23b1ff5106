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

        /// What the store keeps itself below; `nil`, the default, for no limit.
        public var limits: Limits?

        /// Which entries are evicted first. `nil`, the default, for what the store has been using:
        /// ``EvictionPolicy/leastRecentlyUsed`` in a new one.
        ///
        /// A choice is kept with the store, and holds for every process that has it open, and for the next ones. Opening
        /// stays constant in time: entries that are there go over to the new order in the background, in short transactions,
        /// some ten milliseconds for each thousand of them. It is no choice when the store is only read.
        public var evictionPolicy: EvictionPolicy?

        /// When bodies are verified; ``Verification/firstRead`` by default.
        public var verification: Verification = .firstRead

        /// Bodies of up to so many bytes go to the index instead of files; 0, the default, for none, at most
        /// ``maxInlineLimit``.
        ///
        /// For a store of very many small bodies: up to some 4 KiB a row is read a tenth faster than a file, up to 2 KiB stored
        /// so, and takes no whole block on the disk; from 8 KiB on it is slower. Such a body has no ``StoredBody/fileURL``, and is copied to
        /// memory when it is opened. A body stays where it was put, and is found there whatever the limit is then: processes
        /// that share a store may have different ones. When the disk is full, a store whose bodies are all in the index may be
        /// unable to make room: an eviction writes to the index, and has no files to delete first. Reads go on, and writes
        /// throw until there is room.
        public var inlineLimit: Int = 0

        /// What ``inlineLimit`` is cut to.
        public static let maxInlineLimit = 65_536

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

        /// How long to wait for another process's write lock before ``StoreError/busy(path:)``. 5 seconds by default.
        public var busyTimeout: Duration = .seconds(5)

        /// The longest that a ``ResponseStore/query(_:_:maxRows:)`` runs before ``StoreError/queryTimedOut(limit:)``. 5 seconds by
        /// default; `nil` for no limit.
        public var queryTimeout: Duration? = .seconds(5)

        /// The longest that the time of a use stays in memory only. 10 seconds by default.
        public var touchInterval: Duration = .seconds(10)

        /// Tells the time. The system clock by default.
        public var clock: @Sendable () -> Date = { Date() }

        /// Is told of damage that was found and dropped, and of an index that was set aside. Silent by default.
        public var logger: Logger = Logger(label: "CacheStore") { _ in SwiftLogNoOpLogHandler() }

        /// Whether the logger is also told of entries that are evicted, at the level `debug`. `false` by default.
        public var logsEviction: Bool = false

        /// Where metrics go. `nil`, the default, for what swift-metrics is bootstrapped with when the store is opened.
        public var metrics: (any MetricsFactory)?

        /// The defaults.
        public init() {}
    }
}

extension ResponseStore.Configuration {
    /// ``inlineLimit``, within its bounds.
    var effectiveInlineLimit: Int { max(0, min(inlineLimit, Self.maxInlineLimit)) }

    var indexOptions: IndexOptions {
        IndexOptions(
            busyTimeout: busyTimeout, isDurable: durability == .durable, deletesSecurely: secureDelete,
            evictionPolicy: evictionPolicy, clock: clock, logger: logger)
    }
}

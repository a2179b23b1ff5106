public import CoreMetrics
public import HTTPCaching
public import Logging

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension ResourceLoader {
    /// How a loader behaves.
    public struct Configuration: Sendable {
        /// What may be answered from the store, and for how long; RFC 9111 for a private cache by default.
        ///
        /// But that a stored response stands in for an error of its origin, however stale, unless the origin forbids that;
        /// ``Loaded/failure`` tells.
        public var policy: CachePolicy = CachePolicy(staleIfError: .seconds(Int64.max))
        /// Part of every key: user, tenant or site; none by default.
        public var partition: String = ""
        /// Bodies of more bytes end in ``LoadError/bodyTooLarge(url:limit:)``; 1 GiB by default.
        public var maxBodyBytes: Int64 = 1 << 30
        /// Redirects that one load follows; 20 by default.
        public var maxRedirects: Int = 20
        /// When a load that has failed is tried again: 5 attempts by default.
        public var retry = RetryPolicy()
        /// Decides whether requests that the origin keeps answering with errors are sent. They are by default.
        public var negativeCaching = NegativeCaching()
        /// How many transfers there are at a time: by default 6 urgent ones, 1 in the background, 6 to one host.
        public var lanes = LaneWidths()
        /// The most bytes of all values in memory. `nil`, the default, turns memory off; 0 keeps nothing; `Int.max` is no
        /// limit. A change takes effect at once.
        public var memoryLimit: Int? = nil
        /// How far the values in memory shrink under memory pressure.
        public var memoryStress = StressLimits()
        /// Tells of memory pressure; ``SystemMemoryPressure``, for one. None by default.
        public var memoryPressure: (any MemoryPressureSource)? = nil
        /// Whether paths and `file` URLs are loaded, too: without a request, and without a trace in the store. They are.
        public var loadsFiles: Bool = true
        /// Whether gzip and deflate are asked for, and taken off what arrives. They are.
        public var decodesContent: Bool = true
        /// The types of content that are taken; `nil`, the default, for any. Others end in
        /// ``LoadError/unacceptableContentType(_:url:)``, and are not stored.
        public var contentTypes: ContentTypeFilter? = nil
        /// What is sent to which origin; see ``setCredentials(_:forOrigin:)``. None by default.
        public internal(set) var credentials: [String: Credentials] = [:]
        /// How long a load waits for another process that loads the same into the same store, instead of asking the origin
        /// too; 10 seconds by default, zero for not at all. A process that has ended is not waited for.
        public var processWait: Duration = .seconds(10)
        /// Tells whether hosts can be reached. Without one, the default, a load that cannot reach its host is tried again
        /// after a pause.
        public var reachability: (any Reachability)? = nil
        /// Tells the time. The system clock by default.
        public var clock: @Sendable () -> Date = { Date() }
        /// Pauses the calling task, until that is cancelled. The system's by default.
        public var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
        /// A number from 0 up to 1, for what is left to chance. The system's by default.
        public var chance: @Sendable () -> Double = { .random(in: 0..<1) }
        /// Is told what ``logOptions`` say. Silent by default.
        public var logger: Logger = Logger(label: "CacheLoader") { _ in SwiftLogNoOpLogHandler() }
        /// What the logger is told of: errors by default.
        public var logOptions: LogOptions = .errors
        /// Where metrics go. `nil`, the default, for what swift-metrics is bootstrapped with when the loader is made.
        public var metrics: (any MetricsFactory)? = nil

        /// The defaults.
        public init() {}

        var cache: HTTPCache.Configuration {
            var cache = HTTPCache.Configuration()
            cache.policy = policy
            cache.partition = partition
            cache.maxBodyBytes = maxBodyBytes
            cache.processWait = processWait
            cache.clock = clock
            cache.sleep = sleep
            cache.logger = logger
            cache.logOptions = logOptions
            cache.cacheStatus = nil
            // A flight that is stopped takes no byte more, however near the end is.
            cache.abandonedBytes = -1
            return cache
        }
    }
}

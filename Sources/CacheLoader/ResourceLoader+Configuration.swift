public import CacheFoundation
internal import CacheStore
public import CoreMetrics
public import Logging

extension ResourceLoader {
    /// The configuration of a loader.
    ///
    /// <doc:HowARequestIsAnswered> lists the properties whose defaults differ from those of an ``HTTPCache``.
    public struct Configuration: Sendable {
        /// The rules for answers from the store; those of RFC 9111 for a private cache by default.
        ///
        /// In addition, a stored response of any age answers by default if its origin fails, unless the origin forbids
        /// that. ``Loaded/failure`` is then the failure.
        public var policy: CachePolicy = CachePolicy(staleIfError: .seconds(Int64.max))
        /// Changes to ``policy`` for the URLs that match a pattern; none by default. The first match counts.
        ///
        /// The policy of a request changes the result further, and inherits the rest. Each redirect step follows the
        /// policy for its own URL.
        public var urlPolicies: [URLPolicy] = []
        /// A part of every key, such as a user, a tenant or a site; empty by default.
        public var partition: String = ""
        /// The maximum length of a body in bytes; 1 GiB by default. A longer body fails with
        /// ``LoadError/bodyTooLarge(url:limit:)``.
        public var maxBodyBytes: Int64 = 1 << 30
        /// The maximum length of a body in memory after its content coding is removed, in bytes; 64 MiB by default. A
        /// longer one fails with ``LoadError/bodyTooLarge(url:limit:)``: a megabyte of gzip can stand for a gigabyte.
        public var maxDecodedBytes: Int64 = 64 << 20
        /// The maximum number of redirects in a load; 20 by default.
        public var maxRedirects: Int = 20
        /// Decides when to retry a failed load; 5 attempts by default.
        public var retry = RetryPolicy()
        /// Decides whether to send requests that the origin keeps answering with errors. The default sends them.
        public var negativeCaching = NegativeCaching()
        /// The numbers of transfers at a time: by default 6 urgent ones, 1 in the background, and 4 to one host.
        public var lanes = LaneWidths()
        /// The time limit of one attempt of a request without ``ResourceRequest/timeout``; 5 minutes by default, `nil`
        /// for no limit.
        ///
        /// The limit ends a transfer whose origin keeps sending a few bytes, which an idle timeout would not end. The
        /// next attempt continues an interrupted body, if its origin permits ranges.
        public var timeout: Duration? = .seconds(300)
        /// The conditions of the network in which each lane holds its loads back; none by default.
        ///
        /// A load that is held back begins its transfer when the conditions have ended. ``reachability`` reports the
        /// conditions; without one, no load is held back.
        public var heldBack: [Lane: NetworkConditions] = [:]
        /// The maximum size of all values in memory, in bytes, with one or two kilobytes of metadata for each. 0, the
        /// default, keeps none. With `nil` or `Int.max` there is no limit. A change takes effect immediately.
        public var memoryLimit: Int? = 0
        /// The limits for the values in memory under memory pressure.
        public var memoryStress = StressLimits()
        /// The source of memory pressure, such as ``MemoryPressureSource/system()``; none by default. A signal shrinks
        /// the memory, and releases the values of models without observers or leases.
        public var memoryPressure: MemoryPressureSource? = nil
        /// Whether the loader also loads paths and `file` URLs, without a request and without storing their content.
        /// `false` by default: text from a server must not make the loader read a file.
        public var loadsFiles: Bool = false
        /// Whether the loader requests content codings, and decodes bodies; `true` by default.
        ///
        /// These are gzip and deflate and, with the traits `Brotli` and `Zstd` of the package, br and zstd.
        public var decodesContent: Bool = true
        /// The accepted types of content, such as `["image/*"]`, or `nil`, the default, for all. Content of another
        /// type fails with ``LoadError/unacceptableContentType(_:url:)``, and is not stored. If it has `Age`, the load
        /// first requests it once more, with `no-cache`.
        public var contentTypes: [MediaRange]? = nil
        /// Whether ``contentTypes`` permit content without a readable `Content-Type`; `false` by default.
        ///
        /// RFC 9110 §8.3: a recipient may assume `application/octet-stream` for such content, or examine the content.
        public var acceptsMissingContentType: Bool = false
        /// The credentials for each origin; see ``setCredentials(_:forOrigin:)``. None by default.
        public internal(set) var credentials: [String: Credentials] = [:]
        /// The maximum wait for another process that loads the same resource into the same store; 10 seconds by
        /// default, 0 for no wait. After the wait the loader asks the origin, too. The wait ends early if the other
        /// process ends.
        public var processWait: Duration = .seconds(10)
        /// Reports whether hosts are reachable, so that loads wait for their host, and the conditions of the network.
        /// Without a source, the default, a load that cannot connect to its host fails immediately.
        public var reachability: (any Reachability)? = nil
        /// Returns the current time. The system clock by default.
        public var clock: @Sendable () -> Date = { Date() }
        /// Pauses the calling task until the time has passed or the task is cancelled. `Task.sleep(for:)` by default.
        public var sleep: @Sendable (Duration) async throws -> Void = { try await pause(for: $0) }
        /// Returns a random number from 0 up to 1. The system's generator by default.
        public var chance: @Sendable () -> Double = { .random(in: 0..<1) }
        /// Options for the field `Cache-Status` (RFC 9211) of responses, or `nil`, the default, for no field.
        public var cacheStatus: CacheStatusOptions? = nil
        /// Receives the messages that ``logOptions`` select. Silent by default.
        public var logger: Logger = Logger(label: "CacheLoader") { _ in SwiftLogNoOpLogHandler() }
        /// The kinds of messages that the logger receives: errors by default.
        public var logOptions: LogOptions = .errors
        /// The factory for metrics. With `nil`, the default, the loader uses the factory with which swift-metrics is
        /// bootstrapped when the loader is created.
        public var metrics: (any MetricsFactory)? = nil
        /// Receives the steps of each load; none by default.
        ///
        /// A load with events does not report its wait for an equal load.
        public var observer: (any RequestObserver)? = nil

        /// Creates the default configuration.
        public init() {}

        var contentTypeFilter: ContentTypeFilter? {
            contentTypes.map { ContentTypeFilter($0, acceptsMissing: acceptsMissingContentType) }
        }

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
            cache.cacheStatus = cacheStatus
            cache.observer = observer
            // A stopped load receives no more bytes, even near the end of its body.
            cache.abandonedBytes = -1
            return cache
        }
    }
}

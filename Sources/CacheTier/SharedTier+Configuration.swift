public import CacheFoundation
public import CacheLoader
internal import CacheStore
public import CoreMetrics

extension SharedTier {
    /// The configuration of a tier.
    public struct Configuration: Sendable {
        /// The name in `Cache-Status`; `tier` by default.
        public var name = "tier"
        /// A part of every key, such as a tenant. Empty by default. Machines with different partitions find none of
        /// each other's responses.
        ///
        /// The partition of a store or loader does not reach the tier, so create a tier for each partition.
        public var partition = ""
        /// The mode and the rules for storing and for the freshness lifetime. By default those of a shared cache.
        ///
        /// In a partition of one user, a private policy also stores responses with `private`, and responses to requests
        /// with `Authorization`.
        public var policy = CachePolicy.shared
        /// Whether the tier guesses a freshness lifetime for responses to requests with `Cookie` or `Authorization`.
        /// `false` by default.
        ///
        /// RFC 9111 §4.2.2 permits it. But many applications state no lifetime on pages for one user, and a tier would
        /// show them to other users.
        public var sharesHeuristically = false
        /// The longest wait for a response, or `nil`, the default, for that of the engine: ``TierEngine/deadline``.
        public var deadline: Duration? = nil
        /// The longest wait for the next 64 KiB of a body; 1 second by default. After it, the rest comes from the
        /// origin.
        ///
        /// For the whole body, the waits may together take this time and one more second for each MiB.
        public var bodyDeadline: Duration = .seconds(1)
        /// The longest time for one write; 10 seconds by default.
        public var writeDeadline: Duration = .seconds(10)
        /// How long other machines may still answer with removed responses after a removal; 5 seconds by default.
        ///
        /// A machine asks the engine for new removals once in this time, and remembers the object of a URL for it.
        public var removalDelay: Duration = .seconds(5)
        /// The number of simultaneous writes; 16 by default. At most as many as the transport of the engine has
        /// connections.
        public var writers = 16
        /// The age at which the engine deletes objects, or `nil`, the default, if it is unknown.
        ///
        /// A 304 of the origin rewrites the record of a response, and its body only after three quarters of this time.
        /// Without it, a body that the engine deletes comes from the origin once more.
        public var retention: Duration? = nil
        /// The longest body to write; 8 MiB by default.
        public var maxBodyBytes = 8 << 20
        /// The most bytes of bodies that are arriving or waiting for their writing; 32 MiB by default. Each waiting write
        /// counts for at least 1 KiB.
        public var maxPendingBytes = 32 << 20
        /// Returns the current time, for the steps of the observer. The system clock by default.
        public var clock: @Sendable () -> Date = { Date() }
        /// Pauses the calling task, for the deadlines. `Task.sleep(for:)` by default.
        public var sleep: @Sendable (Duration) async throws -> Void = { try await pause(for: $0) }
        /// Receives a step for each request to the tier; none by default.
        public var observer: (any RequestObserver)? = nil
        /// The factory for metrics. `nil`, the default, means the factory with which swift-metrics is bootstrapped when
        /// the tier is created.
        public var metrics: (any MetricsFactory)? = nil
        /// Returns a time that only advances.
        package var uptime: @Sendable () -> Duration = { ContinuousClock.now - SharedTier.start }

        /// Creates the default configuration.
        public init() {}
    }
}

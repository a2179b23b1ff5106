public import CacheFoundation
public import CacheLoader
internal import CacheStore
public import CoreMetrics
public import HTTPCaching

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
        /// The longest wait for the head of a response; 50 milliseconds by default.
        public var deadline: Duration = .milliseconds(50)
        /// The longest wait for the next 64 KiB of a body; 1 second by default. After it, the rest comes from the
        /// origin.
        ///
        /// For the whole body, the waits may together take this time and one more second for each MiB.
        public var bodyDeadline: Duration = .seconds(1)
        /// The longest time for one write; 10 seconds by default.
        public var writeDeadline: Duration = .seconds(10)
        /// How long other machines may still answer with removed responses after a removal; 5 seconds by default.
        public var epochLifetime: Duration = .seconds(5)
        /// The longest wait for a response that another machine is requesting; 1 second by default, 0 for no wait.
        ///
        /// Needs an engine with conditional writes: see ``SharedTier/hasConditionalWrites``. A wait also ends after
        /// twice the average time of the origin.
        public var leaseWait: Duration = .seconds(1)
        /// The time after which other machines take over an unfinished request of a machine; 10 seconds by default, at
        /// least 2. Counts in whole seconds of the tier's time.
        public var leaseLifetime: Duration = .seconds(10)
        /// The longest body to write; 8 MiB by default.
        public var maxBodyBytes = 8 << 20
        /// The most bytes of bodies that are arriving or waiting for their writing; 32 MiB by default.
        public var maxPendingBytes = 32 << 20
        /// Returns the current time, for signatures before the engine has stated its time. The system clock by default.
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

public import CacheLoader
public import CacheStore

extension ResourceLoader {
    /// Creates a loader on a manual clock: time and pauses are those of `clock`.
    ///
    /// A pause between two attempts, for one, lasts until a test advances the clock. So a load from an origin that fails
    /// does not end by itself, unless `configuration` forbids to retry. The default
    /// ``/CacheLoader/ResourceLoader/Configuration/timeout`` is off: it would be one of the pauses for which
    /// ``ManualClock/waitForSleeps(_:)`` waits.
    public convenience init(
        store: ResponseStore, transport: any HTTPTransport, clock: ManualClock,
        configuration: Configuration = Configuration()
    ) {
        var configuration = configuration
        configuration.clock = clock.date
        configuration.sleep = clock.sleep
        if configuration.timeout == Configuration().timeout { configuration.timeout = nil }
        self.init(store: store, transport: transport, configuration: configuration)
    }
}

extension HTTPCache {
    /// Creates a cache on a manual clock: time and pauses are those of `clock`.
    public convenience init(
        store: ResponseStore, transport: any HTTPTransport, clock: ManualClock,
        configuration: Configuration = Configuration()
    ) {
        var configuration = configuration
        configuration.clock = clock.date
        configuration.sleep = clock.sleep
        self.init(store: store, transport: transport, configuration: configuration)
    }
}

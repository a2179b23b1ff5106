public import CacheLoader
public import CacheStore

extension ResourceLoader {
    /// Creates a loader on a manual clock, which controls its time and its pauses.
    ///
    /// For example, a pause between two attempts lasts until a test advances the clock. So a load from a failing origin
    /// does not end by itself, unless `configuration` forbids retries. The default
    /// ``/CacheLoader/ResourceLoader/Configuration/timeout`` is off, because ``ManualClock/waitForSleeps(_:)`` would
    /// count it as a pause.
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
    /// Creates a cache on a manual clock, which controls its time and its pauses.
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

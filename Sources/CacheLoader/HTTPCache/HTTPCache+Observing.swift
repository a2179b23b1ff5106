extension HTTPCache {
    /// The counts since the creation of the cache. Each number is exact, but the numbers are read one after the other.
    public var counters: CacheCounters { CacheCounters(meters) }

    /// Returns a stream that reports whether requests to origins are in progress. The stream begins with the current
    /// state, reports each change, and ends when the cache is released.
    ///
    /// Each call returns a new stream, for one reader. A slow reader receives only the latest state. Validation in the
    /// background counts.
    ///
    /// - Parameter offDelay: The time without requests before the stream reports `false`, so that a spinner does not
    ///   flicker between two requests. ``Configuration/sleep`` measures it. With zero or less, the stream reports
    ///   `false` immediately.
    public func activity(offDelay: Duration = .milliseconds(250)) -> AsyncStream<Bool> {
        meters.activity.states(offDelay: offDelay, sleep: configuration.sleep)
    }
}

extension HTTPCache.Configuration {
    var log: CacheLog { CacheLog(logger: logger, options: logOptions) }
}

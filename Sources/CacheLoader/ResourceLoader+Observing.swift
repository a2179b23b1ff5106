extension ResourceLoader {
    /// The counts since the creation of the loader. Each number is exact, but the numbers are read one after the other.
    public var counters: CacheCounters { CacheCounters(context.meters, meters) }

    /// Returns a stream that reports whether requests to origins are in progress. The stream begins with the current
    /// state, reports each change, and ends when the loader is released.
    ///
    /// A request is in progress from its sending to the last byte of its response.
    ///
    /// ```swift
    /// for await isActive in loader.activity() { spinner.isHidden = !isActive }
    /// ```
    ///
    /// Each call returns a new stream, for one reader. A slow reader receives only the latest state. Requests in the
    /// background count. Answers from memory, from a file or from the store do not, nor does the pause before another
    /// attempt.
    ///
    /// - Parameter offDelay: The time without requests before the stream reports `false`, so that a spinner does not
    ///   flicker between two requests. ``Configuration/sleep`` measures it. With zero or less, the stream reports
    ///   `false` immediately.
    public func activity(offDelay: Duration = .milliseconds(250)) -> AsyncStream<Bool> {
        context.meters.activity.states(offDelay: offDelay, sleep: configuration.sleep)
    }
}

extension ResourceLoader.Configuration {
    var log: CacheLog { CacheLog(logger: logger, options: logOptions) }
}

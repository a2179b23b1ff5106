/// Whether requests to origins are under way.
public enum NetworkActivity: String, Hashable, Sendable, CaseIterable {
    /// None is.
    case idle
    /// At least one is: from its sending to the last byte of its response.
    case active
}

extension ResourceLoader {
    /// Whether requests to origins are under way: at once as it is now, then each change, until the loader is gone.
    ///
    /// ```swift
    /// for await activity in loader.activity() { spinner.isHidden = activity == .idle }
    /// ```
    ///
    /// Each call gives a stream of its own, for one reader, who is told the latest if some were missed. Requests in the
    /// background count, too; what memory, a file or the store answers does not, nor does a pause before another attempt.
    ///
    /// - Parameter offDelay: How long nothing has to be under way before ``NetworkActivity/idle`` is told, so that a spinner
    ///   does not flicker between two requests; ``Configuration/sleep`` measures it. Zero or less for at once.
    public func activity(offDelay: Duration = .milliseconds(250)) -> AsyncStream<NetworkActivity> {
        context.meters.activity.states(offDelay: offDelay, sleep: configuration.sleep)
    }
}

extension HTTPCache {
    /// Whether requests to origins are under way: at once as it is now, then each change, until the cache is gone.
    ///
    /// Each call gives a stream of its own, for one reader, who is told the latest if some were missed. Validation in the
    /// background counts, too.
    ///
    /// - Parameter offDelay: How long nothing has to be under way before ``NetworkActivity/idle`` is told, so that a spinner
    ///   does not flicker between two requests; ``Configuration/sleep`` measures it. Zero or less for at once.
    public func activity(offDelay: Duration = .milliseconds(250)) -> AsyncStream<NetworkActivity> {
        meters.activity.states(offDelay: offDelay, sleep: configuration.sleep)
    }

    /// How many read ``activity(offDelay:)``.
    package var activityReaderCount: Int { meters.activity.readerCount }
}

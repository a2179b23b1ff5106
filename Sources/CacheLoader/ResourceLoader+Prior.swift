public import CacheFoundation

extension ResourceLoader {
    /// Loads a request whose value the program has already, and returns events like ``events(for:deliversStale:)``.
    ///
    /// The prior value comes first, as ``LoadEvent/cached(_:)``, in place of a stored value that is no longer fresh.
    /// The load ends with the prior value if it finds nothing newer. The source is then ``ResponseSource/notModified``
    /// for an equal version, and ``ResponseSource/local`` for an older one.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - prior: The value that the program has.
    ///   - version: Its version; a greater version is newer.
    ///   - versionOf: Returns the version of a loaded value; `nil`, which counts as newer, if it has none. Called at most
    ///     once, on any thread.
    public func events<Version: Comparable & Sendable>(
        for request: ResourceRequest, prior: Data, version: Version,
        versionOf: @escaping @Sendable (Loaded<Data>) -> Version?
    ) -> AsyncStream<LoadEvent<Data>> {
        EventsAfterPrior(prior, version: version, url: request.url, versionOf: versionOf)
            .events(of: events(for: request, deliversStale: false))
    }
}

extension EventsAfterPrior {
    /// Returns the events to deliver for those of `load`. Releasing the returned stream cancels `load`.
    func events(of load: AsyncStream<LoadEvent<Output>>) -> AsyncStream<LoadEvent<Output>> {
        let (stream, continuation) = AsyncStream<LoadEvent<Output>>.makeStream()
        continuation.yield(first)
        let task = Task {
            for await event in load {
                if let event = self.event(for: event) { continuation.yield(event) }
            }
            continuation.finish()
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}

public import CacheFoundation

extension ResourceLoader {
    /// Loads a request whose value the program already has, and returns events like ``events(for:as:deliversStale:)``.
    ///
    /// The prior value comes first, as ``LoadEvent/cached(_:)``, in place of a stored value that is no longer fresh.
    /// The load ends with the prior value if it finds nothing newer. The source is then ``ResponseSource/notModified``
    /// for an equal version, and ``ResponseSource/local`` for an older one.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - prior: The value that the program has.
    ///   - version: Its version; a greater version is newer.
    ///   - versionOf: Returns the version of a loaded value. A value without a version counts as newer. Called at most
    ///     once, on any thread.
    public func events<Version: Comparable & Sendable>(
        for request: ResourceRequest, prior: Data, version: Version,
        versionOf: @escaping @Sendable (Loaded<Data>) -> Version?
    ) -> AsyncStream<LoadEvent<Data>> {
        let first = Loaded(prior, of: request.url)
        return events(for: request, deliversStale: false).mapped(after: .cached(first)) { event in
            switch event {
            case .cached: nil
            case .requesting: .requesting(hadCached: true)
            case .progress, .retrying, .storeFailed, .completed, .failed, .cancelled:
                event.map { loaded in
                    guard let found = versionOf(loaded), found <= version else { return loaded }
                    return found == version ? loaded.with(prior, source: .notModified) : first
                }
            }
        }
    }
}

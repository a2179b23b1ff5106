/// A value that a program already has, from another source than a load, with its version.
public struct VersionedPrior<Output: Sendable, Version: Comparable & Sendable>: Sendable {
    /// The value.
    public let value: Output
    /// Its version; a greater version is newer.
    public let version: Version

    /// Creates a prior value.
    public init(_ value: Output, version: Version) {
        self.value = value
        self.version = version
    }
}

/// A pure mapping of the events of a load with a prior value. The prior value comes first, and only a newer value
/// replaces it.
package struct EventsAfterPrior<Output: Sendable, Version: Comparable & Sendable>: Sendable {
    private let prior: VersionedPrior<Output, Version>
    private let loaded: Loaded<Output>
    private let version: @Sendable (Loaded<Output>) -> Version?

    /// - Parameters:
    ///   - url: The URL of the load.
    ///   - version: Returns the version of a loaded value. A value without a version counts as newer.
    package init(
        _ prior: VersionedPrior<Output, Version>, url: String, version: @escaping @Sendable (Loaded<Output>) -> Version?
    ) {
        self.prior = prior
        self.version = version
        loaded = Loaded(prior.value, of: url)
    }

    /// The event that precedes all events of the load.
    package var first: LoadEvent<Output> { .cached(loaded) }

    /// Returns the event to deliver for an event of the load; `nil` for none.
    package func event(for event: LoadEvent<Output>) -> LoadEvent<Output>? {
        switch event {
        case .cached: nil
        case .requesting: .requesting(hadCached: true)
        case .completed(let loaded): .completed(latest(loaded))
        case .progress, .retrying, .storeFailed, .failed, .cancelled: event
        }
    }

    private func latest(_ loaded: Loaded<Output>) -> Loaded<Output> {
        guard let version = version(loaded), version <= prior.version else { return loaded }
        return version == prior.version ? loaded.with(prior.value, source: .notModified) : self.loaded
    }
}

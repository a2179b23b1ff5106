/// A pure mapping of the events of a load with a prior value. The prior value comes first, and only a newer value
/// replaces it.
package struct EventsAfterPrior<Output: Sendable, Version: Comparable & Sendable>: Sendable {
    private let prior: Output
    private let priorVersion: Version
    private let loaded: Loaded<Output>
    private let versionOf: @Sendable (Loaded<Output>) -> Version?

    /// `version` is that of the prior value; a greater version is newer. A value without a version counts as newer.
    package init(
        _ prior: Output, version: Version, url: String,
        versionOf: @escaping @Sendable (Loaded<Output>) -> Version?
    ) {
        self.prior = prior
        priorVersion = version
        self.versionOf = versionOf
        loaded = Loaded(prior, of: url)
    }

    /// The event that precedes all events of the load.
    package var first: LoadEvent<Output> { .cached(loaded) }

    /// Returns the event to deliver for an event of the load, or `nil` for none.
    package func event(for event: LoadEvent<Output>) -> LoadEvent<Output>? {
        switch event {
        case .cached: nil
        case .requesting: .requesting(hadCached: true)
        case .progress, .retrying, .storeFailed, .completed, .failed, .cancelled: event.map(latest)
        }
    }

    private func latest(_ loaded: Loaded<Output>) -> Loaded<Output> {
        guard let version = versionOf(loaded), version <= priorVersion else { return loaded }
        return version == priorVersion ? loaded.with(prior, source: .notModified) : self.loaded
    }
}

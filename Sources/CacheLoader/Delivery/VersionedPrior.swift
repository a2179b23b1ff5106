/// A value that a program has already, by other ways than a load, and which version of it that is.
public struct VersionedPrior<Output: Sendable, Version: Comparable & Sendable>: Sendable {
    /// The value.
    public let value: Output
    /// Its version: the greater, the newer.
    public let version: Version

    /// Creates a prior value.
    public init(_ value: Output, version: Version) {
        self.value = value
        self.version = version
    }
}

/// The events of a load in the light of a prior value, which comes first, and gives place only to a newer one. Pure.
package struct EventsAfterPrior<Output: Sendable, Version: Comparable & Sendable>: Sendable {
    private let prior: VersionedPrior<Output, Version>
    private let loaded: Loaded<Output>
    private let version: @Sendable (Loaded<Output>) -> Version?

    /// - Parameters:
    ///   - url: Where it is loaded from.
    ///   - version: The version of what was loaded; without one it is taken for newer.
    package init(
        _ prior: VersionedPrior<Output, Version>, url: String, version: @escaping @Sendable (Loaded<Output>) -> Version?
    ) {
        self.prior = prior
        self.version = version
        loaded = Loaded(prior.value, of: url)
    }

    /// What comes before all others.
    package var first: LoadEvent<Output> { .cached(loaded) }

    /// What is told of an event; `nil` for nothing.
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

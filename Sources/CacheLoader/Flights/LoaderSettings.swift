internal import Synchronization

/// The configuration of a loader, as it was at a moment. Loads share it, for a copy of all that it holds is not cheap.
final class LoaderSettings: Sendable {
    let configuration: ResourceLoader.Configuration
    /// What it says to the cache.
    let cache: HTTPCache.Configuration
    /// Counts the changes: loads before and after one do not share a flight.
    let generation: UInt64
    private let lastNumber = Atomic<UInt64>(0)

    init(_ configuration: ResourceLoader.Configuration, generation: UInt64) {
        self.configuration = configuration
        cache = configuration.cache
        self.generation = generation
    }

    /// A number that no other load with these settings has.
    func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }
}

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension ResourceLoader {
    /// What happens to the load of a request whose value the program has already, as ``events(for:deliversStale:)`` tells it.
    ///
    /// The prior value comes first, as ``LoadEvent/cached(_:)``, in place of a stored one that is not fresh. The load ends
    /// with it if nothing newer was found: as ``ResponseSource/notModified`` if the versions are equal, as
    /// ``ResponseSource/local`` if what was loaded is older.
    ///
    /// - Parameters:
    ///   - request: What is loaded.
    ///   - prior: The value that the program has.
    ///   - version: The version of what was loaded; `nil` if it has none, which counts as newer. Is called at most once, on any
    ///     thread.
    public func events<Version: Comparable & Sendable>(
        for request: ResourceRequest, prior: VersionedPrior<Data, Version>,
        version: @escaping @Sendable (Resource) -> Version?
    ) -> AsyncStream<LoadEvent<Data>> {
        EventsAfterPrior(prior, url: request.url, version: version)
            .events(of: events(for: request, deliversStale: false))
    }
}

extension EventsAfterPrior {
    /// The events of `load` as they are told. Letting go of them is letting go of the load.
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

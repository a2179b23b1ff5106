package import CacheStore

/// Puts what happens to a load into the order that ``LoadEvent`` promises, whichever of its sources is faster. Pure.
///
/// A stored value may take longer to be made of its bytes than the origin takes to answer: what the origin's side has to
/// tell waits for it, and the end of the load does without it.
package struct EventOrder<Output: Sendable>: Sendable {
    private var isWaitingForCached = false
    private var hadCached = false
    private var hasRequested = false
    private var hasStoreFailed = false
    private var hasEnded = false
    private var received: Int64 = 0
    private var held: [LoadEvent<Output>] = []

    package init() {}

    /// A stored value is going to be told of with ``cached(_:)``. To be said before anything else.
    package mutating func awaitCached() {
        isWaitingForCached = true
        hadCached = true
    }

    /// The stored value is there, or cannot be had after all.
    package mutating func cached(_ loaded: Loaded<Output>?) -> [LoadEvent<Output>] {
        guard isWaitingForCached, !hasEnded else { return [] }
        isWaitingForCached = false
        defer { held = [] }
        guard let loaded else {
            hadCached = false
            return held.map { event in
                if case .requesting = event { .requesting(hadCached: false) } else { event }
            }
        }
        return [.cached(loaded)] + held
    }

    package mutating func requesting() -> [LoadEvent<Output>] {
        guard !hasRequested, !hasEnded else { return [] }
        hasRequested = true
        return pass([.requesting(hadCached: hadCached)])
    }

    /// What is no more than was told before is not told: another attempt begins with the first byte again.
    package mutating func progress(_ progress: LoadProgress) -> [LoadEvent<Output>] {
        guard !hasEnded, progress.received > received else { return [] }
        received = progress.received
        return pass(requesting() + [.progress(progress)])
    }

    package mutating func retrying(_ retry: LoadRetry) -> [LoadEvent<Output>] {
        guard !hasEnded else { return [] }
        return pass(requesting() + [.retrying(retry)])
    }

    /// What is told once is enough: one failure of a store has others follow.
    package mutating func storeFailed(_ error: StoreError) -> [LoadEvent<Output>] {
        guard !hasStoreFailed, !hasEnded else { return [] }
        hasStoreFailed = true
        return pass(requesting() + [.storeFailed(error)])
    }

    /// The end, which comes once.
    package mutating func end(_ result: Result<Loaded<Output>, LoadError>) -> [LoadEvent<Output>] {
        guard !hasEnded else { return [] }
        hasEnded = true
        defer { held = [] }
        let last: LoadEvent<Output> =
            switch result {
            case .success(let loaded): .completed(loaded)
            case .failure(.cancelled): .cancelled
            case .failure(let error): .failed(error)
            }
        return held + [last]
    }

    private mutating func pass(_ events: [LoadEvent<Output>]) -> [LoadEvent<Output>] {
        guard isWaitingForCached else { return events }
        held += events
        return []
    }
}

package import CacheStore

/// Puts the events of a load into the order that ``LoadEvent`` promises, regardless of which source is faster. A state
/// machine: each method returns the events to deliver. Processing a stored value may take longer than the answer of the
/// origin. Events from the origin then wait for the stored value. The end of the load does not wait, and the stored
/// value is dropped.
package struct EventOrder<Output: Sendable>: Sendable {
    private var isWaitingForCached = false
    private var hadCached = false
    private var hasRequested = false
    private var hasStoreFailed = false
    private var hasEnded = false
    private var received: Int64 = 0
    private var held: [LoadEvent<Output>] = []

    package init() {}

    /// Announces a stored value, which ``cached(_:)`` delivers. Must precede all other calls.
    package mutating func awaitCached() {
        isWaitingForCached = true
        hadCached = true
    }

    /// Delivers the stored value. `loaded` is `nil` when no value is available after all.
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

    /// Drops progress that does not exceed the last one, because each attempt begins with the first byte again.
    package mutating func progress(received: Int64, total: Int64?) -> [LoadEvent<Output>] {
        guard !hasEnded, received > self.received else { return [] }
        self.received = received
        return pass(requesting() + [.progress(received: received, total: total)])
    }

    package mutating func retrying(
        _ error: LoadError, failedAttempts: Int, delay: Duration?
    ) -> [LoadEvent<Output>] {
        guard !hasEnded else { return [] }
        return pass(requesting() + [.retrying(error, failedAttempts: failedAttempts, delay: delay)])
    }

    /// Delivers the first failure only, because one failure of a store causes more.
    package mutating func storeFailed(_ error: StoreError) -> [LoadEvent<Output>] {
        guard !hasStoreFailed, !hasEnded else { return [] }
        hasStoreFailed = true
        return pass(requesting() + [.storeFailed(error)])
    }

    /// Ends the load. Later calls have no effect.
    package mutating func end(_ result: Result<Loaded<Output>, LoadError>) -> [LoadEvent<Output>] {
        guard !hasEnded else { return [] }
        hasEnded = true
        defer { held = [] }
        return held + [LoadEvent(result)]
    }

    private mutating func pass(_ events: [LoadEvent<Output>]) -> [LoadEvent<Output>] {
        guard isWaitingForCached else { return events }
        held += events
        return []
    }
}

/// Collapses the loads of several processes, or of several loaders in one process, with a lock for each key. A loader
/// that misses a key locks it, looks it up once more, fetches, commits and releases the lock. While another loader
/// holds the lock, it waits. The second lookup then usually finds the response.
extension ResponseStore {
    /// Locks `key` for a load. Waits while another store holds the lock, until the task is cancelled or the sum of the
    /// pauses is `limit`. Does not wait if this object holds the lock. A release in another store wakes no waiter, so
    /// the waiter polls: after 5 ms, then twice as long each time, up to 100 ms. Waiters get the lock in no particular
    /// order.
    package func lock(
        _ key: CacheKey, within limit: Duration,
        sleep: (Duration) async throws -> Void = { try await pause(for: $0) }
    ) async throws(StoreError) -> KeyLocks.Outcome {
        var (rest, pause) = (limit, Duration.milliseconds(5))
        while true {
            let outcome = try keyLocks.tryLock(key)
            guard case .heldElsewhere = outcome, rest > .zero, !Task.isCancelled else { return outcome }
            let next = min(pause, rest)
            try? await sleep(next)
            rest -= next
            pause = min(pause * 2, .milliseconds(100))
        }
    }
}

/// Collapses the loads of several processes, or of several loaders in one process, with a lock for each key.
///
/// A loader that misses a key locks the key, looks it up once more, fetches, commits and releases the lock. The loader
/// waits while another loader holds the lock; the second lookup then mostly finds the response.
extension ResponseStore {
    /// Locks `key` for a load; `nil` if another loader, in any process, holds the lock. Never blocks: two system calls,
    /// some microseconds.
    ///
    /// ``KeyLock/release()``, the end of the last reference, the end of the process, closing and suspending the store
    /// release the lock. The lock is advisory: where the file system has no locks, or no descriptor is left, only
    /// loaders that use this object exclude each other. A store that is open for reading only respects the locks of
    /// other stores. Its own locks do not exclude other stores, because it will store nothing.
    ///
    /// - Throws: ``StoreError/suspended``, ``StoreError/closed``, and nothing else.
    package func tryLock(_ key: CacheKey) throws(StoreError) -> KeyLock? {
        if case .locked(let lock) = try keyLocks.tryLock(key) { lock } else { nil }
    }

    /// Locks `key` for a load, and waits while another store holds the lock, for at most `limit` and until the task is
    /// cancelled. Does not wait if this object holds the lock.
    ///
    /// A release elsewhere wakes no caller, so the caller tries again: after 5 ms, then after twice as long each time, up
    /// to 100 ms. Waiters get the lock in no order.
    ///
    /// - Parameters:
    ///   - key: The key to be loaded.
    ///   - limit: The longest wait, as the sum of the pauses.
    ///   - sleep: Pauses the calling task, until the task is cancelled.
    /// - Throws: The errors of ``tryLock(_:)``.
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

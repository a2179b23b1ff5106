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

    /// Locks `key` for a load and waits for other loaders; `nil` after `limit`, or when the task is cancelled.
    ///
    /// A release in this object wakes the caller at once. A release elsewhere cannot, so the caller tries again: after
    /// 5 ms, then after twice as long each time, up to 100 ms. Waiters get the lock in no order.
    ///
    /// - Parameters:
    ///   - key: The key to be loaded.
    ///   - limit: The longest wait.
    ///   - elsewhereOnly: Whether to return `nil` at once if this object holds the lock.
    ///   - clock: The clock that measures the limit and the pauses.
    /// - Throws: The errors of ``tryLock(_:)``.
    package func lock(
        _ key: CacheKey, within limit: Duration, elsewhereOnly: Bool = false,
        clock: some Clock<Duration> = ContinuousClock()
    ) async throws(StoreError) -> KeyLock? {
        let deadline = clock.now.advanced(by: limit)
        var pause = Duration.milliseconds(5)
        while true {
            let outcome = try keyLocks.tryLock(key)
            if case .locked(let lock) = outcome { return lock }
            let rest = clock.now.duration(to: deadline)
            guard rest > .zero, !Task.isCancelled else { return nil }
            if case .heldHere = outcome {
                if elsewhereOnly { return nil }
                await waitForRelease(of: key, upTo: rest, clock)
            } else {
                try? await clock.sleep(for: min(pause, rest))
                pause = min(pause * 2, .milliseconds(100))
            }
        }
    }

    private func waitForRelease(of key: CacheKey, upTo rest: Duration, _ clock: some Clock<Duration>) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [keyLocks] in await keyLocks.waitForRelease(of: key) }
            group.addTask { try? await clock.sleep(for: rest) }
            await group.next()
            group.cancelAll()
        }
    }
}

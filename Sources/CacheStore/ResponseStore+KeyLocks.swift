/// Loads that several processes, or several loaders of one, would make at once: one fetches, the others wait for its commit.
///
/// Whoever misses a key claims it. With a claim it looks the key up once more, since somebody else may have just stored it,
/// fetches, commits and releases. Without one it waits for the claim and then does the same, mostly to find the response.
extension ResponseStore {
    /// Claims the load of `key`; `nil` if somebody else has it, in any process. Never waits: two system calls, some
    /// microseconds.
    ///
    /// A claim ends with ``LoadClaim/release()``, with its last reference, with the process, however it ends, and when the
    /// store is closed or suspended. It is advice: where the file system has no locks, or no descriptor is left, everybody
    /// gets what they ask for, as far as this store object knows of nobody else. A store that is only read sees the claims
    /// of others, and keeps nobody outside of it waiting, since it will store nothing.
    ///
    /// - Throws: ``StoreError/suspended``, ``StoreError/closed``, and nothing else.
    package func claim(_ key: CacheKey) throws(StoreError) -> LoadClaim? {
        if case .claimed(let claim) = try claims.claim(key) { claim } else { nil }
    }

    /// Claims the load of `key` as soon as nobody else has it; `nil` when that takes longer than `limit`, or when the task is
    /// cancelled.
    ///
    /// Woken at once by who uses this store object. Other processes cannot tell, and are asked after 5 ms, then twice as long
    /// each time, up to 100 ms. Who comes first gets it, in no order.
    ///
    /// - Parameters:
    ///   - key: What is to be loaded.
    ///   - limit: The longest to wait.
    ///   - clock: Tells the time, and sleeps.
    /// - Throws: As ``claim(_:)``.
    package func waitForClaim(
        _ key: CacheKey, upTo limit: Duration, elsewhereOnly: Bool = false,
        clock: some Clock<Duration> = ContinuousClock()
    ) async throws(StoreError) -> LoadClaim? {
        let deadline = clock.now.advanced(by: limit)
        var pause = Duration.milliseconds(5)
        while true {
            let outcome = try claims.claim(key)
            if case .claimed(let claim) = outcome { return claim }
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
            group.addTask { [claims] in await claims.waitForRelease(of: key) }
            group.addTask { try? await clock.sleep(for: rest) }
            await group.next()
            group.cancelAll()
        }
    }
}

internal import CacheStore
internal import Synchronization

/// Waits for other processes, without occupying a lane.
extension ResourceLoader {
    /// Takes a load out of its lane while another process asks an origin for the same key. Returns `false` if no other
    /// process asks, or if the load has waited long enough.
    func waitForProcess(_ id: UInt64, _ load: Load, _ attempt: Int) -> Bool {
        let key = load.target.key
        let waited = loads.withLock { $0[id].waited }
        // Leave half of the time for the origin.
        let limit = min(load.configuration.processWait, (load.timeout ?? .seconds(Int64.max)) / 2) - waited
        guard limit > .zero, load.mayBeStored, load.policy.mode != .remoteOnly,
            !transaction(load).forbidsNetwork, !context.coalescer.isHung(key),
            store.keyLocks.isHeldElsewhere(key)
        else { return false }
        return changeLoads { loads in
            // The attempt has not begun.
            let (isWaiting, actions) = loads.table.fail(id, retry: .later, extra: -1)
            if isWaiting {
                loads.tasks[id] = Task { await self.wait(for: key, within: limit, id, load, attempt) }
            }
            return (isWaiting, actions)
        }
    }

    private func wait(
        for key: CacheKey, within limit: Duration, _ id: UInt64, _ load: Load, _ attempt: Int
    ) async {
        let beganAt = load.configuration.observer.map { _ in load.configuration.clock() }
        let outcome = try? await store.lock(key, within: limit) { pause in
            try await load.configuration.sleep(pause)
            loads.withLock { $0[id].waited += pause }
        }
        load.report(.wait(.otherProcess), since: beganAt)
        // A new waiter has put the load back into its lane, or all waiters have left.
        guard !Task.isCancelled else { return }
        switch outcome {
        case .locked(let lock):
            // The attempt locks the key again when its turn comes. A lock during the wait for that turn would block
            // other processes for no request.
            lock.release()
            context.coalescer.noteWait(key, succeeded: true, limit: limit)
        case .heldElsewhere: context.coalescer.noteWait(key, succeeded: false, limit: limit)
        case .heldHere, nil: break
        }
        change { $0.retry(id, after: attempt - 1) }
    }
}

internal import CacheStore
internal import Synchronization

/// Replaces responses that no processor accepts, such as the page of a captive portal.
extension ResourceLoader {
    /// Removes the entry of a response that no processor accepts, so that it answers no other load. If the response
    /// came from the store or from an upstream cache, begins the load again, once, and asks the origin for the whole.
    /// Leaves the entry if the origin must not be asked for a better response. `plans` identifies the processing plans
    /// that refuse the response. Returns whether the load begins again.
    func replaceRefused(
        _ arrived: LoadedResource, _ id: UInt64, _ load: Load, _ attempt: Int, by plans: Set<ProcessingPlan.Identity>
    ) async -> Bool {
        if arrived.resource.source.isTransferred {
            if let entry = arrived.entry { await remove(entry, id, load) }
            guard arrived.isFromUpstreamCache, load.isShareable else { return false }
        } else {
            var request = RedirectRequest(load)
            if arrived.key != load.target.key { request.follow(.found, to: arrived.key) }
            guard let entry = arrived.whole, loads.withLock({ $0[id].refused == nil }),
                mayAskOrigin(load, transaction(load, request))
            else { return false }
            await remove(entry, id, load)
        }
        // A waiter that has joined since may have a processing plan that accepts the response.
        return beginAgain(id, attempt, asking: arrived.key) { waiters in
            waiters.allSatisfy { plans.contains($0.plan.identity) }
        }
    }

    /// Begins a load again after unusable content from an upstream cache. Returns whether the load begins again.
    func replaceRefused(_ failure: TransferFailure, _ id: UInt64, _ attempt: Int) -> Bool {
        guard let key = failure.refused else { return false }
        return beginAgain(id, attempt + failure.extraAttempts, extra: failure.extraAttempts, asking: key)
    }

    /// Begins a load again, once, and asks the origin for the whole response of a key.
    private func beginAgain(
        _ id: UInt64, _ attempt: Int, extra: Int = 0, asking key: CacheKey,
        if condition: ([LoadWaiter]) -> Bool = { _ in true }
    ) -> Bool {
        changeLoads { loads in
            guard loads[id].refused == nil, condition(loads.table.waiters(of: id) ?? []) else { return (false, []) }
            let (beginsAgain, actions) = loads.table.fail(id, retry: .later, extra: extra)
            guard beginsAgain else { return (false, actions) }
            loads[id].refused = key
            loads.tasks[id] = nil
            return (true, actions + loads.table.retry(id, after: attempt))
        }
    }

    private func remove(_ entry: StoredEntry, _ id: UInt64, _ load: Load) async {
        // This entry and not the key: another load may have stored a newer entry, or another variant.
        var transaction = transaction(load)
        transaction.onStoreFailure = { [weak self] in self?.notify(id, .storeFailed($0)) }
        await transaction.remove(entry)
    }
}

extension LoadError {
    /// Whether a processor has refused the body.
    var isRefusal: Bool {
        if case .processing = self { true } else { false }
    }
}

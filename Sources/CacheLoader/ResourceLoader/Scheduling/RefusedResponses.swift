internal import CacheStore
internal import HTTPTypes

/// Replaces responses that no processor accepts, such as the page of a captive portal.
extension ResourceLoader {
    /// Removes the entry of a response that no processor accepts, so that it answers no other load. After a stored
    /// response, begins the load again, which asks the origin for the whole. Does so once for a load.
    ///
    /// Leaves the entry if the origin must not be asked for a better response.
    ///
    /// - Parameter recipes: The identities of the processing plans that refuse the response.
    /// - Returns: Whether the load begins again.
    func replaceRefused(
        _ arrived: Arrived, _ flight: UInt64, _ load: Load, _ attempt: Int, by recipes: Set<Recipe.Identity>
    ) async -> Bool {
        guard arrived.resource.source != .network else {
            if let entry = arrived.entry { await remove(entry, flight, load) }
            return false
        }
        var request = HopRequest(load)
        if arrived.key != load.target.key { request.follow(.found, to: arrived.key) }
        guard let entry = arrived.whole, flights.withLock({ $0.refused[flight] == nil }),
            mayAskOrigin(load, transaction(load, request))
        else { return false }
        await remove(entry, flight, load)
        return changeFlights { flights in
            // A waiter that has joined meanwhile may have a processing plan that accepts the response.
            let waiters = flights.board.waiters(of: flight) ?? []
            guard waiters.allSatisfy({ recipes.contains($0.recipe.identity) }) else { return (false, []) }
            let (beginsAgain, actions) = flights.board.fail(flight, retry: .later)
            guard beginsAgain else { return (false, actions) }
            flights.refused[flight] = arrived.key
            flights.tasks[flight] = nil
            return (true, actions + flights.board.retry(flight, after: attempt))
        }
    }

    /// Removes one entry. Another load may have stored a newer one, or another variant.
    private func remove(_ entry: StoredEntry, _ flight: UInt64, _ load: Load) async {
        var transaction = transaction(load)
        transaction.onStoreFailure = { [weak self] in self?.tell(flight, .storeFailed($0)) }
        await transaction.remove(entry)
    }
}

extension LoadError {
    /// Whether a processor has refused the body.
    var isRefusal: Bool {
        if case .processing = self { true } else { false }
    }
}

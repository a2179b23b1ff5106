internal import CacheStore

extension ResourceLoader {
    /// Cancels all loads. Waiters receive ``LoadError/cancelled`` immediately, and transfers stop. Later loads are not
    /// affected.
    public func cancelAll() {
        cancelLoads(of: nil)
    }

    /// Cancels all loads of a resource: those with the URL of the request, or with its ``ResourceRequest/key``. A QUERY
    /// with content cancels only equal queries.
    ///
    /// The method, the policy and the other properties of the loads do not matter, nor does the number of their
    /// callers. All waiters receive ``LoadError/cancelled`` immediately. The transfers stop, even with
    /// ``Abandonment/finishAndStore``. A validation in the background also ends. Other loads and later ones are not
    /// affected.
    ///
    /// Takes time proportional to the number of active loads.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/invalidKey(_:reason:)``.
    public func cancel(_ request: some ResourceRequestConvertible) throws(LoadError) {
        cancelLoads(of: try load(for: request.resourceRequest).target.key)
    }

    /// - Parameter key: The key of the stored response; `nil` for all loads.
    private func cancelLoads(of key: CacheKey?) {
        let waiters = changeLoads { loads in
            loads.cancellations.note(key)
            return loads.table.detachAll { key == nil || $0.target.key == key || $0.target.key.withoutFragment == key }
        }
        for waiter in waiters { waiter.receive(.ended(.failure(.cancelled))) }
    }
}

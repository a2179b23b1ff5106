internal import CacheStore

extension ResourceLoader {
    /// Cancels all loads. Waiters receive ``LoadError/cancelled`` immediately. Transfers stop, even with
    /// ``Abandonment/finishAndStore``. Later loads are not affected.
    public func cancelAll() {
        cancelLoads(nil)
    }

    /// Cancels loads of a resource: those with the URL of the request, or with its ``ResourceRequest/key``.
    ///
    /// A request with a safe method, such as GET, cancels the loads of the resource with any safe method. A request
    /// with another method cancels the loads with its method. A QUERY with content cancels only equal queries. The
    /// policy and the other properties of the loads do not matter, nor does the number of their callers.
    ///
    /// All waiters receive ``LoadError/cancelled`` immediately. The transfers stop, even with
    /// ``Abandonment/finishAndStore``. A validation in the background also ends. Other loads and later ones are not
    /// affected.
    ///
    /// Takes time proportional to the number of active loads.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/invalidKey(_:reason:)``.
    public func cancel(_ request: some ResourceRequestConvertible) throws(LoadError) {
        let load = try load(for: request.resourceRequest)
        cancelLoads(CancelledLoads(of: load.target.key, like: load.method))
    }

    /// Cancels loads, or all loads for `nil`, and informs their waiters.
    private func cancelLoads(_ cancelled: CancelledLoads?) {
        let waiters = changeLoads { loads in
            loads.cancellations.note(cancelled)
            return loads.table.detachAll { load in cancelled.map(CancelledLoads.thatInclude(load).contains) ?? true }
        }
        for waiter in waiters { waiter.receive(.ended(.failure(.cancelled))) }
    }
}

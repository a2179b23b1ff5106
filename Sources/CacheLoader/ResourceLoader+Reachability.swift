internal import Synchronization

/// Listens to the reachability of hosts and to the conditions of the network.
extension ResourceLoader {
    /// Listens to the current source of reachability, and stops listening to an earlier one.
    func watchReachability() {
        watches.withLock { watches in
            for watch in watches { watch.cancel() }
            watches = []
            guard let source = configuration.reachability else { return }
            let (hosts, conditions) = (source.changes(), source.conditionChanges())
            watches = [
                Task { [weak self] in
                    for await host in hosts { self?.becameReachable(host) }
                },
                Task { [weak self] in
                    for await _ in conditions { self?.updateConditions() }
                },
            ]
        }
        updateConditions()
    }

    /// Retries the loads that wait for a host, or for any host if `nil`. The source reports hosts and conditions in two
    /// streams. Read the conditions first, because the network may have changed.
    func becameReachable(_ host: String?) {
        updateConditions()
        change { $0.becameReachable(host) }
    }

    /// Applies the conditions that the current source reports.
    func updateConditions() {
        var taken: NetworkConditions
        repeat {
            taken = presentConditions
            change { [taken] in $0.set(conditions: taken) }
            // Of two concurrent calls, the one that changes the table last may have read the conditions first.
        } while taken != presentConditions
    }

    var presentConditions: NetworkConditions { configuration.reachability?.conditions ?? [] }
}

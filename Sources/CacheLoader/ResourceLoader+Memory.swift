internal import CacheStore

extension ResourceLoader {
    /// Returns the value in memory that answers a request, without a lookup in the store or a system call; `nil` for
    /// none.
    func loadFromMemory(_ key: LoaderMemory.Key?) -> Loaded<any Sendable>? {
        guard let key else { return nil }
        // The store evicts by last use and counts hits, so report the access to the store.
        let loaded = memory.value(for: key) { store.touchEntry($0, as: .hit) }
        if loaded != nil { meters.memoryHits.add() }
        return loaded
    }

    /// Returns the value in memory for a model, which asks for nothing else if there is one.
    func valueInMemory<Output>(for request: ResourceRequest, _ plan: ProcessingPlan) -> Loaded<Output>? {
        guard let loaded = loadFromMemory(memoryKey(request, plan)) else { return nil }
        context.meters.requests.add()
        return loaded.cast()
    }

    /// Keeps values in memory whose response is in the store. Values of other responses are not kept.
    ///
    /// - Parameters:
    ///   - byteCount: The cost of a value that has no cost of its own.
    ///   - epoch: The epoch of the key before the load.
    func remember<Output>(
        _ values: [LoaderMemory.Key: any Sendable], of loaded: Loaded<Output>, _ byteCount: Int, _ entry: StoredEntry,
        _ load: Load, since epoch: Epoch
    ) {
        // After redirects the entry has another key. A removal of the load's key would not find its values.
        guard !values.isEmpty, loaded.expiresAt != nil, entry.key == load.target.key else { return }
        let isFromOrigin = [.network, .notModified].contains(loaded.source)
        var fields = loaded.headerFields
        if !load.policy.ignoresDirectives(of: loaded.status) { fields.removeWithheld(by: load.policy) }
        let loaded = loaded.with(headerFields: fields)
        for (key, value) in values {
            let cost = (value as? any MemoryCosting)?.memoryCost ?? byteCount
            memory.insert(
                loaded.with(value), for: key, cost: cost, entry: entry, since: epoch, mayBeChange: isFromOrigin)
        }
    }

    /// Removes the values that a response from the origin replaces although the store did not keep the response.
    ///
    /// The store reports its own changes. It has none to report if it evicted the earlier response before.
    func forgetReplaced(by arrived: LoadedResource, _ load: Load) {
        guard arrived.resource.source == .network, arrived.entry == nil else { return }
        memory.note(.removed(load.target.key))
        if arrived.key != load.target.key { memory.note(.removed(arrived.key)) }
    }
}

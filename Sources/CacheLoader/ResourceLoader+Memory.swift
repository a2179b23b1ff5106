internal import CacheStore

extension ResourceLoader {
    /// Returns the value in memory that answers a request, if there is one. Costs no system call. Costs a lookup in the store
    /// if any process has committed something since the last one.
    func loadFromMemory(_ key: LoaderMemory.Key?) -> Loaded<any Sendable>? {
        guard let key, let loaded = memory.value(for: key) else { return nil }
        meters.memoryHits.add()
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
    ///   - found: The state of the key when the store answered. An answer of the origin has none.
    func remember<Output>(
        _ values: [LoaderMemory.Key: any Sendable], of loaded: Loaded<Output>, _ byteCount: Int, _ entry: StoredEntry,
        _ found: KeySnapshot?, _ load: Load
    ) {
        // After redirects the entry has another key: its version says nothing about the redirects.
        guard !values.isEmpty, loaded.expiresAt != nil, entry.key == load.target.key, isCurrent(load.settings),
            let version = found.map({ KeyVersion($0) }) ?? store.version(of: entry, expiringAt: loaded.expiresAt)
        else { return }
        var fields = loaded.headerFields
        if !load.policy.ignoresDirectives(of: loaded.status) { fields.removeWithheld(by: load.policy) }
        let loaded = loaded.with(headerFields: fields)
        for (key, value) in values {
            let cost = (value as? any MemoryCosting)?.memoryCost ?? byteCount
            memory.insert(loaded.with(value), for: key, cost: cost, entry: entry.id, version: version)
        }
    }
}

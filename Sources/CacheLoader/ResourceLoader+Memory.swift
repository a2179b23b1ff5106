internal import CacheStore

extension ResourceLoader {
    /// Makes no system call. Queries the store only after a commit by any process since the last query.
    func loadFromMemory(_ key: LoaderMemory.Key?) -> Loaded<any Sendable>? {
        guard let key, let loaded = memory.value(for: key) else { return nil }
        meters.memoryHits.add()
        return loaded
    }

    /// Returns the value in memory for a model, if there is one. The model then needs no load.
    package func valueInMemory<Output>(for request: ResourceRequest, _ plan: ProcessingPlan) -> Loaded<Output>? {
        guard let loaded = loadFromMemory(memoryKey(request, plan)) else { return nil }
        context.meters.requests.add()
        return loaded.cast()
    }

    /// Keeps values in memory if their response is in the store. `byteCount` is the cost of a value that does not state
    /// its cost. `found` is the state of the key when the store answered, or `nil` for an answer of the origin.
    func remember<Output>(
        _ values: [LoaderMemory.Key: any Sendable], of loaded: Loaded<Output>, _ byteCount: Int, _ entry: StoredEntry,
        _ found: KeySnapshot?, _ load: Load
    ) {
        // After redirects the entry has another key, so its version does not cover the redirects.
        guard !values.isEmpty, loaded.expiresAt != nil, entry.key == load.target.key, isCurrent(load.settings),
            let version = found.map({ KeyVersion($0) }) ?? store.version(of: entry, expiringAt: loaded.expiresAt)
        else { return }
        var fields = loaded.headerFields
        if !load.policy.ignoresDirectives(of: loaded.status) { fields.removeWithheld(by: load.policy) }
        if let options = load.configuration.cacheStatus { fields.replaceStatus(options, load.target.key) }
        let loaded = loaded.with(headerFields: fields)
        for (key, value) in values {
            let cost = (value as? any MemoryCosting)?.memoryCost ?? byteCount
            memory.insert(loaded.with(value), for: key, cost: cost, entry: entry.id, version: version)
        }
    }
}

extension HTTPFields {
    /// Replaces the member of this cache in `Cache-Status`, which describes one delivery (RFC 9211 §2), with that of
    /// the hits in memory. The lifetime that remains would change with each hit, so the member has none.
    fileprivate mutating func replaceStatus(_ options: CacheStatusOptions, _ key: CacheKey) {
        // The cache appends its member after those of other caches.
        if let index = lastIndex(where: { $0.name.canonicalName == "cache-status" }) { remove(at: index) }
        CacheStatus.hit(key: options.hasKey ? key.text : nil).append(to: &self, name: options.name)
    }
}

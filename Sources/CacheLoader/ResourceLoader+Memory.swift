internal import CacheStore

extension ResourceLoader {
    /// The value in memory that answers a request, if there is one: no lookup in the store, no system call.
    func loadFromMemory(_ key: LoaderMemory.Key?) -> Loaded<any Sendable>? {
        guard let key else { return nil }
        // It is the store that evicts by last use, and that counts hits.
        let loaded = memory.value(for: key) { store.touchEntry($0, as: .hit) }
        if loaded != nil { meters.memoryHits.add() }
        return loaded
    }

    /// Keeps values in memory, if what they were made of is in the store: what must not be stored, or was removed since
    /// `moment`, is not kept here either.
    ///
    /// - Parameter byteCount: What a value costs that does not say so.
    func remember<Output>(
        _ values: [LoaderMemory.Key: any Sendable], of loaded: Loaded<Output>, _ byteCount: Int, _ entry: StoredEntry,
        _ load: Load, since moment: LoaderMemory.Moment
    ) {
        // What is kept under another key is not found when that is removed.
        guard !values.isEmpty, loaded.expiresAt != nil, entry.key == load.target.key else { return }
        for (key, value) in values {
            let cost = (value as? any MemoryCosting)?.memoryCost ?? byteCount
            memory.insert(loaded.with(value), for: key, cost: cost, entry: entry, since: moment)
        }
    }

    /// What has taken the place of a stored response takes that of the values which were made of it, too.
    ///
    /// - Returns: The moment after that, unless something else was removed since `moment`.
    func forgetReplaced(
        by resource: Resource, _ load: Load, since moment: LoaderMemory.Moment
    ) -> LoaderMemory.Moment {
        guard [.network, .notModified].contains(resource.source) else { return moment }
        // The last hop of a redirect.
        if resource.url != load.target.url.text,
            let key = try? CacheKey(url: resource.url, partition: load.target.key.partition)
        {
            memory.remove(key)
        }
        return memory.remove(load.target.key, since: moment)
    }
}

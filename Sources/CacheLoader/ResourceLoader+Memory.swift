internal import CacheStore

extension ResourceLoader {
    /// The value in memory that answers a request, if there is one: no lookup in the store, no system call.
    func loadFromMemory(_ key: LoaderMemory.Key?) -> Loaded<any Sendable>? {
        guard let key, let hit = memory.value(for: key) else { return nil }
        // It is the store that evicts by last use, and that counts hits.
        store.touch(hit.entry, as: .hit)
        meters.memoryHits.add()
        return hit.loaded
    }

    /// Keeps values in memory, if what they were made of is in the store: what must not be stored, or was removed since
    /// `moment`, is not kept here either.
    ///
    /// - Parameter entry: What they were made of; `nil` to look for it.
    func remember(
        _ values: [LoaderMemory.Key: any Sendable], of resource: Resource, from entry: StoredEntry? = nil, _ load: Load,
        since moment: LoaderMemory.Moment
    ) {
        guard !values.isEmpty, resource.expiresAt != nil, resource.url == load.target.url.text,
            let entry = entry ?? transaction(load, load.target, load.headerFields).selectedEntry,
            entry.key == load.target.key
        else { return }
        for (key, value) in values {
            let cost = (value as? any MemoryCosting)?.memoryCost ?? resource.data.count
            memory.insert(resource.with(value), for: key, cost: cost, entry: entry, since: moment)
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

internal import CacheStore

extension ResourceLoader {
    /// The value in memory that answers a request, if there is one: no lookup in the store, no system call.
    func loadFromMemory(_ key: LoaderMemory.Key?) -> Loaded<any Sendable>? {
        guard let key, let hit = memory.value(for: key) else { return nil }
        // It is the store that evicts by last use, and that counts hits.
        store.touch(hit.entry, as: .hit)
        return hit.loaded
    }

    /// Keeps values in memory, if what they were made of is in the store by now: what must not be stored, or was removed
    /// since, is not kept here either.
    func remember(_ values: [LoaderMemory.Key: any Sendable], of resource: Resource, _ load: Load) {
        guard !values.isEmpty, resource.expiresAt != nil, resource.url == load.target.url.text,
            let entry = try? store.peek(load.target.key)
        else { return }
        for (key, value) in values {
            let cost = (value as? any MemoryCosting)?.memoryCost ?? resource.data.count
            memory.insert(resource.with(value), for: key, cost: cost, entry: entry)
        }
    }
}

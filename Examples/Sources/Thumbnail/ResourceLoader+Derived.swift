internal import CacheLoader
internal import CacheStore
internal import Foundation

extension ResourceLoader {
    /// What `processor` makes of the content of a URL: made once, and kept in the store with what it was made of.
    ///
    /// The original is loaded in any case, so that it is there, fresh, or found unchanged; from the store it is mapped, and
    /// nobody reads it when the rest is there already. The rest goes when the original is removed, evicted or replaced.
    ///
    /// Content codings are to be off in the configuration: it is the stored bytes that are processed.
    ///
    /// - Returns: The value, and whether it was stored.
    func loadDerived(
        _ url: String, as processor: some Processor<Data, Data>
    ) async throws -> (value: Data, original: Resource, isStored: Bool) {
        let original = try await load(url)
        let context = ProcessingContext(url: original.url, headerFields: original.headerFields)
        do {
            let key = try CacheKey(url: original.url, partition: configuration.partition)
            guard let entry = try store.peek(key), let body = try store.openBody(of: entry) else {
                // Its origin does not want it stored; then nothing that is made of it is stored, either.
                return (try await processor.process(original.data, context), original, false)
            }
            // The id says all that the value depends on besides the bytes.
            let name = processor.id.description
            if let stored = try store.openDerived(name: name, of: entry) {
                return (try stored.data(), original, true)
            }
            // Of the body that this entry has: by now that may be a newer one than was loaded.
            let value = try await processor.process(body.data(), context)
            try await store.insertDerived(value, name: name, of: entry)
            return (value, original, false)
        } catch let error as ProcessingError {
            // Of what no processor can make anything nothing is kept, as in a load with a processor.
            try await remove(original.url)
            throw error
        }
    }
}

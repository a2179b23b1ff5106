/// What becomes of a body that has been written.
extension BodyWriter {
    /// The change that a transaction makes for a body.
    struct Change<Value: Sendable>: Sendable {
        let digest: ContentDigest?
        let run: @Sendable (WriteTransaction) throws(StoreError) -> Value
    }

    // MARK: An entry

    /// Makes the body and its metadata an entry, in place of the one with the same key, kind and variant.
    ///
    /// Waits until the entry is committed. Whoever looks the key up sees the whole old entry until then, and the whole new
    /// one afterwards. A commit of content forgets the failures of the key.
    ///
    /// - Parameters:
    ///   - metadata: What is to be known of the response.
    ///   - key: What it is found by.
    ///   - options: How long it may stay, whether it is pinned, and its tags.
    ///   - generation: Taken from the store when the load of this body began. If the key was removed since then, the body is
    ///     not stored.
    /// - Throws: ``StoreError``, such as ``StoreError/removedMeanwhile(_:)``; then nothing of the body is left and the old
    ///   entry is as it was.
    @discardableResult
    public func commit(
        _ metadata: EntryMetadata, for key: CacheKey, options: EntryOptions = EntryOptions(),
        unlessRemovedSince generation: StoreGeneration? = nil
    ) throws(StoreError) -> StoredEntry {
        try commit(finish(metadata, key, options, generation))
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func commit(
        _ metadata: EntryMetadata, for key: CacheKey, options: EntryOptions = EntryOptions(),
        unlessRemovedSince generation: StoreGeneration? = nil
    ) async throws(StoreError) -> StoredEntry {
        try await commit(metadata, for: key, options: options, replacing: [], unlessRemovedSince: generation)
    }

    /// As ``commit(_:for:options:unlessRemovedSince:)``; entries that this one makes needless go in the same transaction.
    @discardableResult
    package func commit(
        _ metadata: EntryMetadata, for key: CacheKey, options: EntryOptions = EntryOptions(),
        replacing entries: [StoredEntry], unlessRemovedSince generation: StoreGeneration? = nil
    ) async throws(StoreError) -> StoredEntry {
        try await commit(
            offExecutor { () throws(StoreError) in
                try self.finish(metadata, key, options, generation, replacing: entries)
            })
    }

    /// Ends the body and says what its transaction has to do.
    private func finish(
        _ metadata: EntryMetadata, _ key: CacheKey, _ options: EntryOptions, _ generation: StoreGeneration?,
        replacing entries: [StoredEntry] = []
    ) throws(StoreError) -> Change<StoredEntry> {
        try metadata.checkLengths()
        try options.check()
        let (digest, byteCount) = try seal()
        let now = store.now
        return Change(digest: digest) { [self] (transaction) throws(StoreError) in
            if let generation {
                let wasRemoved = try wrappingErrors(store.indexPath) { () throws(SQLiteError) in
                    try transaction.connection.wasRemoved(key, since: generation)
                }
                guard !wasRemoved else { throw .removedMeanwhile(key) }
            }
            // The body before the row: a visible row has a file.
            if let digest { try place(digest, byteCount) }
            let stored = try wrappingErrors(store.indexPath) { () throws(SQLiteError) -> StoredEntry? in
                if metadata.kind == .content { try transaction.connection.removeFailure(for: key) }
                let stored = try transaction.store(
                    metadata, for: key, options: options, digest: digest, byteCount: byteCount, at: now)
                // Afterwards: one of these may have the same body.
                for entry in entries where !entry.isReplaced(by: metadata) { _ = try transaction.removeEntry(entry) }
                return try store.limits.makeRoom(for: stored, in: transaction) ? stored : nil
            }
            guard let stored else { throw .exceedsLimits(limit: store.limits.limits?.maxBytes) }
            return stored
        }
    }

    // MARK: A form derived from one

    /// Makes the body a form of `entry`; `false` if the entry is gone, has another body by now, or there is no room for it.
    func commit(derived name: String, of entry: StoredEntry) throws(StoreError) -> Bool {
        try commit(finish(derived: name, of: entry))
    }

    /// As the synchronous form, without blocking the caller's thread.
    func commit(derived name: String, of entry: StoredEntry) async throws(StoreError) -> Bool {
        try await commit(offExecutor { () throws(StoreError) in try self.finish(derived: name, of: entry) })
    }

    /// Ends the body. A durable store does so on its lane: syncing a large body takes long.
    private func offExecutor<Value: Sendable>(
        _ finish: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        guard store.configuration.durability == .durable else { return try finish() }
        return try await store.onMaintenanceLane(finish)
    }

    private func finish(derived name: String, of entry: StoredEntry) throws(StoreError) -> Change<Bool> {
        let (digest, byteCount) = try seal()
        let now = store.now
        return Change(digest: digest) { [self] (transaction) throws(StoreError) in
            let isPresent = try wrappingErrors(store.indexPath) { () throws(SQLiteError) in
                try transaction.connection.contains(entry)
            }
            guard isPresent else { return false }
            if let digest { try place(digest, byteCount) }
            return try wrappingErrors(store.indexPath) { () throws(SQLiteError) in
                try transaction.storeDerived(name, of: entry, digest: digest, byteCount: byteCount, at: now)
                // Pinned entries are not evicted; a form of one must not exceed the limits instead.
                if try !store.limits.makeRoom(for: nil, in: transaction) {
                    try transaction.removeDerived(name, ofEntry: entry.id)
                }
                return try transaction.connection.derived(name, of: entry) != nil
            }
        }
    }

    // MARK: The transaction

    private func commit<Value: Sendable>(_ change: Change<Value>) throws(StoreError) -> Value {
        try store.makeRoom(for: byteCount)
        do throws(StoreError) {
            return try store.writer.write(placing: change.digest, change.run)
        } catch {
            guard error.isFullDisk, store.makeRoomOnDisk(for: byteCount) else { throw error }
            return try store.writer.write(placing: change.digest, change.run)
        }
    }

    private func commit<Value: Sendable>(_ change: Change<Value>) async throws(StoreError) -> Value {
        try await store.makeRoom(for: byteCount)
        do throws(StoreError) {
            return try await store.writer.write(placing: change.digest, change.run)
        } catch {
            guard error.isFullDisk else { throw error }
            let byteCount = byteCount
            let hasRoom = try await store.onMaintenanceLane { [store] () throws(StoreError) in
                store.makeRoomOnDisk(for: byteCount)
            }
            guard hasRoom else { throw error }
            return try await store.writer.write(placing: change.digest, change.run)
        }
    }
}

/// Commits a written body as an entry, or as a derived representation of one.
extension BodyWriter {
    /// The change that a transaction makes for a body.
    struct Change<Value: Sendable>: Sendable {
        let digest: ContentDigest?
        /// The number of bytes in the body, minus the bytes of the entries that it replaces.
        let growth: Int64
        /// The partition of the entry, or `nil` for a derived representation.
        var partition: String?
        let run: @Sendable (WriteTransaction, _ partitionRoom: LimitEnforcer.Room) throws(StoreError) -> Value
    }

    // MARK: An entry

    /// Makes the body and its metadata an entry, in place of the entry with the same key, kind, variant and part.
    ///
    /// Returns once the entry is committed. Until then, lookups of the key find the whole old entry; afterwards, the
    /// whole new one. A commit of content removes the recorded failures of all requests for the key.
    ///
    /// - Parameters:
    ///   - metadata: The properties of the response.
    ///   - key: The key of the entry.
    ///   - options: The lifetime of the entry, whether it is pinned, and its tags.
    ///   - generation: The store's generation from when this load began. If the key was removed since then, the commit
    ///     stores nothing.
    /// - Throws: ``StoreError``, such as ``StoreError/removedMeanwhile(_:)``. Then the store keeps no bytes of the
    ///   body, and the old entry is unchanged.
    @discardableResult
    public func commit(
        _ metadata: EntryMetadata, for key: CacheKey, options: EntryOptions = EntryOptions(),
        unlessRemovedSince generation: StoreGeneration? = nil
    ) throws(StoreError) -> StoredEntry {
        try Self.required(commit(finish(metadata, key, options, generation)))
    }

    /// Does the same as the synchronous method, without blocking the caller's thread.
    @discardableResult
    public func commit(
        _ metadata: EntryMetadata, for key: CacheKey, options: EntryOptions = EntryOptions(),
        unlessRemovedSince generation: StoreGeneration? = nil
    ) async throws(StoreError) -> StoredEntry {
        try await Self.required(
            commit(offExecutor { () throws(StoreError) in try self.finish(metadata, key, options, generation) }))
    }

    private static func required(_ entry: StoredEntry?) -> StoredEntry {
        guard let entry else { preconditionFailure("a change with `replacesLater` stores its entry") }
        return entry
    }

    /// Commits a response of an origin like ``commit(_:for:options:unlessRemovedSince:)``. The same transaction removes
    /// `entries`, which the new entry replaces, and, if the new entry is content, the selected `failures`. If the store
    /// has the response to a later request, removes only `entries`, and returns `nil`.
    @discardableResult
    package func commit(
        _ metadata: EntryMetadata, for key: CacheKey, options: EntryOptions = EntryOptions(),
        replacing entries: [StoredEntry], removing failures: FailureSelection = .all,
        unlessRemovedSince generation: StoreGeneration? = nil
    ) async throws(StoreError) -> StoredEntry? {
        try await commit(
            offExecutor { () throws(StoreError) in
                try self.finish(
                    metadata, key, options, generation, replacing: entries, removing: failures, replacesLater: false)
            })
    }

    /// Ends the body and returns the change that its transaction makes.
    private func finish(
        _ metadata: EntryMetadata, _ key: CacheKey, _ options: EntryOptions, _ generation: StoreGeneration?,
        replacing entries: [StoredEntry] = [], removing failures: FailureSelection = .all, replacesLater: Bool = true
    ) throws(StoreError) -> Change<StoredEntry?> {
        try metadata.checkLengths()
        try options.check()
        return try change(
            storing: measure(closes: true), metadata, key, options, generation, replacing: entries, removing: failures,
            replacesLater: replacesLater)
    }

    /// Returns the change that stores a body, or the beginning of a growing one. `replacesLater` tells whether the
    /// entry also replaces the response to a later request. If not, the change may store nothing and return `nil`.
    private func change(
        storing body: (digest: ContentDigest?, byteCount: Int64), isGrowing: Bool = false, _ metadata: EntryMetadata,
        _ key: CacheKey, _ options: EntryOptions, _ generation: StoreGeneration?, replacing entries: [StoredEntry],
        removing failures: FailureSelection, replacesLater: Bool
    ) -> Change<StoredEntry?> {
        let (digest, byteCount) = body
        let growth = entries.reduce(byteCount) { $0 - $1.byteCount }
        let now = store.now
        return Change(digest: digest, growth: growth, partition: key.partition) {
            [self] (transaction, partitionRoom) throws(StoreError) in
            if let generation {
                let wasRemoved = try transaction.connection.wasRemoved(key, since: generation)
                guard !wasRemoved else { throw .removedMeanwhile(key) }
            }
            let replaced = try transaction.replacedEntry(metadata, key)
            // RFC 9111 §4: a cache uses the most recent response, so a slow older one must not take its place.
            if !replacesLater, try transaction.isOutdated(metadata, for: key, by: replaced, at: store.now) {
                for entry in entries { _ = try transaction.removeEntry(entry) }
                return nil
            }
            // Name the file before inserting the row: a visible row has a file.
            if let digest { try place(digest, byteCount, isGrowing: isGrowing) }
            if metadata.kind == .content { try transaction.connection.removeFailures(for: key, failures) }
            let stored = try transaction.store(
                metadata, for: key, replacing: replaced, options: options, digest: digest, byteCount: byteCount,
                at: now, including: entries.filter { $0.metadata.part != nil })
            // Remove these last: one of them may have the same body.
            for entry in entries where !entry.isReplaced(by: metadata) { _ = try transaction.removeEntry(entry) }
            guard try hasRoom(for: stored, in: transaction, partitionRoom) else {
                throw .exceedsLimits(limit: store.limits.limits?.maxBytes)
            }
            return stored
        }
    }

    // MARK: The beginning of an entry

    /// Makes the bytes written so far an entry. The writer stays open for the rest. Copies no bytes: the body of the
    /// entry is the first bytes of the file that the writer extends. The next commit should replace the entry. Costs
    /// one transaction, and in a durable store also a sync of the bytes written since the last one. The part in
    /// `metadata` starts where the body does. `previous` is the entry of an earlier prefix of the same body. After an
    /// error, that entry stays, and the writer remains usable. If the store has the response to a later request,
    /// removes only `previous`, and returns `nil`.
    @discardableResult
    package func commitPrefix(
        _ metadata: EntryMetadata, for key: CacheKey, replacing previous: StoredEntry?,
        unlessRemovedSince generation: StoreGeneration? = nil
    ) async throws(StoreError) -> StoredEntry? {
        try await commit(
            offExecutor { () throws(StoreError) in
                try self.change(storingPrefix: metadata, key, previous, generation, replacesLater: false)
            })
    }

    /// Commits a prefix on the calling thread, also in place of the response to a later request.
    @discardableResult
    package func commitPrefix(
        _ metadata: EntryMetadata, for key: CacheKey, replacing previous: StoredEntry?
    ) throws(StoreError) -> StoredEntry {
        try Self.required(commit(change(storingPrefix: metadata, key, previous, nil, replacesLater: true)))
    }

    private func change(
        storingPrefix metadata: EntryMetadata, _ key: CacheKey, _ previous: StoredEntry?,
        _ generation: StoreGeneration?, replacesLater: Bool
    ) throws(StoreError) -> Change<StoredEntry?> {
        precondition(metadata.part != nil, "the beginning of a body is a part")
        try metadata.checkLengths()
        return try change(
            storing: measure(closes: false), isGrowing: true, metadata, key, EntryOptions(), generation,
            replacing: previous.map { [$0] } ?? [], removing: .none, replacesLater: replacesLater)
    }

    // MARK: A derived representation

    /// Makes the body a derived representation of `entry`. Returns `false` if there is no room, or if the entry was
    /// removed or its body replaced.
    func commit(derived name: String, of entry: StoredEntry) throws(StoreError) -> Bool {
        try commit(finish(derived: name, of: entry))
    }

    /// Does the same as the synchronous method, without blocking the caller's thread.
    func commit(derived name: String, of entry: StoredEntry) async throws(StoreError) -> Bool {
        try await commit(offExecutor { () throws(StoreError) in try self.finish(derived: name, of: entry) })
    }

    /// Runs `finish`, which ends the body. A durable store runs it on a lane, because syncing a large body takes long.
    private func offExecutor<Value: Sendable>(
        _ finish: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        guard store.configuration.isDurable else { return try finish() }
        return try await store.storingLanes.run(finish)
    }

    private func finish(derived name: String, of entry: StoredEntry) throws(StoreError) -> Change<Bool> {
        let (digest, byteCount) = try measure(closes: true)
        let now = store.now
        return Change(digest: digest, growth: byteCount) { [self] (transaction, _) throws(StoreError) in
            let isPresent = try transaction.connection.contains(entry)
            guard isPresent else { return false }
            if let digest { try place(digest, byteCount, isGrowing: false) }
            try transaction.storeDerived(name, of: entry, digest: digest, byteCount: byteCount, at: now)
            // Pinned entries are not evicted, so a representation of a pinned entry must not exceed the limits.
            if try !hasRoom(for: nil, in: transaction) {
                try transaction.removeDerived(name, ofEntry: entry.id)
            }
            return try transaction.connection.derived(name, of: entry) != nil
        }
    }

    // MARK: The transaction

    /// Makes room for the body. Returns whether the store is within its limits now, or will be after a pass.
    private func hasRoom(
        for entry: StoredEntry?, in transaction: WriteTransaction, _ partitionRoom: LimitEnforcer.Room = .enough
    ) throws(StoreError) -> Bool {
        switch try store.limits.makeRoom(for: entry, in: transaction, partitionRoom: partitionRoom) {
        case .enough:
            return true
        case .afterPass:
            store.requestPass()
            return true
        case .none:
            // The pass remembers that only pinned entries are left, so that the next commit need not look again.
            store.requestPass()
            return false
        }
    }

    private func commit<Value: Sendable>(_ change: Change<Value>) throws(StoreError) -> Value {
        let room = try store.makeRoom(for: change.growth, in: change.partition)
        let run = { @Sendable (transaction: WriteTransaction) throws(StoreError) in try change.run(transaction, room) }
        do throws(StoreError) {
            return try store.writer.write(placing: change.digest, run)
        } catch {
            guard error.isFullDisk, store.makeRoomOnDisk(for: byteCount) else { throw error }
            return try store.writer.write(placing: change.digest, run)
        }
    }

    private func commit<Value: Sendable>(_ change: Change<Value>) async throws(StoreError) -> Value {
        let room = try await store.makeRoom(for: change.growth, in: change.partition)
        let run = { @Sendable (transaction: WriteTransaction) throws(StoreError) in try change.run(transaction, room) }
        do throws(StoreError) {
            return try await store.writer.write(placing: change.digest, run)
        } catch {
            guard error.isFullDisk else { throw error }
            let byteCount = byteCount
            let hasRoom = try await store.storingLanes.run { [store] () throws(StoreError) in
                store.makeRoomOnDisk(for: byteCount)
            }
            guard hasRoom else { throw error }
            return try await store.writer.write(placing: change.digest, run)
        }
    }
}

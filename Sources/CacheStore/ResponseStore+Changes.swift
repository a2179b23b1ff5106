#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What changes the store.
extension ResponseStore {
    // MARK: Storing

    /// Begins a body that is stored once it is committed.
    public func makeBodyWriter() -> BodyWriter {
        BodyWriter(store: self)
    }

    /// Where the sequence of removals stands. Taken before a load begins, and given to the commit of what it brings, it
    /// keeps the load from putting back what is removed in the meantime. Runs on the calling thread, some microseconds.
    public func generation() throws(StoreError) -> StoreGeneration {
        try read { (connection) throws(SQLiteError) in try connection.generation() }
    }

    /// Stores a body that is at hand, in place of the entry with the same key, kind and variant.
    @discardableResult
    public func insert(
        _ body: some ContiguousBytes, metadata: EntryMetadata, for key: CacheKey, options: EntryOptions = EntryOptions()
    ) throws(StoreError) -> StoredEntry {
        let writer = makeBodyWriter()
        try writer.write(body)
        return try writer.commit(metadata, for: key, options: options)
    }

    /// As the synchronous form, without blocking the caller's thread for the commit.
    @discardableResult
    public func insert(
        _ body: some ContiguousBytes & Sendable, metadata: EntryMetadata, for key: CacheKey,
        options: EntryOptions = EntryOptions()
    ) async throws(StoreError) -> StoredEntry {
        let writer = makeBodyWriter()
        try writer.write(body)
        return try await writer.commit(metadata, for: key, options: options)
    }

    /// Sets how long the entries of `key` may stay, whether they are pinned, and their tags, as far as `options` says. No use
    /// of any.
    ///
    /// - Returns: Whether there is any.
    /// - Throws: ``StoreError/invalidTag(_:reason:)``, ``StoreError/busy(path:)``, ``StoreError/index(_:)``.
    @discardableResult
    public func setOptions(_ options: EntryOptions, for key: CacheKey) throws(StoreError) -> Bool {
        try options.check()
        return try writer.write(settingOptions(options, key))
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func setOptions(_ options: EntryOptions, for key: CacheKey) async throws(StoreError) -> Bool {
        try options.check()
        return try await writer.write(settingOptions(options, key))
    }

    private func settingOptions(
        _ options: EntryOptions, _ key: CacheKey
    ) -> @Sendable (WriteTransaction) throws(StoreError) -> Bool {
        changing { (transaction) throws(SQLiteError) in try transaction.setOptions(options, for: key) > 0 }
    }

    /// Replaces what is known of an entry and leaves its body and the time it was stored as they are: a row
    /// update. Forgets the failures of its key.
    ///
    /// - Returns: `false` if the entry has been removed, or has another body by now. Then nothing is changed.
    @discardableResult
    public func freshen(_ entry: StoredEntry, with metadata: EntryMetadata) throws(StoreError) -> Bool {
        try writer.write(freshening(entry, metadata))
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func freshen(_ entry: StoredEntry, with metadata: EntryMetadata) async throws(StoreError) -> Bool {
        try await writer.write(freshening(entry, metadata))
    }

    private func freshening(
        _ entry: StoredEntry, _ metadata: EntryMetadata
    ) throws(StoreError) -> @Sendable (WriteTransaction) throws(StoreError) -> Bool {
        try metadata.checkLengths()
        return changing { (transaction) throws(SQLiteError) in
            guard try transaction.freshen(entry, metadata) else { return false }
            try transaction.connection.removeFailure(for: entry.key)
            return true
        }
    }

    // MARK: Failures

    /// Counts a failed load of `key`; returns how many there have been since its last success.
    ///
    /// Entries of the key are left alone.
    ///
    /// - Parameters:
    ///   - key: What could not be loaded.
    ///   - status: The HTTP status of the failure; what stands for it where there was none, is for the caller to choose.
    ///   - window: Failures as far apart as this, or farther, are not counted together: the count starts anew. So it does
    ///     when the clock was set back. `nil`, the default, counts them however far apart they are.
    ///   - generation: Taken from the store when the load began. If the key was removed since then, nothing is counted, and
    ///     the answer is 0.
    @discardableResult
    public func recordFailure(
        for key: CacheKey, status: Int, within window: Duration? = nil,
        unlessRemovedSince generation: StoreGeneration? = nil
    ) throws(StoreError) -> Int {
        try writer.write(recordingFailure(key, status, window, generation))
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func recordFailure(
        for key: CacheKey, status: Int, within window: Duration? = nil,
        unlessRemovedSince generation: StoreGeneration? = nil
    ) async throws(StoreError) -> Int {
        try await writer.write(recordingFailure(key, status, window, generation))
    }

    private func recordingFailure(
        _ key: CacheKey, _ status: Int, _ window: Duration?, _ generation: StoreGeneration?
    ) -> @Sendable (WriteTransaction) throws(StoreError) -> Int {
        let now = now
        return changing { (transaction) throws(SQLiteError) in
            if let generation, try transaction.connection.wasRemoved(key, since: generation) { return 0 }
            return try transaction.connection.recordFailure(
                for: key, status: status, at: now, within: window?.milliseconds)
        }
    }

    /// Forgets the failures of `key`, as a success does that is stored.
    package func forgetFailures(of key: CacheKey) async throws(StoreError) {
        _ = try await writer.write(
            changing { (transaction) throws(SQLiteError) in try transaction.connection.removeFailure(for: key) })
    }

    /// The failures of `key` since its last success; `nil` if there were none.
    public func failure(for key: CacheKey) throws(StoreError) -> LoadFailure? {
        try read { (connection) throws(SQLiteError) in try connection.failure(for: key) }
    }

    /// A change to the index as a job of the writer.
    func changing<Value>(
        _ change: @escaping @Sendable (WriteTransaction) throws(SQLiteError) -> Value
    ) -> @Sendable (WriteTransaction) throws(StoreError) -> Value {
        let path = indexPath
        return { (transaction) throws(StoreError) in
            try wrappingErrors(path) { () throws(SQLiteError) in try change(transaction) }
        }
    }
}

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

    /// Stores a body that is at hand, in place of the entry with the same key, kind and variant.
    @discardableResult
    public func insert(
        _ body: some ContiguousBytes, metadata: EntryMetadata, for key: CacheKey
    ) throws(StoreError) -> StoredEntry {
        let writer = makeBodyWriter()
        try writer.write(body)
        return try writer.commit(metadata, for: key)
    }

    /// As the synchronous form, without blocking the caller's thread for the commit.
    @discardableResult
    public func insert(
        _ body: some ContiguousBytes & Sendable, metadata: EntryMetadata, for key: CacheKey
    ) async throws(StoreError) -> StoredEntry {
        let writer = makeBodyWriter()
        try writer.write(body)
        return try await writer.commit(metadata, for: key)
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
    ) throws(StoreError) -> @Sendable (Connection) throws(StoreError) -> Bool {
        try metadata.checkLengths()
        return changing { (connection) throws(SQLiteError) in
            guard try connection.freshen(entry, metadata) else { return false }
            try connection.removeFailure(for: entry.key)
            return true
        }
    }

    // MARK: Failures

    /// Counts a failed load of `key`; returns how many there have been since its last success.
    ///
    /// Entries of the key are left alone.
    @discardableResult
    public func recordFailure(for key: CacheKey, status: Int) throws(StoreError) -> Int {
        try writer.write(recordingFailure(key, status))
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func recordFailure(for key: CacheKey, status: Int) async throws(StoreError) -> Int {
        try await writer.write(recordingFailure(key, status))
    }

    private func recordingFailure(
        _ key: CacheKey, _ status: Int
    ) -> @Sendable (Connection) throws(StoreError) -> Int {
        let now = now
        return changing { (connection) throws(SQLiteError) in
            try connection.recordFailure(for: key, status: status, at: now)
        }
    }

    /// The failures of `key` since its last success; `nil` if there were none.
    public func failure(for key: CacheKey) throws(StoreError) -> LoadFailure? {
        try read { (connection) throws(SQLiteError) in try connection.failure(for: key) }
    }

    // MARK: Removing

    /// Removes everything stored for `key`: every variant, content, error response and failures, with their files.
    ///
    /// - Returns: Whether there was anything.
    @discardableResult
    public func remove(_ key: CacheKey) throws(StoreError) -> Bool {
        let existed = try writer.write(removing(key))
        if existed { try deleteFiles() }
        return existed
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func remove(_ key: CacheKey) async throws(StoreError) -> Bool {
        try await onMaintenanceLane { () throws(StoreError) in try self.remove(key) }
    }

    /// Removes one entry and leaves the key's others; `false` if it was gone already.
    @discardableResult
    public func remove(_ entry: StoredEntry) async throws(StoreError) -> Bool {
        try await writer.write(
            changing { (connection) throws(SQLiteError) in try connection.removeEntry(entry) })
    }

    private func removing(_ key: CacheKey) -> @Sendable (Connection) throws(StoreError) -> Bool {
        changing { (connection) throws(SQLiteError) in
            let entries = try connection.removeEntries(for: key)
            return try connection.removeFailure(for: key) || entries > 0
        }
    }

    // MARK: Evicting

    /// Removes entries until the files of the others have at most `maxBytes` bytes: the expired first, then those used least
    /// recently.
    ///
    /// Takes time in proportion to what is removed, in short transactions, between which others write; lookups go on
    /// meanwhile. Synchronous, for start-up code and tools; where many tasks run, prefer ``evict(_:)``.
    @discardableResult
    public func evict(maxBytes: Int64) throws(StoreError) -> EvictionReport {
        try evictNow(.maxBytes(maxBytes))
    }

    /// Removes entries until there are at most `maxEntries`; else as ``evict(maxBytes:)``.
    @discardableResult
    public func evict(maxEntries: Int) throws(StoreError) -> EvictionReport {
        try evictNow(.maxEntries(maxEntries))
    }

    /// Removes every entry whose last use is longer ago than `age`; else as ``evict(maxBytes:)``.
    @discardableResult
    public func evict(unusedFor age: Duration) throws(StoreError) -> EvictionReport {
        try evictNow(.unusedFor(age))
    }

    /// Removes every entry whose body was stored longer ago than `age`; else as ``evict(maxBytes:)``.
    @discardableResult
    public func evict(olderThan age: Duration) throws(StoreError) -> EvictionReport {
        try evictNow(.olderThan(age))
    }

    /// Removes what `rule` says, without blocking the caller's thread.
    ///
    /// It is written differently from the synchronous forms because Swift would otherwise not let an asynchronous `main` say
    /// `try store.evict(maxBytes:)`.
    @discardableResult
    public func evict(_ rule: EvictionRule) async throws(StoreError) -> EvictionReport {
        try await onMaintenanceLane { () throws(StoreError) in try self.evictNow(rule) }
    }

    private func evictNow(_ rule: EvictionRule) throws(StoreError) -> EvictionReport {
        var report = EvictionReport()
        let now = now
        var isDone = false
        while !isDone {
            let bite = try writer.write(
                changing { (connection) throws(SQLiteError) in try connection.evictBite(rule, now: now) })
            report.entries += bite.report.entries
            report.bytes &+= bite.report.bytes
            isDone = bite.isDone
        }
        try deleteFiles()
        try shrinkIndex()
        return report
    }

    /// Runs transactions until no file is left that no entry needs, or none of those left can be deleted.
    private func deleteFiles() throws(StoreError) {
        var left = Int64.max
        while true {
            let now = try writer.write(
                changing { (connection) throws(SQLiteError) in try connection.statistics().unreferencedBytes })
            guard now > 0, now < left else { return }
            left = now
        }
    }

    /// Gives the pages of the index that hold nothing back to the file system, some in each transaction.
    private func shrinkIndex() throws(StoreError) {
        while try writer.write(changing { (connection) throws(SQLiteError) in try connection.releasePages() }) {}
    }

    // MARK: Flushing

    /// Writes the uses of entries that are only noted in memory, and deletes files that no entry needs.
    public func flush() throws(StoreError) {
        try deleteFiles()
    }

    /// As the synchronous form, without blocking the caller's thread.
    public func flush() async throws(StoreError) {
        try await onMaintenanceLane { () throws(StoreError) in try self.flush() }
    }

    /// A change to the index as a job of the writer.
    private func changing<Value>(
        _ change: @escaping @Sendable (Connection) throws(SQLiteError) -> Value
    ) -> @Sendable (Connection) throws(StoreError) -> Value {
        let path = indexPath
        return { (connection) throws(StoreError) in
            try mapping(path) { () throws(SQLiteError) in try change(connection) }
        }
    }
}

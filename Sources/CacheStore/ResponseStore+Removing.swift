/// What takes entries away because somebody wants them gone.
///
/// A load that began before a removal delivers what it brings, but does not put it back, in any process: see ``generation()``.
extension ResponseStore {
    // MARK: One key

    /// Removes everything stored for `key`: every variant, content, error response and failures, with their files.
    ///
    /// - Returns: Whether there was anything.
    @discardableResult
    public func remove(_ key: CacheKey) throws(StoreError) -> Bool {
        let change = changing { (transaction) throws(SQLiteError) in
            try transaction.connection.noteRemoval(of: key)
            let entries = try transaction.removeEntries(for: key)
            return try transaction.connection.removeFailure(for: key) || entries > 0
        }
        let existed = try withBallast { () throws(StoreError) in try writer.write(change) }
        if existed { try finishRemoval() }
        return existed
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func remove(_ key: CacheKey) async throws(StoreError) -> Bool {
        try await onMaintenanceLane { () throws(StoreError) in try self.remove(key) }
    }

    /// Removes one entry and leaves the key's others; `false` if it was gone already. Its file goes with the next write.
    ///
    /// Unlike the removal of a key it keeps no load that is under way from storing what it brings.
    @discardableResult
    public func remove(_ entry: StoredEntry) async throws(StoreError) -> Bool {
        let existed = try await writer.write(
            changing { (transaction) throws(SQLiteError) in try transaction.removeEntry(entry) })
        if existed, configuration.secureDelete {
            try await onMaintenanceLane { () throws(StoreError) in try self.finishRemoval() }
        }
        return existed
    }

    // MARK: Many

    /// Removes the entries of a selection, with their files and the failures of their keys; pinned ones, too.
    ///
    /// In short transactions, between which others write; lookups go on meanwhile. Takes time in proportion to what is
    /// removed, but for a media type or a predicate, which read the whole index first.
    ///
    /// - Parameters:
    ///   - selection: Which entries. One that says nothing means none.
    ///   - dryRun: Whether only to count what would be removed, without a lock or a change.
    /// - Throws: ``StoreError/index(_:)`` for a predicate that SQLite does not understand; then nothing is removed.
    ///   ``StoreError/busy(path:)``, after which what has been removed by then stays removed.
    @discardableResult
    public func removeAll(
        _ selection: EntrySelection, dryRun: Bool = false
    ) throws(StoreError) -> RemovalReport {
        guard !selection.isEmpty else { return RemovalReport() }
        guard !dryRun else {
            return try read { (connection) throws(SQLiteError) in try connection.preview(of: selection) }
        }
        // A predicate is tried before anything is changed.
        _ = try read { (connection) throws(SQLiteError) in try connection.ids(in: selection, limit: 1) }
        // First, so that nothing that is removed now comes back.
        var report = try writer.write(
            changing { (transaction) throws(SQLiteError) in
                try transaction.connection.noteRemoval(fromPartition: selection.partition)
                var report = RemovalReport()
                if selection.isAboutKeys { report.failures = try transaction.removeFailures(in: selection) }
                return report
            })
        var rest = try read { (connection) throws(SQLiteError) in try connection.ids(in: selection) }[...]
        var failing: [CacheKey] = []
        while !rest.isEmpty {
            let batch = rest.prefix(WriteTransaction.evictionBatchSize)
            rest = rest.dropFirst(batch.count)
            let change = changing { (transaction) throws(SQLiteError) in
                try transaction.removeEntries(batch, in: selection)
            }
            let removed = try withBallast { () throws(StoreError) in try writer.write(change) }
            report.entries += removed.report.entries
            report.bytes &+= removed.report.bytes
            failing += removed.failing
        }
        report.failures += try removeFailures(for: failing)
        try finishRemoval()
        return report
    }

    private func removeFailures(for keys: [CacheKey]) throws(StoreError) -> Int {
        var (rest, count) = (keys[...], 0)
        while !rest.isEmpty {
            let batch = rest.prefix(WriteTransaction.evictionBatchSize)
            rest = rest.dropFirst(batch.count)
            count += try writer.write(
                changing { (transaction) throws(SQLiteError) in try transaction.removeFailures(for: batch) })
        }
        return count
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func removeAll(
        _ selection: EntrySelection, dryRun: Bool = false
    ) async throws(StoreError) -> RemovalReport {
        try await onMaintenanceLane { () throws(StoreError) in try self.removeAll(selection, dryRun: dryRun) }
    }

    /// Removes everything of a partition, as when its user logs out.
    @discardableResult
    public func removeAll(partition: String) throws(StoreError) -> RemovalReport {
        try removeAll(.partition(partition))
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func removeAll(partition: String) async throws(StoreError) -> RemovalReport {
        try await removeAll(.partition(partition))
    }

    /// Removes everything: entries, failures, counts of requests, and indices that were set aside. Files that are not the
    /// store's stay.
    @discardableResult
    public func clear() throws(StoreError) -> RemovalReport {
        let report = try removeAll(.everything)
        try writer.write(
            changing { (transaction) throws(SQLiteError) in try transaction.connection.forgetUnneededHosts() })
        try wrappingErrors { () throws(SystemError) in _ = try place.removeQuarantinedIndices() }
        return report
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func clear() async throws(StoreError) -> RemovalReport {
        try await onMaintenanceLane { () throws(StoreError) in try self.clear() }
    }
}

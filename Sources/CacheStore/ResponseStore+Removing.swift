/// Removes entries on request. A load that began before a removal delivers its response, but does not store it, in any
/// process: see ``generation()``.
extension ResponseStore {
    // MARK: One key

    /// Removes everything stored for `key`, with its files: every variant, part, content, error response and derived
    /// representation, and the failures. For the key of a URL, includes the answers to QUERY requests for that URL.
    ///
    /// - Returns: Whether anything was stored for `key`.
    @discardableResult
    public func remove(_ key: CacheKey) throws(StoreError) -> Bool {
        let (existed, hadUses) = try withBallast { () throws(StoreError) in
            try writer.write { (transaction) throws(StoreError) in
                try transaction.noteRemoval(of: key)
                let hadUses = try transaction.connection.forgetUses(of: key)
                let entries = try transaction.removing(.removed) { () throws(StoreError) in
                    try transaction.removeEntries(for: key)
                }
                let existed = try transaction.connection.removeFailuresWithFragments(of: key) || entries > 0
                return (existed, hadUses)
            }
        }
        if existed || hadUses { try finishRemoval(ofMany: false) }
        if configuration.secureDelete { try eraseRequests(.key(key)) }
        return existed
    }

    /// Removes everything stored for `key` like the synchronous overload, without blocking the caller's thread.
    @discardableResult
    public func remove(_ key: CacheKey) async throws(StoreError) -> Bool {
        try await maintenanceLane.run { () throws(StoreError) in try self.remove(key) }
    }

    /// Removes one entry and leaves the other entries of its key. Returns `false` if the entry was already removed. A
    /// later transaction deletes its file.
    ///
    /// Unlike the removal of a key, does not prevent a running load from storing its response.
    @discardableResult
    public func remove(_ entry: StoredEntry) async throws(StoreError) -> Bool {
        let existed = try await writer.write { (transaction) throws(StoreError) in
            try transaction.removing(.removed) { () throws(StoreError) in try transaction.removeEntry(entry) }
        }
        if existed, configuration.secureDelete {
            try await maintenanceLane.run { () throws(StoreError) in try self.finishRemoval() }
        }
        return existed
    }

    // MARK: Many

    /// Removes the entries of a selection, with their files and the failures of their keys. Removes pinned entries,
    /// too. For a logout: `removeAll(.partition("user-17"))`.
    ///
    /// Works in short transactions, between which other writers commit. Never blocks lookups. Takes time in proportion
    /// to the rows of the partition, the prefix or the tag. A selection without any of these first reads the whole
    /// index.
    ///
    /// A removal of a whole partition, or of ``EntrySelection/everything``, also erases the recorded requests of the
    /// partition, or all of them, and the access counts of evicted entries. Other removals leave both alone, unless the
    /// store deletes securely.
    ///
    /// Running loads in the partition of the selection deliver their responses, but do not store them. A selection
    /// without a partition affects the loads of all partitions.
    ///
    /// - Parameters:
    ///   - selection: The entries to remove. An empty selection removes nothing. A predicate is evaluated once for each
    ///     entry, when the removal begins.
    ///   - dryRun: Whether only to count the entries, without a lock or a change.
    /// - Throws: ``StoreError/index(_:)`` for a predicate that SQLite does not understand; then nothing is removed.
    ///   ``StoreError/busy(path:)``; entries that were removed before the error stay removed.
    @discardableResult
    public func removeAll(
        _ selection: EntrySelection, dryRun: Bool = false
    ) throws(StoreError) -> RemovalReport {
        guard !selection.isEmpty else { return RemovalReport() }
        guard !dryRun else {
            return try readLong { (connection) throws(StoreError) in try connection.preview(of: selection) }
        }
        // Check the predicate before any change, because it may be invalid.
        try readLong { (connection) throws(StoreError) in try connection.checkPredicate(of: selection) }
        // A running load must not store a removed entry again.
        try noteRemoval(of: selection)
        var rest = try readLong { (connection) throws(StoreError) in try connection.ids(in: selection) }[...]
        var failing = try readLong { (connection) throws(StoreError) in try connection.failingKeys(in: selection) }
        var report = RemovalReport()
        while !rest.isEmpty {
            let batch = rest.prefix(Self.removalBatch)
            let removed = try withBallast { () throws(StoreError) in
                try writer.write { (transaction) throws(StoreError) in
                    try transaction.removing(.removed) { () throws(StoreError) in
                        try transaction.removeEntries(batch, in: selection)
                    }
                }
            }
            rest = rest.dropFirst(removed.count)
            report.entries += removed.report.entries
            report.bytes &+= removed.report.bytes
            failing.formUnion(removed.failing)
        }
        // A load that began after the first note may have found an entry before its removal. It must not answer loads
        // that begin after this call.
        if report.entries > 0 { try noteRemoval(of: selection) }
        report.failures = try removeFailures(for: failing)
        // Evictions between the batches may have kept access counts of removed entries.
        if selection.isWhole { try forgetUses() }
        try finishRemoval()
        try eraseRequests(of: selection)
        return report
    }

    private func noteRemoval(of selection: EntrySelection) throws(StoreError) {
        try writer.write { (transaction) throws(StoreError) in
            try transaction.noteRemoval(fromPartition: selection.partition)
        }
    }

    /// The most entries that one transaction removes.
    static let removalBatch = 64

    /// Deletes all ghost entries, because a ghost entry does not contain the partition of its key.
    func forgetUses() throws(StoreError) {
        try writer.write { (transaction) throws(StoreError) in _ = try transaction.connection.forgetUses(of: nil) }
    }

    /// Removes the failures of keys. Returns the number of keys that had any.
    private func removeFailures(for keys: Set<CacheKey>) throws(StoreError) -> Int {
        var (rest, count) = (Array(keys)[...], 0)
        while !rest.isEmpty {
            let batch = rest.prefix(Self.removalBatch)
            rest = rest.dropFirst(batch.count)
            count += try writer.write { (transaction) throws(StoreError) in
                var count = 0
                for key in batch where try transaction.connection.removeFailures(for: key) { count += 1 }
                return count
            }
        }
        return count
    }

    /// Removes the entries of a selection like the synchronous overload, without blocking the caller's thread.
    @discardableResult
    public func removeAll(
        _ selection: EntrySelection, dryRun: Bool = false
    ) async throws(StoreError) -> RemovalReport {
        try await maintenanceLane.run { () throws(StoreError) in try self.removeAll(selection, dryRun: dryRun) }
    }

    /// Removes everything: entries, failures, counts and records of requests, and quarantined indexes. Leaves files
    /// that do not belong to the store.
    @discardableResult
    public func clear() throws(StoreError) -> RemovalReport {
        let report = try removeAll(.everything)
        try writer.write { (transaction) throws(StoreError) in try transaction.connection.forgetUnneededHosts() }
        _ = try place.removeQuarantinedIndices()
        return report
    }

    /// Removes everything like the synchronous overload, without blocking the caller's thread.
    @discardableResult
    public func clear() async throws(StoreError) -> RemovalReport {
        try await maintenanceLane.run { () throws(StoreError) in try self.clear() }
    }

    // MARK: Ended sessions

    /// Removes the entries of ended sessions.
    func removeLapsed() throws(StoreError) {
        var hasRemoved = false
        while try writer.write({ (transaction) throws(StoreError) in
            try transaction.removeLapsedEntries(limit: Self.removalBatch)
        }) > 0 { hasRemoved = true }
        if hasRemoved { try finishRemoval() }
    }
}

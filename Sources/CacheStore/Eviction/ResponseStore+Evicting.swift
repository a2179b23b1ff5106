/// Evicts entries on request.
extension ResponseStore {
    /// Removes entries in the order of the ``EvictionPolicy`` until at most `maxBytes` bytes are on disk. Pinned
    /// entries stay.
    ///
    /// Counts bytes as ``Limits`` does. Takes time in proportion to the removed entries, in short transactions, which
    /// leave time for other writers and never block lookups. Blocks the calling thread: made for start-up code and
    /// tools. Where many tasks run, prefer ``evict(_:dryRun:)``.
    ///
    /// - Parameters:
    ///   - maxBytes: The most bytes on disk; 0 or less removes all unpinned entries.
    ///   - dryRun: Whether only to count the entries. Writes the pending accesses first. The count itself takes no
    ///     lock, and each entry counts with the average of its pages in the index.
    /// - Throws: ``StoreError/busy(path:)``, ``StoreError/index(_:)``, ``StoreError/readOnly(path:)``. Entries that
    ///   were removed before the error stay removed.
    @discardableResult
    public func evict(maxBytes: Int64, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        try evictNow(.maxBytes(maxBytes), dryRun: dryRun)
    }

    /// Removes entries until at most `maxEntries` are left, otherwise like ``evict(maxBytes:dryRun:)``.
    @discardableResult
    public func evict(maxEntries: Int, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        try evictNow(.maxEntries(maxEntries), dryRun: dryRun)
    }

    /// Removes every entry whose last access is longer ago than `age`, otherwise like ``evict(maxBytes:dryRun:)``.
    /// Reads every entry.
    @discardableResult
    public func evict(unusedFor age: Duration, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        try evictNow(.unusedFor(age), dryRun: dryRun)
    }

    /// Removes every entry whose body was stored longer ago than `age`, otherwise like ``evict(maxBytes:dryRun:)``.
    /// Reads every entry.
    @discardableResult
    public func evict(olderThan age: Duration, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        try evictNow(.olderThan(age), dryRun: dryRun)
    }

    /// Removes the entries of a rule, without blocking the caller's thread.
    ///
    /// Not an overload of the synchronous forms: then Swift would not let an asynchronous `main` call
    /// `try store.evict(maxBytes:)`.
    @discardableResult
    public func evict(_ rule: EvictionRule, dryRun: Bool = false) async throws(StoreError) -> EvictionReport {
        try await maintenanceLane.run { () throws(StoreError) in try self.evictNow(rule, dryRun: dryRun) }
    }

    private func evictNow(_ rule: EvictionRule, dryRun: Bool) throws(StoreError) -> EvictionReport {
        if !configuration.isReadOnly { try writeAccesses() }
        guard !dryRun else { return try previewEviction(rule).report }
        let report = try evict(rule) { (transaction) throws(StoreError) in try withBallast(transaction) }
        try finishRemoval()
        return report
    }

    /// Removes the entries of a rule in short transactions, each of at most `count` entries. `attempt` runs a
    /// transaction, and may run it once more after an error.
    func evict(
        _ rule: EvictionRule, atMost count: Int = .max,
        attempting attempt: (_ transaction: () throws(StoreError) -> EvictionBatch) throws(StoreError) -> EvictionBatch
    ) throws(StoreError) -> EvictionReport {
        let now = now
        var (report, batch) = (EvictionReport(), EvictionBatch())
        while !batch.isDone {
            let previous = batch
            batch = try attempt { () throws(StoreError) in
                try writer.write { (transaction) throws(StoreError) in
                    try transaction.evict(rule, after: previous, atMost: count, now: now)
                }
            }
            report += batch.report
        }
        return report
    }
}

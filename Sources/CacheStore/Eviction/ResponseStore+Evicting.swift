/// Evicts entries on request.
extension ResponseStore {
    /// Removes the entries of a rule. Pinned entries stay.
    ///
    /// Takes time in proportion to the removed entries, and a rule by age also to all entries, in short transactions,
    /// which leave time for other writers and never block lookups. Blocks the calling thread: made for start-up code
    /// and tools. Where many tasks run, prefer the asynchronous overload.
    ///
    /// - Parameters:
    ///   - rule: The entries to remove.
    ///   - dryRun: Whether only to count the entries. Writes the pending accesses first. The count itself takes no
    ///     lock, and each entry counts with the average of its pages in the index.
    /// - Throws: ``StoreError/busy(path:)``, ``StoreError/index(_:)``, ``StoreError/readOnly(path:)``. Entries that
    ///   were removed before the error stay removed.
    @discardableResult
    public func evict(_ rule: EvictionRule, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        // An entry whose only accesses are pending must not look unused.
        if !configuration.isReadOnly { try writeAccesses() }
        guard !dryRun else { return try previewEviction(rule).report }
        let report = try evict(rule) { (transaction) throws(StoreError) in try withBallast(transaction) }
        try finishRemoval()
        return report
    }

    /// Removes the entries of a rule like the synchronous overload, without blocking the caller's thread.
    @discardableResult
    public func evict(_ rule: EvictionRule, dryRun: Bool = false) async throws(StoreError) -> EvictionReport {
        try await maintenanceLane.run { () throws(StoreError) in try self.evict(rule, dryRun: dryRun) }
    }

    /// Removes entries until at most `maxBytes` bytes are on disk; 0 or less removes all unpinned entries. The same as
    /// `evict(.maxBytes(maxBytes))`, and synchronous also in an asynchronous `main`, because it has no overload.
    @discardableResult
    public func evict(maxBytes: Int64, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        try evict(.maxBytes(maxBytes), dryRun: dryRun)
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

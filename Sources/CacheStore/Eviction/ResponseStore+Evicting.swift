/// Evicts entries on request.
extension ResponseStore {
    /// Removes entries in the order of the ``EvictionPolicy`` until at most `maxBytes` bytes are on disk. Pinned
    /// entries stay.
    ///
    /// Counts bytes as ``Limits`` do. Takes time in proportion to the removed entries, in short transactions; lookups
    /// and writes go on meanwhile. Blocks the calling thread, for start-up code and tools; where many tasks run, prefer
    /// ``evict(_:dryRun:)``.
    ///
    /// - Parameters:
    ///   - maxBytes: The most bytes on disk; 0 or less removes all unpinned entries.
    ///   - dryRun: Whether only to count the entries that would be removed. Writes the pending accesses first. The count
    ///     itself takes no lock, and each entry counts with the average of its pages in the index.
    /// - Throws: ``StoreError/busy(path:)``, ``StoreError/index(_:)``, ``StoreError/readOnly(path:)``. Entries that
    ///   were removed before the error stay removed.
    @discardableResult
    public func evict(maxBytes: Int64, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        try evictNow(.maxBytes(maxBytes), dryRun: dryRun)
    }

    /// Removes entries until there are at most `maxEntries`, otherwise like ``evict(maxBytes:dryRun:)``.
    @discardableResult
    public func evict(maxEntries: Int, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        try evictNow(.maxEntries(maxEntries), dryRun: dryRun)
    }

    /// Removes every entry whose last use is longer ago than `age`, otherwise like ``evict(maxBytes:dryRun:)``. Reads
    /// every entry.
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
    /// This is no overload of the synchronous forms: Swift would then not let an asynchronous `main` call
    /// `try store.evict(maxBytes:)`.
    @discardableResult
    public func evict(_ rule: EvictionRule, dryRun: Bool = false) async throws(StoreError) -> EvictionReport {
        try await onMaintenanceLane { () throws(StoreError) in try self.evictNow(rule, dryRun: dryRun) }
    }

    func evictNow(_ rule: EvictionRule, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        if !configuration.isReadOnly { try writeAccesses() }
        guard !dryRun else { return try previewEviction(rule).report }
        var report = EvictionReport()
        var (batch, order) = (EvictionBatch(), nil as EvictionOrder?)
        while !batch.isDone {
            (batch, order) = try withBallast { () throws(StoreError) in try evictBatch(rule, along: order) }
            report += batch.report
        }
        try finishRemoval()
        return report
    }

    /// Runs one transaction of an eviction.
    ///
    /// - Parameters:
    ///   - order: The rest of the order after the previous batch.
    ///   - count: The most entries to remove.
    func evictBatch(
        _ rule: EvictionRule, along order: EvictionOrder? = nil, atMost count: Int = .max
    ) throws(StoreError) -> (batch: EvictionBatch, order: EvictionOrder) {
        let now = now
        return try writer.write { (transaction) throws(StoreError) in
            // Uses move the entries in the order of the policy: read it again.
            var rest: EvictionOrder
            if let order, !order.isOfPolicy {
                rest = order
            } else {
                rest = try EvictionOrder(rule, transaction.connection, now: now)
            }
            let batch = try transaction.evict(along: &rest, atMost: count, while: rule.isTooMuch)
            return (batch, rest)
        }
    }
}

/// Evicts entries, on request or to keep the limits.
extension ResponseStore {
    // MARK: On request

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

    // MARK: By the limits

    /// Evicts down to the low-water mark, unless another process does.
    func keepLimits() {
        let partitions = limits.passBegins()
        do throws(StoreError) {
            for partition in partitions { _ = try makeRoom(for: 0, in: partition, share: limits.limits?.lowWaterMark) }
            let lock = try blobs.lock()
            var isDone = false
            while !isDone {
                let batch = try writer.recoveringFromDamage { () throws(StoreError) in try self.keepLimits(under: lock)
                }
                guard let batch else { return }
                isDone = batch
            }
            try deleteFiles()
        } catch {
            // The next write that must evict requests another pass.
            observation.log.debug("cannot keep the limits", ["error": "\(error)"])
        }
    }

    /// Evicts one batch under the lock of `blobs/`.
    ///
    /// The lock is taken for each batch: a process that quarantines the index, perhaps this one, then waits for one
    /// batch only.
    ///
    /// - Returns: Whether this was the last batch; `nil` if another process has the lock, or if there is no index.
    private func keepLimits(under lock: DirectoryLock) throws(StoreError) -> Bool? {
        // A suspended store must not take the lock.
        try checkOpen()
        guard try lock.tryExclusive() else { return nil }
        defer { lock.release() }
        // To create a missing index, the writer would wait for this lock.
        guard place.indexIdentity != nil else { return nil }
        return try writer.writeOnce { [limits] (transaction) throws(StoreError) in try limits.evictBatch(transaction) }
    }

    /// Brings entries into the order of a newly chosen eviction policy, in short transactions. After an error the next
    /// opening continues.
    func reorderEntries() {
        do throws(StoreError) {
            while try read({ (connection) throws(StoreError) in try connection.hasUnorderedEntries() }) {
                try writer.write { (transaction) throws(StoreError) in try transaction.reorderEntries() }
            }
        } catch {
            observation.log.debug("cannot reorder the entries", ["error": "\(error)"])
        }
    }

    /// The size from which a body gets its room before its commit: many small entries may have to go for it.
    private static let largeByteCount: Int64 = 1 << 20

    /// Makes room for a body that is about to be committed, in short transactions: in its partition, and in the store if
    /// the body is large.
    ///
    /// - Parameters:
    ///   - byteCount: The bytes of the body without those that it replaces.
    ///   - partition: The partition of its entry. A derived representation has none.
    /// - Returns: Whether there is room in the partition, and whether a pass should follow.
    func makeRoom(for byteCount: Int64, in partition: String?) throws(StoreError) -> LimitEnforcer.Room {
        guard limits.limits != nil else { return .enough }
        if byteCount >= Self.largeByteCount, byteCount <= limits.limits?.maxBytesBesideWAL ?? .max {
            while try !writer.write({ [limits] (transaction) throws(StoreError) in
                try limits.makeRoom(for: byteCount, in: transaction)
            }) {}
        }
        guard let partition else { return .enough }
        return try makeRoom(for: byteCount, in: partition, share: 1)
    }

    /// Makes room like the synchronous overload, without blocking the caller's thread.
    func makeRoom(for byteCount: Int64, in partition: String?) async throws(StoreError) -> LimitEnforcer.Room {
        guard let limits = limits.limits, byteCount >= Self.largeByteCount || limits.maxPartitionBytes != nil else {
            return .enough
        }
        return try await onStoringLane { () throws(StoreError) in try self.makeRoom(for: byteCount, in: partition) }
    }

    /// Evicts from a partition until it has room for `byteCount` bytes within its share of the limit. Reads the
    /// partition without a lock.
    ///
    /// - Returns: ``LimitEnforcer/Room/afterPass`` if it has evicted: a pass goes on to the low-water mark.
    private func makeRoom(
        for byteCount: Int64, in partition: String, share: Double?
    ) throws(StoreError) -> LimitEnforcer.Room {
        guard let share, let limit = limits.limits?.maxPartitionBytes, !partition.isEmpty else { return .enough }
        let isExceeded = { @Sendable [limits] (connection: Connection) throws(StoreError) in
            try limits.isExceeded(byPartition: partition, connection, growth: byteCount, share: share)
        }
        guard try read(isExceeded) else { return .enough }
        guard byteCount <= limit else { return .none }
        // Uses may move entries during the walk. Read the order again then, a few times.
        for _ in 0..<4 {
            var order = try readLong { (connection) throws(StoreError) in
                try EvictionOrder(.partition(partition), connection)
            }
            if order.isEmpty { return .none }
            while !order.isEmpty {
                order = try writer.write { [order] (transaction) throws(StoreError) in
                    var order = order
                    while !order.isEmpty, try isExceeded(transaction.connection) {
                        _ = try transaction.evict(along: &order, atMost: 1) { _ in true }
                        if transaction.isOutOfTime { break }
                    }
                    return order
                }
                guard try read(isExceeded) else { return .afterPass }
            }
        }
        return .afterPass
    }

    /// Removes the entries of ended sessions.
    func removeLapsed() throws(StoreError) {
        var hasRemoved = false
        while try writer.write({ (transaction) throws(StoreError) in
            try transaction.removeLapsedEntries(limit: Self.removalBatch)
        }) > 0 { hasRemoved = true }
        if hasRemoved { try finishRemoval() }
    }

    // MARK: Afterwards

    /// Completes a removal on request: deletes files, then shrinks the index or, with ``Configuration/secureDelete``,
    /// overwrites it.
    func finishRemoval() throws(StoreError) {
        try deleteFiles()
        guard configuration.secureDelete else { return try shrinkIndex() }
        try forgetUses()
        try wipe()
    }

    /// Deletes the files of removed bodies. A file that cannot be deleted stays for a later attempt.
    func deleteFiles() throws(StoreError) {
        deletion.retry()
        // Write at least once: a transaction that is under way may be deleting files.
        repeat { try writer.write { _ in } } while !deletion.isEmpty
    }

    /// Writes the pending accesses, but not without end those that lookups note meanwhile.
    private func writeAccesses() throws(StoreError) {
        for _ in 0..<(2 * AccessLog.capacity / IndexWriter.accessLimit) where !writer.accessLog.isEmpty {
            try writer.write { [writer] (transaction) throws(StoreError) in try writer.writeAccesses(transaction) }
        }
    }

    /// The number of free pages from which shrinking is worth its time: 16 MiB. Later inserts use fewer free pages.
    private static let leastFreePageCount: Int64 = 4_096

    /// Runs VACUUM if three quarters of the pages, and at least 16 MiB, are free. Takes time in proportion to the other
    /// pages.
    private func shrinkIndex() throws(StoreError) {
        let (free, all) = try read { (connection) throws(StoreError) in
            try (
                connection.integer(connection.prepared("PRAGMA freelist_count")),
                connection.integer(connection.prepared("PRAGMA page_count"))
            )
        }
        guard free >= Self.leastFreePageCount, free >= all / 4 * 3 else { return }
        do throws(StoreError) {
            try interruptibly { (connection) throws(StoreError) in
                try connection.rewrite()
                try connection.restartWAL(within: .zero)
            }
        } catch {
            // The removal has succeeded, and later inserts use the free pages.
            guard case .busy = error else {
                if error.isFullDisk { return }
                throw error
            }
        }
    }

    /// Runs VACUUM and truncates the WAL: both files contain pages from before the removal.
    private func wipe() throws(StoreError) {
        try writer.write { (transaction) throws(StoreError) in try transaction.connection.forgetUnneededHosts() }
        let isWiped = try interruptibly { (connection) throws(StoreError) in
            try connection.rewrite()
            return try connection.truncateWAL()
        }
        guard isWiped else { throw .busy(path: indexPath) }
    }

    /// Calls `body` with the writer's connection outside of transactions. Suspending and closing the store interrupt
    /// `body`, which then throws ``StoreError/suspended`` or ``StoreError/closed``.
    func interruptibly<Value: Sendable>(
        _ body: (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        do throws(StoreError) {
            return try writer.withConnection(body)
        } catch {
            if error.isInterruption { try checkOpen() }
            throw error
        }
    }

    // MARK: Flushing

    /// Writes the accesses and the request records that are only in memory, and deletes files that no entry needs.
    ///
    /// - Throws: ``StoreError/busy(path:)``, ``StoreError/index(_:)``. Accesses that could not be written stay in
    ///   memory.
    public func flush() throws(StoreError) {
        try checkWritable()
        requests.flush()
        try writeAccesses()
        try deleteFiles()
        if configuration.secureDelete { try wipe() }
    }

    /// Writes accesses and deletes files like the synchronous overload, without blocking the caller's thread. Returns
    /// after the earlier background work of the store.
    public func flush() async throws(StoreError) {
        try await background.run { () throws(StoreError) in try self.flush() }
    }
}

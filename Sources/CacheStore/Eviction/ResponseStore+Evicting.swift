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
    ///   - dryRun: Whether only to report the entries that would be removed. The eviction runs in one transaction,
    ///     which is rolled back; other writers wait for the rollback.
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
        try writeAccesses()
        guard !dryRun else { return try preview(of: rule) }
        var report = EvictionReport()
        var (isDone, lastID) = (false, Int64.min)
        while !isDone {
            let batch = try withBallast { () throws(StoreError) in try evictBatch(rule, after: lastID) }
            report += batch.report
            (isDone, lastID) = (batch.isDone, batch.lastID)
        }
        try finishRemoval()
        return report
    }

    /// Counts the entries that an eviction would remove.
    private func preview(of rule: EvictionRule) throws(StoreError) -> EvictionReport {
        let now = now
        return try writer.tentatively { (transaction) throws(SQLiteError) in
            var report = EvictionReport()
            var (isDone, lastID) = (false, Int64.min)
            while !isDone {
                let batch = try transaction.evict(rule, now: now, after: lastID)
                report += batch.report
                (isDone, lastID) = (batch.isDone, batch.lastID)
            }
            return report
        }
    }

    /// Runs one transaction of an eviction.
    func evictBatch(
        _ rule: EvictionRule, atMost count: Int = WriteTransaction.evictionBatchSize, after id: Int64 = .min
    ) throws(StoreError) -> EvictionBatch {
        let now = now
        return try writer.write(
            changing { (transaction) throws(SQLiteError) in
                try transaction.evict(rule, atMost: count, now: now, after: id)
            })
    }

    // MARK: By the limits

    /// Evicts down to the low-water mark, unless another process does.
    func keepLimits() {
        limits.passBegins()
        do throws(StoreError) {
            let lock = try wrappingErrors { () throws(SystemError) in try blobs.lock() }
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
        guard try wrappingErrors({ () throws(SystemError) in try lock.tryExclusive() }) else { return nil }
        defer { lock.release() }
        // To create a missing index, the writer would wait for this lock.
        guard place.indexIdentity != nil else { return nil }
        return try writer.writeOnce(
            changing { [limits] (transaction) throws(SQLiteError) in try limits.evictBatch(transaction) })
    }

    /// Brings entries into the order of a newly chosen eviction policy, in short transactions. After an error the next
    /// opening continues.
    func reorderEntries() {
        do throws(StoreError) {
            while try read({ (connection) throws(SQLiteError) in try connection.hasUnorderedEntries() }) {
                try writer.write(changing { (transaction) throws(SQLiteError) in try transaction.reorderEntries() })
            }
        } catch {
            observation.log.debug("cannot reorder the entries", ["error": "\(error)"])
        }
    }

    /// The size from which a body gets its room in short transactions before its commit: many small entries may have to
    /// go for it.
    private static let largeByteCount: Int64 = 1 << 20

    /// Makes room for a large body that is about to be committed.
    func makeRoom(for byteCount: Int64) throws(StoreError) {
        guard limits.limits != nil, byteCount >= Self.largeByteCount else { return }
        while try !writer.write(
            changing { [limits] (transaction) throws(SQLiteError) in
                try limits.makeRoom(for: byteCount, in: transaction)
            })
        {}
    }

    /// Makes room like the synchronous overload, without blocking the caller's thread.
    func makeRoom(for byteCount: Int64) async throws(StoreError) {
        guard limits.limits != nil, byteCount >= Self.largeByteCount else { return }
        try await onMaintenanceLane { () throws(StoreError) in try self.makeRoom(for: byteCount) }
    }

    /// Removes the entries of ended sessions.
    func removeLapsed() throws(StoreError) {
        var hasRemoved = false
        while try writer.write(
            changing { (transaction) throws(SQLiteError) in
                try transaction.removeLapsedEntries(limit: WriteTransaction.evictionBatchSize)
            }) > 0
        { hasRemoved = true }
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
        let (free, all) = try read { (connection) throws(SQLiteError) in
            try (
                connection.integer(connection.prepared("PRAGMA freelist_count")),
                connection.integer(connection.prepared("PRAGMA page_count"))
            )
        }
        guard free >= Self.leastFreePageCount, free >= all / 4 * 3 else { return }
        do throws(StoreError) {
            try writer.withConnection { (connection) throws(SQLiteError) in
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
        try writer.write(
            changing { (transaction) throws(SQLiteError) in try transaction.connection.forgetUnneededHosts() })
        let isWiped = try writer.withConnection { (connection) throws(SQLiteError) in
            try connection.rewrite()
            return try connection.truncateWAL()
        }
        guard isWiped else { throw .busy(path: indexPath) }
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
        try await onMaintenanceLane { () throws(StoreError) in try self.flush() }
    }
}

internal import Logging

/// What makes a store smaller, on request and by itself.
extension ResponseStore {
    // MARK: On request

    /// Removes entries until at most `maxBytes` bytes are on disk: the expired first, then those that end with the session,
    /// then the others in the order of the ``EvictionPolicy``. What is pinned stays.
    ///
    /// Bytes are counted as ``Limits`` do. Takes time in proportion to what is removed, in short transactions, between which
    /// others write; lookups go on meanwhile. Synchronous, for start-up code and tools; where many tasks run, prefer
    /// ``evict(_:dryRun:)``.
    ///
    /// - Parameters:
    ///   - maxBytes: Bytes on disk; 0 or less for none.
    ///   - dryRun: Whether only to count what would be removed, without a lock or a change. Uses that are only noted in
    ///     memory do not count then; `flush()` writes them. Where more than some hundred entries would go, it may be a few
    ///     more, since pages of the index become free later than the rows in them.
    /// - Throws: ``StoreError/busy(path:)``, ``StoreError/index(_:)``, ``StoreError/readOnly(path:)``; what has been
    ///   removed by then stays removed.
    @discardableResult
    public func evict(maxBytes: Int64, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        try evictNow(.maxBytes(maxBytes), dryRun: dryRun)
    }

    /// Removes entries until there are at most `maxEntries`; else as ``evict(maxBytes:dryRun:)``.
    @discardableResult
    public func evict(maxEntries: Int, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        try evictNow(.maxEntries(maxEntries), dryRun: dryRun)
    }

    /// Removes every entry whose last use is longer ago than `age`; else as ``evict(maxBytes:dryRun:)``. Looks at every entry
    /// where the policy is ``EvictionPolicy/valueAware``, whose order is not that of use.
    @discardableResult
    public func evict(unusedFor age: Duration, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        try evictNow(.unusedFor(age), dryRun: dryRun)
    }

    /// Removes every entry whose body was stored longer ago than `age`; else as ``evict(maxBytes:dryRun:)``.
    @discardableResult
    public func evict(olderThan age: Duration, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        try evictNow(.olderThan(age), dryRun: dryRun)
    }

    /// Removes what `rule` says, without blocking the caller's thread.
    ///
    /// It is written differently from the synchronous forms because Swift would otherwise not let an asynchronous `main` say
    /// `try store.evict(maxBytes:)`.
    @discardableResult
    public func evict(_ rule: EvictionRule, dryRun: Bool = false) async throws(StoreError) -> EvictionReport {
        try await onMaintenanceLane { () throws(StoreError) in try self.evictNow(rule, dryRun: dryRun) }
    }

    func evictNow(_ rule: EvictionRule, dryRun: Bool = false) throws(StoreError) -> EvictionReport {
        let now = now
        guard !dryRun else {
            return try read { (connection) throws(SQLiteError) in try connection.preview(of: rule, now: now) }
        }
        var report = EvictionReport()
        var (isDone, lastID) = (false, Int64.min)
        while !isDone {
            let bite = try evictBite(rule, now, after: lastID)
            report.entries += bite.report.entries
            report.bytes &+= bite.report.bytes
            (isDone, lastID) = (bite.isDone, bite.lastID)
        }
        try finishRemoval()
        return report
    }

    private func evictBite(
        _ rule: EvictionRule, _ now: Int64, after id: Int64
    ) throws(StoreError) -> Connection.EvictionBite {
        do throws(StoreError) {
            return try writer.write(
                changing { (connection) throws(SQLiteError) in try connection.evictBite(rule, now: now, after: id) })
        } catch {
            guard error.isFullDisk else { throw error }
            try deleteFilesAhead(of: rule, now, after: id)
            return try writer.write(
                changing { (connection) throws(SQLiteError) in try connection.evictBite(rule, now: now, after: id) })
        }
    }

    // MARK: By itself

    /// As ``keepLimits()``, without waiting, and once for all who ask before it begins.
    func keepLimitsInBackground() {
        if limits.requestPass() { background.submit { store in store.keepLimits() } }
    }

    /// Brings a store that was opened below its limits: others may have filled it without any.
    func beginKeepingLimits() {
        guard let size = try? read({ (connection) throws(SQLiteError) in try connection.size() }) else { return }
        if limits.note(size) { keepLimits() }
    }

    /// Evicts down to the low-water mark, and deletes files that no entry needs. Left to others while they do it.
    func keepLimits() {
        limits.passBegins()
        do throws(StoreError) {
            let lock = try mapping { () throws(SystemError) in try blobs.lock() }
            let now = now
            var isDone = false
            while !isDone {
                let bite = try writer.mending { () throws(StoreError) in try self.keepLimits(under: lock, now) }
                guard let bite else { return }
                isDone = bite
            }
            limits.passEnded(leaving: try deleteFiles())
        } catch {
            // Tried again with the next write that finds too much.
            configuration.logger.debug("cannot keep the limits", metadata: ["error": "\(error)"])
        }
    }

    /// One bite, under a lock that is taken anew for each: whoever sets the index aside, as this store may have to, waits for one
    /// only. Whether it was the last; `nil` if others are at it.
    private func keepLimits(under lock: DirectoryLock, _ now: Int64) throws(StoreError) -> Bool? {
        // Not in a store that is suspended, which would be refused the change, too.
        try checkOpen()
        guard try mapping({ () throws(SystemError) in try lock.tryExclusive() }) else { return nil }
        defer { lock.release() }
        return try writer.writeOnce(
            undo: nil,
            changing { [limits] (connection) throws(SQLiteError) in try limits.evictBite(connection, now: now) })
    }

    /// Brings entries into the order of the policy, in short transactions. What is left of them is for the next opening.
    func reorderEntries() {
        do throws(StoreError) {
            while try read({ (connection) throws(SQLiteError) in try connection.hasUnorderedEntries() }) {
                try writer.write(changing { (connection) throws(SQLiteError) in try connection.reorderBite() })
            }
        } catch {
            configuration.logger.debug("cannot reorder the entries", metadata: ["error": "\(error)"])
        }
    }

    /// Makes room for bodies on their way, in short transactions, before one of them is committed.
    func makeRoom() throws(StoreError) {
        let now = now
        while limits.isExceeded {
            let isDone = try writer.write(
                changing { [limits] (connection) throws(SQLiteError) in try limits.makeRoom(connection, now: now) })
            if isDone { return }
        }
    }

    /// As the synchronous form, without blocking the caller's thread.
    func makeRoom() async throws(StoreError) {
        guard limits.isExceeded else { return }
        try await onMaintenanceLane { () throws(StoreError) in try self.makeRoom() }
    }

    /// Removes the entries of sessions that are over.
    func removeLapsed() throws(StoreError) {
        var hasRemoved = false
        while try writer.write(
            changing { (connection) throws(SQLiteError) in try connection.removeLapsedEntries() }) > 0
        { hasRemoved = true }
        if hasRemoved { try finishRemoval() }
    }

    // MARK: Afterwards

    /// What follows every removal: files that no entry needs are deleted, empty pages given back, and traces wiped out if
    /// the configuration asks for it.
    func finishRemoval() throws(StoreError) {
        try deleteFiles()
        try shrinkIndex()
        if configuration.secureDelete { try wipe() }
    }

    /// Runs transactions until no file is left that no entry needs, or none of those left can be deleted; their bytes.
    @discardableResult
    private func deleteFiles() throws(StoreError) -> Int64 {
        var left = Int64.max
        while true {
            let now = try writer.write(
                changing { (connection) throws(SQLiteError) in try connection.statistics().unreferencedBytes })
            guard now > 0, now < left else { return now }
            left = now
        }
    }

    /// Gives the pages of the index that hold nothing back to the file system, some in each transaction.
    private func shrinkIndex() throws(StoreError) {
        while try writer.write(changing { (connection) throws(SQLiteError) in try connection.releasePages() }) {}
    }

    /// Writes the index anew, and cuts the log, which has pages as they were before the removal, to nothing.
    private func wipe() throws(StoreError) {
        try writer.write(changing { (connection) throws(SQLiteError) in try connection.forgetUnneededHosts() })
        let isWiped = try writer.withConnection { (connection) throws(SQLiteError) in
            try connection.rewrite()
            return try connection.truncateLog()
        }
        guard isWiped else { throw .busy(path: indexPath) }
    }

    // MARK: Flushing

    /// Writes the uses of entries that are only noted in memory, and deletes files that no entry needs.
    ///
    /// - Throws: ``StoreError/busy(path:)``, ``StoreError/index(_:)``; what is noted stays noted.
    public func flush() throws(StoreError) {
        try deleteFiles()
        if configuration.secureDelete { try wipe() }
    }

    /// As the synchronous form, without blocking the caller's thread. Returns after what the store has been doing for itself.
    public func flush() async throws(StoreError) {
        try await onMaintenanceLane { () throws(StoreError) in try self.flush() }
    }
}

internal import Synchronization

/// The result of one or more transactions.
struct Commit: Sendable {
    /// The error of each job that has run, or `nil` for success.
    var errors: [StoreError?] = []
    var evicted = EvictionReport()
    /// The longest time that one of the transactions held the write lock.
    var hold = Duration.zero

    var isBusy: Bool {
        errors.contains { if case .busy = $0 { true } else { false } }
    }

    /// Adds the result of another transaction.
    mutating func add(_ other: Commit) {
        errors += other.errors
        evicted += other.evicted
        hold = max(hold, other.hold)
    }
}

/// Runs transactions. Each begins with pending accesses and due deletions, then runs its jobs.
extension IndexWriter {
    /// Runs `jobs` in one transaction: the first 16, and more while it has time. If a job makes the transaction fail,
    /// runs each job in a separate transaction.
    func transact(_ jobs: [Job], _ connection: Connection) -> Commit {
        var commit = Commit()
        let isShared = jobs.count > 1
        if attempt(jobs, connection, isShared: isShared, &commit) || !isShared { return commit }
        commit = Commit()
        for job in jobs {
            var own = Commit()
            if let error = commit.errors.last ?? nil, case .busy = error {
                // The lock holder may be slow: wait once for the group, not once for each job.
                own.errors = [error]
                if let body = job.placedBody { dependencies.deletion.add([body]) }
            } else {
                _ = attempt([job], connection, isShared: true, &own)
            }
            commit.add(own)
        }
        return commit
    }

    /// The number of jobs that a transaction runs even when it is out of time, because one commit is cheaper than many.
    private static let leastJobs = 16

    /// Runs `jobs` in one transaction. Returns `false` if one of several jobs made the transaction fail. With
    /// `isShared`, other callers wait for jobs of the same group.
    private func attempt(
        _ jobs: [Job], _ connection: Connection, isShared: Bool, _ commit: inout Commit
    ) -> Bool {
        let transaction = WriteTransaction(connection, accessLog: accessLog, isShared: isShared)
        let recording = dependencies.requests.beginning
        if recording != nil { transaction.removals = RecordedRemovals(at: dependencies.configuration.clock()) }
        var isJobAtFault = false
        do throws(StoreError) {
            try begin(transaction)
            for job in jobs where commit.errors.count < Self.leastJobs || !transaction.isOutOfTime {
                let rowsWritten = connection.rowsWritten
                do throws(StoreError) {
                    try job.run(transaction)
                    commit.errors.append(nil)
                } catch {
                    commit.errors.append(error)
                    // After an error of SQLite, the effect of the failed statement is unknown, so the whole transaction
                    // is rolled back. A job that fails outside the index and without changing a row does not end it.
                    isJobAtFault = error.isOfIndex || connection.rowsWritten != rowsWritten
                    if isJobAtFault { throw error }
                    if let body = job.placedBody { dependencies.deletion.add([body]) }
                }
            }
            // Sync the names before the rows: after a power cut, a durable row must have its file.
            try dependencies.blobs.syncNames()
            let newest = try connection.lastEntryID()
            try complete(transaction)
            // Release the lock before a checkpoint, so that other processes can write.
            writeLock.release()
            commit.hold = transaction.age
            // Advance after the commit, because the next transaction gives a rolled-back id again.
            accessLog.advance(to: newest)
            dependencies.deletion.add(transaction.releasedBodies)
            commit.evicted = transaction.evicted
            if let recording { dependencies.requests.add(transaction.removals?.all ?? [], since: recording) }
            checkpointer.committed(connection)
            return true
        } catch {
            if connection.isInTransaction { _ = try? connection.prepared("ROLLBACK").run() }
            writeLock.release()
            accessLog.restore(transaction.writtenAccesses)
            commit.errors = jobs.indices.map { $0 < commit.errors.count ? commit.errors[$0] ?? error : error }
            // Keep the files, because the jobs run again.
            if isJobAtFault, jobs.count > 1 { return false }
            dependencies.deletion.add(jobs.compactMap(\.placedBody))
            return true
        }
    }

    /// Commits and drops the hot keys that the transaction has changed, before its callers continue.
    private func complete(_ transaction: WriteTransaction) throws(StoreError) {
        let hotKeys = dependencies.hotKeys
        // From here on, a lookup that sees the new version drops no key: `end` drops only the changed ones.
        hotKeys.begin()
        do throws(StoreError) {
            try transaction.connection.prepared("COMMIT").run()
            transaction.changes.hasCommitted = transaction.hasWrittenPages
            hotKeys.end(transaction.changes)
        } catch {
            hotKeys.end(nil)
            throw error
        }
    }

    private func begin(_ transaction: WriteTransaction) throws(StoreError) {
        let connection = transaction.connection
        try writeLock.begin(connection, within: connection.busyTimeout)
        transaction.start()
        if !accessLog.isEmpty {
            try accessLog.follow(connection.lastEntryID(), connection.largestRecency())
            try transaction.writeAccesses(limit: Self.accessLimit)
        }
        // Delete before the jobs run: a job that stores the same bytes then creates the file again.
        if !dependencies.deletion.isEmpty { try dependencies.deletion.deleteBatch(transaction) }
    }

    // MARK: Accesses

    /// The accesses written before a check for other writers. A put waits for no more than these and for the commit.
    static let accessLimit = 128

    /// Writes accesses until another writer waits, or until the changed pages no longer fit into the cache.
    func writeAccesses(_ transaction: WriteTransaction) throws(StoreError) {
        guard !transaction.isShared else { return }
        let pagesWritten = transaction.connection.pagesWritten
        // Few large commits, because every reader reads its pages again after a commit. Bounded, because lookups may
        // add accesses as fast as this loop writes them.
        for _ in 0..<maxAccessBatches {
            guard !accessLog.isEmpty, !isAwaited, !transaction.isOutOfTime,
                transaction.connection.pagesWritten == pagesWritten
            else { break }
            try transaction.writeAccesses(limit: Self.accessLimit)
        }
    }

    /// The batches of accesses in one transaction: enough for all pending ones, but fewer if the WAL is short.
    private var maxAccessBatches: Int {
        let share = Double(dependencies.configuration.maxWALByteCount) / Double(Connection.maxWALByteCount)
        return Int(Double(AccessLog.capacity / Self.accessLimit) * share)
    }

    // MARK: Outside of write transactions

    /// Calls `body` outside transactions, while no checkpoint runs. Closing and suspending the writer interrupt it.
    func withConnection<Value: Sendable>(
        _ body: (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try connection.withLock { (state) throws(StoreError) in
            // A registration is a change, for which a full disk may have no room.
            try use(&state, registers: false) { (connection) throws(StoreError) in
                checkpointer.wait()
                connection.interrupt(by: stop)
                defer { connection.endInterruption() }
                return try body(connection)
            }
        }
    }
}

internal import CacheFoundation
internal import Dispatch
internal import Synchronization

/// The writer: one connection that changes the index, and a queue of jobs. Jobs that wait at the same time share a
/// transaction (group commit). One job alone cannot be rolled back, because an open savepoint makes SQLite copy each
/// changed page. A job that fails in the index, or after changing a row, fails the whole transaction. Then each job
/// runs in a separate transaction.
///
/// The folder `Index/Writing/` has the writer, its queue and its transactions, the pending accesses, and the deletion
/// of bodies. The folder may use the writer's connection, the write lock, the checkpointer, the recorder of requests
/// and the files of bodies. No other folder deletes bodies of removed entries. The folder has no statement of a table:
/// `Index/Tables/` has them.
package final class IndexWriter: Sendable {
    /// A change that waits for its transaction.
    struct Job: Sendable {
        /// Makes the change inside the transaction.
        let run: @Sendable (WriteTransaction) throws(StoreError) -> Void
        /// The body whose file the change names. If the change fails, the file is deleted unless a row names it.
        let placedBody: ContentDigest?
        /// Resumes the caller. Called without any lock.
        let finish: @Sendable (StoreError?) -> Void
    }

    /// The parts of the store that the writer uses.
    struct Dependencies: Sendable {
        let directory: StoreDirectory
        let blobs: BlobDirectory
        let deletion: BlobDeletion
        let hotKeys: HotKeys
        let configuration: ResponseStore.Configuration
        let observation: StoreObservation
        let requests: RequestRecorder
        /// Called before a connection is opened, because the directory may have been deleted or replaced.
        let reopenReplacedDirectory: @Sendable () throws(StoreError) -> Void
        /// Called when open connections have become invalid, usually after a quarantine of the index. The argument is
        /// the number of killed writers that the present index counts until a sweep has finished.
        let indexWasReplaced: @Sendable (_ killedWriters: Int64) -> Void
        /// Called after a transaction that had to evict.
        let hasEvicted: @Sendable () -> Void
    }

    /// The most jobs in one transaction. Bounds how long the write lock is held.
    private static let batchLimit = 128

    let lane = BlockingLane(label: "CacheStore.writer")
    let dependencies: Dependencies
    package let checkpointer: Checkpointer
    let accessLog = AccessLog()
    let writeLock: WriteLock

    /// Ends waits for locks. Set while the store is closed or suspended.
    let stop = InterruptFlag()
    /// The error for changes that no longer wait for a lock.
    let refusal = Mutex<StoreError?>(nil)

    /// Guards the list of jobs, not their work.
    private let queue = Mutex(WriteQueue<Job>())

    private let isDeletionScheduled = Atomic(false)

    /// Held during a recovery, so that closing waits for its end. Taken before ``connection``.
    let recovery = Mutex(())
    /// The number of completed recoveries. Only the holder of ``recovery`` changes it.
    let recoveryCount = Atomic(0)

    /// Guards the connection, which belongs to the leader.
    let connection: Mutex<WriterConnection>

    /// - Parameter index: The index with the writer's connection, or `nil` for a read-only store.
    init(_ index: sending StoreDirectory.OpenedIndex?, _ dependencies: Dependencies) {
        self.dependencies = dependencies
        writeLock = WriteLock(root: dependencies.directory.root)
        checkpointer = Checkpointer(
            dependencies.directory, maxByteCount: dependencies.configuration.maxWALByteCount,
            isDurable: dependencies.configuration.isDurable)
        if let index {
            index.connection.stopWaiting(by: stop)
            connection = Mutex(.open(index.connection, index.identity, isRegistered: false))
        } else {
            connection = Mutex(.refusing(.readOnly(path: dependencies.directory.path)))
        }
    }

    // MARK: Jobs

    /// Makes a change and returns once it is committed. Blocks the calling thread, and may use it for the jobs of other
    /// callers. The change names the file of `placedBody`.
    func write<Value: Sendable>(
        placing placedBody: ContentDigest? = nil,
        _ change: @escaping @Sendable (WriteTransaction) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try recoveringFromDamage { () throws(StoreError) in try writeOnce(placing: placedBody, change) }
    }

    /// Makes a change like ``write(placing:_:)``, but leaves recovery from damage to the caller.
    func writeOnce<Value: Sendable>(
        placing placedBody: ContentDigest? = nil,
        _ change: @escaping @Sendable (WriteTransaction) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let outcome = Outcome<Value>()
        let finished = DispatchSemaphore(value: 0)
        if enqueue(change, placedBody, outcome, { finished.signal() }) {
            commitNextBatch()
            // This caller leads only until its change is committed. The lane runs later changes.
            if !queue.withLock({ $0.isFinished() }) { lane.submit { self.commitAll() } }
        }
        finished.wait()
        return try outcome.get()
    }

    /// Makes a change on the lane and returns once it is committed.
    func write<Value: Sendable>(
        placing placedBody: ContentDigest? = nil,
        _ change: @escaping @Sendable (WriteTransaction) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        do throws(StoreError) {
            return try await writeOnce(placedBody, change)
        } catch {
            try await lane.run { () throws(StoreError) in try self.recover(from: error) }
            return try await writeOnce(placedBody, change)
        }
    }

    private func writeOnce<Value: Sendable>(
        _ placedBody: ContentDigest?,
        _ change: @escaping @Sendable (WriteTransaction) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let outcome = Outcome<Value>()
        await withCheckedContinuation { continuation in
            if enqueue(change, placedBody, outcome, { continuation.resume() }) { lane.submit { self.commitAll() } }
        }
        return try outcome.get()
    }

    /// Runs `body`. If the index was missing or damaged, recovers it and runs `body` once more.
    func recoveringFromDamage<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        do throws(StoreError) {
            return try body()
        } catch {
            try recover(from: error)
            return try body()
        }
    }

    /// Recovers the index if it was missing or damaged; throws any other error.
    private func recover(from error: StoreError) throws(StoreError) {
        if error.isIndexMissing, reopensMissingIndex() { return }
        guard error.isDamage else { throw error }
        try recover()
    }

    /// If the writer's file is no longer the index, reopens or creates it. Returns whether another index exists now.
    private func reopensMissingIndex() -> Bool {
        let isReopened = connection.withLock { state -> Bool in
            guard case .open(_, let file, _) = state, dependencies.directory.indexIdentity != file else { return false }
            return (try? use(&state, registers: false) { _ in }) != nil
        }
        return isReopened || dependencies.directory.indexIdentity != nil
    }

    private func enqueue<Value: Sendable>(
        _ change: @escaping @Sendable (WriteTransaction) throws(StoreError) -> Value,
        _ placedBody: ContentDigest?,
        _ outcome: Outcome<Value>,
        _ finish: @escaping @Sendable () -> Void
    ) -> Bool {
        let job = Job(
            run: { (transaction) throws(StoreError) in outcome.set(.success(try change(transaction))) },
            placedBody: placedBody,
            finish: { error in
                if let error { outcome.set(.failure(error)) }
                finish()
            })
        return queue.withLock { $0.add(job) }
    }

    /// The result of a change.
    private final class Outcome<Value: Sendable>: Sendable {
        /// Guards the result.
        private let result = Mutex<Result<Value, StoreError>?>(nil)

        func set(_ value: Result<Value, StoreError>) {
            result.withLock { $0 = value }
        }

        func get() throws(StoreError) -> Value {
            guard let result = result.withLock({ $0 }) else { throw .closed }
            return try result.get()
        }
    }

    private func commitAll() {
        repeat { commitNextBatch() } while !queue.withLock { $0.isFinished() }
    }

    private func commitNextBatch() {
        let jobs = queue.withLock { $0.next(limit: Self.batchLimit) }
        guard !jobs.isEmpty else { return }
        let began = ContinuousClock.now
        let commit = connection.withLock { state -> Commit in
            do throws(StoreError) {
                return try use(&state) { (connection) throws(StoreError) in transact(jobs, connection) }
            } catch {
                dependencies.deletion.add(jobs.compactMap(\.placedBody))
                return Commit(errors: jobs.map { _ in error })
            }
        }
        // The transaction ran out of time before the other jobs.
        queue.withLock { $0.putBack(jobs.dropFirst(commit.errors.count)) }
        // Do both before resuming the callers, so that a flush waits for them.
        if commit.evicted.entries > 0 { dependencies.hasEvicted() }
        // Schedule nothing after a failure, which the next transaction would repeat.
        if !dependencies.deletion.isEmpty, commit.errors.allSatisfy({ $0 == nil }) { scheduleDeletion() }
        dependencies.observation.transacted(
            in: ContinuousClock.now - began, holding: commit.hold, evicted: commit.evicted, isBusy: commit.isBusy)
        let refusal = refusal.withLock { $0 }
        for (job, error) in zip(jobs, commit.errors) { job.finish(error.map { $0.isBusy ? refusal ?? $0 : $0 }) }
    }

    // MARK: Accesses

    /// Records an access of an entry.
    func noteAccess(to entry: Int64, _ use: EntryUse, key: CacheKey?, at time: Int64) {
        perform(accessLog.note(entry, use, key: key, at: time))
    }

    /// Records a request that no entry answered.
    func noteRequest(_ counts: RequestCounts, host: String, at time: Int64) {
        perform(accessLog.note(counts, host: host, at: time))
    }

    private func perform(_ action: AccessLog.Action) {
        switch action {
        case .none: break
        case .setTimer:
            let interval = dependencies.configuration.accessInterval
            let delay = dependencies.hotKeys.asksForCommit() ? interval / 100 : interval
            lane.submit(after: delay) { [weak self] in
                if let self, accessLog.timerFired() { commitAccesses() }
            }
        case .writeNow: lane.submit { [weak self] in self?.commitAccesses() }
        }
    }

    private func commitAccesses() {
        commitOnLane(while: { !self.accessLog.isEmpty }) { (transaction) throws(StoreError) in
            try self.writeAccesses(transaction)
        }
    }

    /// Runs transactions while accesses or files to delete are pending. Called on the lane.
    private func commitOnLane(
        while hasWork: () -> Bool, _ change: @escaping @Sendable (WriteTransaction) throws(StoreError) -> Void
    ) {
        // The bound ends the loop if accesses cannot be written.
        for _ in 0..<(2 * AccessLog.capacity / Self.accessLimit) where hasWork() {
            let outcome = Outcome<Void>()
            // The current leader runs the job, and later transactions write the rest. Waiting for the leader here would
            // never end if the leader hands its queue over to this lane.
            guard enqueue(change, nil, outcome, {}) else { return }
            commitAll()
            guard (try? outcome.get()) != nil else { return }
        }
    }

    /// The number of changes that callers have requested so far, and how many of them wait for the next transaction.
    package var changeCounts: (added: Int, waiting: Int) { queue.withLock { ($0.addedCount, $0.waitingCount) } }

    /// Whether another writer, in this or another process, waits for the current transaction.
    var isAwaited: Bool { queue.withLock { $0.waitingCount > 0 } || writeLock.isAwaited }

    private func scheduleDeletion() {
        guard !isDeletionScheduled.exchange(true, ordering: .relaxed) else { return }
        lane.submit { [weak self] in
            guard let self else { return }
            isDeletionScheduled.store(false, ordering: .relaxed)
            commitOnLane(while: { !self.dependencies.deletion.isEmpty }) { _ in }
        }
    }
}

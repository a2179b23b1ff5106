internal import Dispatch
internal import Synchronization

/// The one connection that changes the index.
///
/// Jobs that wait at the same time share a transaction (group commit): each has a savepoint, so that one that fails takes
/// no other with it. Every transaction begins with what has collected since the last: touches, and the files that no entry
/// needs any more.
final class IndexWriter: Sendable {
    /// A change that waits for its transaction.
    struct Job: Sendable {
        /// Makes the change; called inside the transaction.
        let run: @Sendable (Connection) throws(StoreError) -> Void
        /// Takes back what the change did outside the index; called when the change did not come to be.
        let undo: @Sendable (Connection) -> Void
        /// Tells who waits; called without any lock.
        let finish: @Sendable (StoreError?) -> Void
    }

    /// Jobs in one transaction; bounds how long the write lock is held.
    private static let batchLimit = 128

    /// Files deleted at the beginning of one transaction.
    private static let deletionLimit = 256

    private let path: String
    private let blobs: BlobDirectory
    private let lane: BlockingLane
    private let touches = Touches()
    private let touchInterval: Duration

    /// Guards the list of jobs, not their work.
    private let batch = Mutex(WriteBatch<Job>())

    /// Guards the connection, which is the leader's alone; `nil` once closed.
    private let connection: Mutex<Connection?>

    init(
        _ connection: sending Connection, path: String, blobs: BlobDirectory, lane: BlockingLane,
        touchInterval: Duration
    ) {
        self.connection = Mutex(connection)
        self.path = path
        self.blobs = blobs
        self.lane = lane
        self.touchInterval = touchInterval
    }

    // MARK: Jobs

    /// Makes a change and returns once it is committed. The calling thread waits, and may work for others meanwhile.
    func write<Value: Sendable>(
        undo: @escaping @Sendable (Connection) -> Void = { _ in },
        _ change: @escaping @Sendable (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let outcome = Outcome<Value>()
        let finished = DispatchSemaphore(value: 0)
        let leads = enqueue(change, undo: undo, outcome) { finished.signal() }
        if leads {
            commitNextBatch()
            // Whoever came later is served on the lane: this caller has waited for its own change only.
            if !batch.withLock({ $0.isFinished() }) { lane.submit { self.commitAll() } }
        }
        finished.wait()
        return try outcome.get()
    }

    /// Makes a change on the lane and returns once it is committed.
    func write<Value: Sendable>(
        undo: @escaping @Sendable (Connection) -> Void = { _ in },
        _ change: @escaping @Sendable (Connection) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let outcome = Outcome<Value>()
        await withCheckedContinuation { continuation in
            let leads = enqueue(change, undo: undo, outcome) { continuation.resume() }
            if leads { lane.submit { self.commitAll() } }
        }
        return try outcome.get()
    }

    private func enqueue<Value: Sendable>(
        _ change: @escaping @Sendable (Connection) throws(StoreError) -> Value,
        undo: @escaping @Sendable (Connection) -> Void,
        _ outcome: Outcome<Value>,
        _ finish: @escaping @Sendable () -> Void
    ) -> Bool {
        let job = Job(
            run: { (connection) throws(StoreError) in outcome.set(.success(try change(connection))) },
            undo: undo,
            finish: { error in
                if let error { outcome.set(.failure(error)) }
                finish()
            })
        return batch.withLock { $0.add(job) }
    }

    /// What became of a change.
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

    // MARK: Transactions

    private func commitAll() {
        repeat { commitNextBatch() } while !batch.withLock { $0.isFinished() }
    }

    private func commitNextBatch() {
        let jobs = batch.withLock { $0.next(limit: Self.batchLimit) }
        guard !jobs.isEmpty else { return }
        let errors = connection.withLock { connection -> [StoreError?] in
            guard let connection else { return jobs.map { _ in .closed } }
            return transact(jobs, connection)
        }
        for (job, error) in zip(jobs, errors) { job.finish(error) }
    }

    /// Runs `jobs` in one transaction; returns what went wrong with each.
    private func transact(_ jobs: [Job], _ connection: Connection) -> [StoreError?] {
        let touches = touches.take()
        var errors: [StoreError?] = []
        do throws(StoreError) {
            try mapping(path) { () throws(SQLiteError) in
                try connection.prepared("BEGIN IMMEDIATE").run()
                try connection.apply(touches)
            }
            try deleteUnreferenced(connection)
            for job in jobs {
                errors.append(perform(job, connection))
                // A full disk, among others, makes SQLite give up the whole transaction.
                if let error = errors.last, let error, !connection.isInTransaction { throw error }
            }
            try mapping(path) { () throws(SQLiteError) in try connection.prepared("COMMIT").run() }
            return errors
        } catch {
            if connection.isInTransaction { _ = try? connection.prepared("ROLLBACK").run() }
            self.touches.restore(touches)
            undo(jobs.prefix(errors.count), connection)
            return jobs.indices.map { $0 < errors.count ? errors[$0] ?? error : error }
        }
    }

    private func perform(_ job: Job, _ connection: Connection) -> StoreError? {
        do throws(StoreError) {
            try mapping(path) { () throws(SQLiteError) in try connection.prepared("SAVEPOINT job").run() }
            try job.run(connection)
            try mapping(path) { () throws(SQLiteError) in try connection.prepared("RELEASE job").run() }
            return nil
        } catch {
            guard connection.isInTransaction else { return error }
            _ = try? connection.prepared("ROLLBACK TO job").run()
            _ = try? connection.prepared("RELEASE job").run()
            job.undo(connection)
            return error
        }
    }

    /// Takes back what jobs did outside the index, under the lock of a transaction of its own, which keeps other
    /// processes from relying on it meanwhile.
    private func undo(_ jobs: ArraySlice<Job>, _ connection: Connection) {
        guard !jobs.isEmpty, (try? connection.prepared("BEGIN IMMEDIATE").run()) != nil else { return }
        for job in jobs { job.undo(connection) }
        _ = try? connection.prepared("ROLLBACK").run()
    }

    // MARK: Touches

    /// Notes that an entry was used.
    func touch(_ entry: Int64, at time: Int64) {
        switch touches.note(entry, at: time) {
        case .none: break
        case .setTimer: lane.submit(after: touchInterval) { [weak self] in self?.touchIntervalPassed() }
        case .writeNow: lane.submit { [weak self] in self?.commitEmptyJob() }
        }
    }

    private func touchIntervalPassed() {
        if touches.timerFired() { commitEmptyJob() }
    }

    /// Runs a transaction for what every transaction begins with. Called on the lane, so it must not wait there for a
    /// leader that may hand its duty over to the lane. What cannot be written now stays noted for the next write.
    private func commitEmptyJob() {
        let job = Job(run: { _ in }, undo: { _ in }, finish: { _ in })
        if batch.withLock({ $0.add(job) }) { commitAll() }
    }

    // MARK: Deletion

    /// Deletes files that no entry needed when this transaction began, then their rows.
    ///
    /// Two transactions are needed to let go of a body: one that removes the last entry, one that deletes the file. Were
    /// they one, a process killed between the deletion and the commit would leave an entry without its body. The lock of
    /// this transaction keeps a writer of the same bytes, in any process, from relying on the file meanwhile.
    private func deleteUnreferenced(_ connection: Connection) throws(StoreError) {
        let unreferenced = try mapping(path) { () throws(SQLiteError) in
            try connection.unreferencedBlobs(limit: Self.deletionLimit)
        }
        for digest in unreferenced {
            // A file that cannot be deleted now keeps its row and is tried again.
            guard (try? blobs.unlink(digest)) != nil else { continue }
            try mapping(path) { () throws(SQLiteError) in try connection.removeBlob(digest) }
        }
    }

    // MARK: The end

    /// Writes what is noted, moves the log into the index and closes the connection. Later changes throw `closed`.
    func close() {
        connection.withLock { connection in
            guard let open = connection else { return }
            _ = transact([], open)
            connection = nil
        }
    }
}

internal import Dispatch
internal import Synchronization

/// The one connection that changes the index.
///
/// Jobs that wait at the same time share a transaction (group commit). None of them could be taken back alone: a savepoint, as
/// long as it is open, has SQLite copy each page that is changed. So one that fails in the index, or after it has changed
/// something there, takes the others with it; then each has a transaction of its own. Every transaction begins with what has
/// collected since the last: touches, and the files that no entry needs any more.
package final class IndexWriter: Sendable {
    /// A change that waits for its transaction.
    struct Job: Sendable {
        /// Makes the change; called inside the transaction.
        let run: @Sendable (Connection) throws(StoreError) -> Void
        /// Takes back what the change did outside the index, if it did anything; called when the change did not come to be.
        let undo: (@Sendable (Connection) -> Void)?
        /// Tells who waits; called without any lock.
        let finish: @Sendable (StoreError?) -> Void
    }

    /// Jobs in one transaction; bounds how long the write lock is held.
    private static let batchLimit = 128

    /// Files deleted at the beginning of one transaction.
    private static let deletionLimit = 256

    /// What the writer is given, besides its jobs.
    struct Surroundings: Sendable {
        let place: StoreDirectory
        let blobs: BlobDirectory
        let options: IndexOptions
        let limits: LimitKeeper
        let observation: StoreObservation
        let touchInterval: Duration
        let clock: @Sendable () -> Int64
        /// Connections to the index are of no use any more: most likely it has been set aside.
        let indexWasReplaced: @Sendable () -> Void
        /// There is more than the limits allow; called without any lock.
        let limitsAreExceeded: @Sendable () -> Void
    }

    private enum State {
        /// - isUser: Whether the index knows of this writer.
        case open(Connection, file: UInt64, isUser: Bool)
        case readOnly
        case suspended
        case closed
    }

    private let lane = BlockingLane(label: "CacheStore.writer")
    private let checkpointer: Checkpointer
    private let touches = Touches()
    private let writeLock: WriteLock
    private let surroundings: Surroundings
    private var path: String { surroundings.place.indexPath }
    private var busyTimeout: Duration { surroundings.options.busyTimeout }

    /// Guards the list of jobs, not their work.
    private let batch = Mutex(WriteBatch<Job>())

    /// What is to be taken back, and could not be yet.
    private let dueUndos = Mutex<[@Sendable (Connection) -> Void]>([])

    /// Guards the connection, which is the leader's alone.
    private let state: Mutex<State>

    /// - Parameter connection: `nil` for a store that is only read.
    init(_ connection: sending Connection?, _ surroundings: Surroundings) {
        self.surroundings = surroundings
        writeLock = WriteLock(root: surroundings.place.root)
        checkpointer = Checkpointer(surroundings.place, isDurable: surroundings.options.isDurable)
        if let connection {
            state = Mutex(.open(connection, file: surroundings.place.indexNumber ?? 0, isUser: false))
        } else {
            state = Mutex(.readOnly)
        }
    }

    // MARK: Jobs

    /// Makes a change and returns once it is committed. The calling thread waits, and may work for others meanwhile.
    func write<Value: Sendable>(
        undo: (@Sendable (Connection) -> Void)? = nil,
        _ change: @escaping @Sendable (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try mending { () throws(StoreError) in try writeOnce(undo: undo, change) }
    }

    /// As ``write(undo:_:)``, but leaves to the caller what is to be done about damage.
    func writeOnce<Value: Sendable>(
        undo: (@Sendable (Connection) -> Void)?,
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
        undo: (@Sendable (Connection) -> Void)? = nil,
        _ change: @escaping @Sendable (Connection) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        do throws(StoreError) {
            return try await writeOnce(undo, change)
        } catch {
            guard error.isIndexDamage else { throw error }
            try await lane.run { () throws(StoreError) in try self.mend() }
            return try await writeOnce(undo, change)
        }
    }

    private func writeOnce<Value: Sendable>(
        _ undo: (@Sendable (Connection) -> Void)?,
        _ change: @escaping @Sendable (Connection) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let outcome = Outcome<Value>()
        await withCheckedContinuation { continuation in
            let leads = enqueue(change, undo: undo, outcome) { continuation.resume() }
            if leads { lane.submit { self.commitAll() } }
        }
        return try outcome.get()
    }

    /// Runs `body`, once more if the index turned out to be damaged and something was done about it.
    func mending<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        do throws(StoreError) {
            return try body()
        } catch {
            guard error.isIndexDamage else { throw error }
            try mend()
            return try body()
        }
    }

    private func enqueue<Value: Sendable>(
        _ change: @escaping @Sendable (Connection) throws(StoreError) -> Value,
        undo: (@Sendable (Connection) -> Void)?,
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

    /// What became of a transaction.
    private struct Commit: Sendable {
        /// What went wrong with each job.
        var errors: [StoreError?] = []
        /// Whether there is more than there may be.
        var isOver = false
        var evicted = EvictionReport()

        var isBusy: Bool {
            errors.contains { if case .busy = $0 { true } else { false } }
        }

        /// What became of the next transaction.
        mutating func add(_ other: Commit) {
            errors += other.errors
            isOver = isOver || other.isOver
            evicted.entries += other.evicted.entries
            evicted.bytes += other.evicted.bytes
        }
    }

    private func commitNextBatch() {
        let jobs = batch.withLock { $0.next(limit: Self.batchLimit) }
        guard !jobs.isEmpty else { return }
        let began = ContinuousClock.now
        let commit = state.withLock { state -> Commit in
            do throws(StoreError) {
                return try use(&state) { (connection) throws(StoreError) in transact(jobs, connection) }
            } catch {
                return Commit(errors: jobs.map { _ in error })
            }
        }
        let duration = ContinuousClock.now - began
        // First, so that who waits for a change and flushes then waits for this, too.
        if commit.isOver { surroundings.limitsAreExceeded() }
        surroundings.observation.transacted(in: duration, evicted: commit.evicted, isBusy: commit.isBusy)
        for (job, error) in zip(jobs, commit.errors) { job.finish(error) }
    }

    /// Calls `body` with the connection, opened anew if the index has been set aside and begun afresh.
    ///
    /// - Parameter addsUser: Whether the index is to know of this writer first, as it has to before a file is named.
    private func use<Value: Sendable>(
        _ state: inout sending State, addsUser: Bool = true, _ body: (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        if case .open(_, let file, _) = state, surroundings.place.indexNumber != file {
            try open(&state)
            indexWasReplaced()
        }
        switch state {
        case .open(let connection, let file, let isUser):
            if addsUser, !isUser {
                // Committed before any file is given a name that a kill could leave without a row.
                try mapping(path) { () throws(SQLiteError) in
                    try writeLock.withLock(within: busyTimeout) { () throws(SQLiteError) in try connection.addUser() }
                }
                state = .open(connection, file: file, isUser: true)
            }
            return try body(connection)
        case .readOnly: throw .readOnly(path: surroundings.place.path)
        case .suspended: throw .suspended
        case .closed: throw .closed
        }
    }

    /// Runs `jobs` in one transaction; each in one of its own if it has to be.
    private func transact(_ jobs: [Job], _ connection: Connection) -> Commit {
        var commit = Commit()
        if attempt(jobs, connection, &commit) || jobs.count == 1 { return commit }
        commit = Commit()
        for job in jobs {
            var own = Commit()
            if let error = commit.errors.last ?? nil, case .busy = error {
                // Who has the lock now may keep it for long: that is waited for once.
                own.errors = [error]
            } else {
                _ = attempt([job], connection, &own)
            }
            commit.add(own)
        }
        // Files that the group has named, and that none of its jobs has come to need.
        undo(jobs[...], connection)
        return commit
    }

    /// Runs `jobs` in one transaction; `false` if it has failed because one of them did. What several did to files is left then.
    ///
    /// One that could not change anything may fail without that. But after an error of SQLite nobody can say what the statement
    /// has left: only the transaction as a whole can be taken back.
    private func attempt(_ jobs: [Job], _ connection: Connection, _ commit: inout Commit) -> Bool {
        let notes = touches.take()
        connection.evicted = EvictionReport()
        var isJobAtFault = false
        do throws(StoreError) {
            try mapping(path) { () throws(SQLiteError) in
                try writeLock.begin(connection, within: busyTimeout)
                try connection.apply(notes)
            }
            for undo in takeDueUndos() { undo(connection) }
            try deleteUnreferenced(connection)
            for job in jobs {
                let rowsWritten = connection.rowsWritten
                do throws(StoreError) {
                    try job.run(connection)
                    commit.errors.append(nil)
                } catch {
                    commit.errors.append(error)
                    isJobAtFault = error.isOfIndex || connection.rowsWritten != rowsWritten
                    if isJobAtFault { throw error }
                    job.undo?(connection)
                }
            }
            commit.isOver = try mapping(path) { () throws(SQLiteError) in
                try surroundings.limits.enforce(connection, now: surroundings.clock())
            }
            try surroundings.blobs.syncNames()
            try mapping(path) { () throws(SQLiteError) in try connection.prepared("COMMIT").run() }
            // Before a checkpoint, beside which other processes may write.
            writeLock.release()
            commit.evicted = connection.evicted
            checkpointer.committed(connection)
            return true
        } catch {
            if connection.isInTransaction { _ = try? connection.prepared("ROLLBACK").run() }
            writeLock.release()
            touches.restore(notes)
            if !isJobAtFault || jobs.count == 1 { undo(jobs.prefix(commit.errors.count), connection) }
            commit.errors = jobs.indices.map { $0 < commit.errors.count ? commit.errors[$0] ?? error : error }
            return !isJobAtFault
        }
    }

    /// Takes back what jobs did outside the index, as far as the index does not need it, under the lock of a transaction of its
    /// own, which keeps other processes from relying on it meanwhile; or in the next transaction, if the lock is not to be had.
    private func undo(_ jobs: ArraySlice<Job>, _ connection: Connection) {
        let undos = jobs.compactMap(\.undo)
        guard !undos.isEmpty else { return }
        guard (try? writeLock.begin(connection, within: busyTimeout)) != nil else {
            return dueUndos.withLock { $0 += undos }
        }
        for undo in undos { undo(connection) }
        _ = try? connection.prepared("ROLLBACK").run()
        writeLock.release()
    }

    private func takeDueUndos() -> [@Sendable (Connection) -> Void] {
        dueUndos.withLock { due in
            defer { due = [] }
            return due
        }
    }

    // MARK: Touches

    /// Notes that an entry was used.
    func touch(_ entry: Int64, _ use: EntryUse, at time: Int64) {
        act(on: touches.note(entry, use, at: time))
    }

    /// Notes a request that no entry answered.
    func note(_ counts: RequestCounts, host: String, at time: Int64) {
        act(on: touches.note(counts, host: host, at: time))
    }

    private func act(on action: Touches.Action) {
        switch action {
        case .none: break
        case .setTimer: lane.submit(after: surroundings.touchInterval) { [weak self] in self?.touchIntervalPassed() }
        case .writeNow: lane.submit { [weak self] in self?.commitEmptyJob() }
        }
    }

    private func touchIntervalPassed() {
        if touches.timerFired() { commitEmptyJob() }
    }

    /// Runs a transaction for what every transaction begins with. Called on the lane, so it must not wait there for a
    /// leader that may hand its duty over to the lane. What cannot be written now stays noted for the next write.
    private func commitEmptyJob() {
        let job = Job(run: { _ in }, undo: nil, finish: { _ in })
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
            guard (try? surroundings.blobs.unlink(digest)) != nil else { continue }
            try mapping(path) { () throws(SQLiteError) in try connection.removeBlob(digest) }
        }
    }

    // MARK: Outside of transactions

    /// Calls `body` with the connection, which is in no transaction, while this store does not move the log.
    func withConnection<Value: Sendable>(
        _ body: (Connection) throws(SQLiteError) -> Value
    ) throws(StoreError) -> Value {
        try state.withLock { (state) throws(StoreError) in
            // Counting this writer would be a change, for which a full disk may have no room yet.
            try use(&state, addsUser: false) { (connection) throws(StoreError) in
                checkpointer.wait()
                return try mapping(path) { () throws(SQLiteError) in try body(connection) }
            }
        }
    }

    /// Calls `body` in a transaction that is taken back, and that knows what is noted.
    func tentatively(_ body: (Connection) throws(SQLiteError) -> Void) throws(StoreError) {
        try withConnection { [touches] (connection) throws(SQLiteError) in
            let notes = touches.take()
            defer { touches.restore(notes) }
            try connection.tentatively { () throws(SQLiteError) in
                try connection.apply(notes)
                try body(connection)
            }
        }
    }

    /// Does what can be done about an index that looked damaged to a connection: sets it aside if it is, and opens it anew.
    package func mend() throws(StoreError) {
        let file = state.withLock { state in
            if case .open(_, let file, _) = state { file } else { nil as UInt64? }
        }
        guard let file else { return }
        try surroundings.place.setIndexAside(ifDamaged: file, surroundings.options)
        try state.withLock { (state) throws(StoreError) in
            if case .open = state { try open(&state) }
        }
        if surroundings.place.indexNumber != file {
            indexWasReplaced()
        } else {
            // The damage was in what a connection held of it.
            surroundings.indexWasReplaced()
        }
    }

    private func indexWasReplaced() {
        // What is noted is of entries that are gone; others have their numbers.
        _ = touches.take()
        surroundings.indexWasReplaced()
    }

    private func open(_ state: inout sending State) throws(StoreError) {
        let (place, options) = (surroundings.place, surroundings.options)
        // What is moved is the log of the file that is open now.
        checkpointer.wait()
        let connection = try place.openIndex(options).connection
        state = .open(connection, file: place.indexNumber ?? 0, isUser: false)
    }

    /// Writes what is noted, moves the log into the index and closes the connection. Until `resume()`, changes throw
    /// `suspended`.
    func suspend() {
        state.withLock { state in
            guard case .open = state else { return }
            finish(&state)
            state = .suspended
        }
    }

    /// Opens the connection that `suspend()` has closed.
    func resume() throws(StoreError) {
        try state.withLock { (state) throws(StoreError) in
            if case .suspended = state { try open(&state) }
        }
    }

    /// Writes what is noted, moves the log into the index and closes the connection. Later changes throw `closed`.
    func close() {
        state.withLock { state in
            finish(&state)
            state = .closed
        }
    }

    private func finish(_ state: inout sending State) {
        // Whoever closes a store, or suspends it, finds that it has nothing open.
        defer {
            checkpointer.wait()
            writeLock.close()
        }
        // Nobody who has noted or written nothing becomes a user only to leave.
        if case .open(_, _, false) = state, touches.isEmpty { return }
        guard case .open = state else { return }
        try? use(&state) { (connection) throws(StoreError) in
            _ = transact([], connection)
            try? writeLock.withLock(within: busyTimeout) { () throws(SQLiteError) in try connection.removeUser() }
        }
    }
}

internal import Synchronization

/// Moves the log into the index, as a rule beside the writer, which would wait for the disk in a commit otherwise.
///
/// Each time with connections of its own, which are gone when that is done; the descriptors of the index SQLite keeps for the next
/// ones. Whatever goes wrong is left for the next time.
final class Checkpointer: Sendable {
    /// From so many pages in the log on the writer waits until it has been moved, and keeps others from writing if need be. About as
    /// many as the first table of the index of the log has room for, which is 4,062: with more, reading a page asks two.
    private static let maxLogPageCount = 4_000

    /// What the log takes then: 16 MB.
    static let maxLogByteCount = Int64(maxLogPageCount) * Connection.pageByteCount

    /// Pages by which the log grows before it is moved: at as many, SQLite's own commits would do that.
    private static let interval = 1_000

    /// How long others are waited for then, each time: who writes, and who moves the log.
    private static let patience = Duration.seconds(1)

    private let lane = BlockingLane(label: "CacheStore.checkpointer")
    /// Whether the lane has something to do, or is at it.
    private let isMoving = Atomic(false)
    /// Pages in the log when it was last found to have grown enough. Changed by the writer only.
    private let dueAt = Atomic(0)
    private let place: StoreDirectory
    private let isDurable: Bool

    /// - Parameter isDurable: Whether what is synced has to be on the disk itself, where `fsync` says less than that.
    init(_ place: StoreDirectory, isDurable: Bool) {
        self.place = place
        self.isDurable = isDurable
    }

    /// Called by the writer after each commit. Has the log moved when it has grown by enough: soon, or, where it has become too
    /// long or the disk has little room, before it returns. What came meanwhile could leave no room for what the index has to
    /// grow by.
    func committed(_ connection: Connection) {
        let pageCount = connection.logPageCount
        // A log that is shorter than it was has begun anew.
        let last = min(dueAt.load(ordering: .relaxed), pageCount)
        let isTooLong = pageCount >= Self.maxLogPageCount
        let isDue = pageCount - last >= Self.interval || isTooLong && last < Self.maxLogPageCount
        dueAt.store(isDue ? pageCount : last, ordering: .relaxed)
        guard isDue else { return }
        if isTooLong || place.freeByteCount < 2 * Self.maxLogByteCount {
            moveAll(connection)
        } else if !isMoving.exchange(true, ordering: .relaxed) {
            lane.submit { [self] in
                _ = try? move(within: .zero)
                isMoving.store(false, ordering: .relaxed)
            }
        }
    }

    /// Returns when nothing is moved, and nobody has the index open for that.
    func wait() {
        lane.runAndWait {}
    }

    /// Moves the log before it returns, as far as readers allow.
    ///
    /// What others commit meanwhile is left, and no log begins anew that is not moved to its end: then the rest is moved while
    /// nobody can write.
    private func moveAll(_ connection: Connection) {
        do throws(SQLiteError) {
            if (try? lane.runAndWait { () throws(SQLiteError) in try move(within: .zero) }) == true { return }
            try connection.keepingOthersFromWriting(within: Self.patience) { () throws(SQLiteError) in
                _ = try lane.runAndWait { () throws(SQLiteError) in try move(within: Self.patience) }
            }
        } catch {
            // Most likely this process may open no more files: there is still this connection.
            if !error.isBusy { _ = try? connection.restartLog(within: Self.patience) }
        }
    }

    /// Moves as much of the log as readers allow; whether that is all of it.
    ///
    /// One connection reads meanwhile, so that no writer begins the log anew: SQLite looks first how long the log is, then what
    /// of it has been moved, and would take the length of the old log for that of a new one if that began in between.
    private func move(within timeout: Duration) throws(SQLiteError) -> Bool {
        let reader = try connection()
        try reader.beginReading()
        defer { reader.endReading() }
        return try connection().checkpoint(within: timeout)
    }

    private func connection() throws(SQLiteError) -> Connection {
        try Connection(path: place.indexPath, role: .checkpointer, busyTimeout: .zero, isDurable: isDurable)
    }
}

internal import Synchronization

/// Copies the WAL into the database, as a rule beside the writer, whose commit would wait for the disk otherwise.
///
/// Each checkpoint uses connections of its own, closed when it is done; SQLite keeps the descriptors of the index for the next ones. A
/// failed checkpoint is left for the next time.
final class Checkpointer: Sendable {
    /// From so many pages on the writer waits for a checkpoint and restarts the WAL. About as many as the first table of the WAL-index
    /// has room for, 4,062: with more, reading a page searches two.
    private static let maxPageCount = 4_000

    /// The size of such a WAL: 16 MB.
    static let maxByteCount = Int64(maxPageCount) * Connection.pageByteCount

    /// Pages by which the WAL grows before a checkpoint: SQLite's own threshold.
    private static let interval = 1_000

    /// How long a restart waits for readers and other checkpointers.
    private static let restartTimeout = Duration.milliseconds(100)

    private let lane = BlockingLane(label: "CacheStore.checkpointer")
    /// Whether a checkpoint is queued or running.
    private let isScheduled = Atomic(false)
    /// Pages in the WAL when a checkpoint was last due. Changed by the writer only.
    private let lastPageCount = Atomic(0)
    private let directory: StoreDirectory
    private let isDurable: Bool

    /// - Parameter isDurable: Whether synced bytes have to be on the disk itself, where `fsync` promises less.
    init(_ directory: StoreDirectory, isDurable: Bool) {
        self.directory = directory
        self.isDurable = isDurable
    }

    /// Runs a checkpoint when the WAL has grown enough: soon, or, where the WAL is too long or the disk almost full, before the call
    /// returns. Called by the writer after each commit.
    func committed(_ connection: Connection) {
        let pageCount = connection.walPageCount
        // A shorter WAL than before has been restarted.
        let last = min(lastPageCount.load(ordering: .relaxed), pageCount)
        let isTooLong = pageCount >= Self.maxPageCount
        let isDue = pageCount - last >= Self.interval || isTooLong && last < Self.maxPageCount
        lastPageCount.store(isDue ? pageCount : last, ordering: .relaxed)
        guard isDue else { return }
        if isTooLong || directory.freeByteCount < 2 * Self.maxByteCount {
            restart(connection)
        } else if !isScheduled.exchange(true, ordering: .relaxed) {
            lane.submit { [self] in
                _ = try? checkpoint()
                isScheduled.store(false, ordering: .relaxed)
            }
        }
    }

    /// Returns when no checkpoint runs, and none has the index open.
    func wait() {
        lane.runAndWait {}
    }

    /// Copies the WAL and lets the next transaction write over its beginning.
    ///
    /// Most of it while other processes write; then the rest while none can, until the readers of the WAL are done. New readers read
    /// the database alone by then, so that this takes as long as a lookup.
    private func restart(_ connection: Connection) {
        _ = try? lane.runAndWait { () throws(SQLiteError) in try checkpoint() }
        _ = try? connection.restartWAL(within: Self.restartTimeout)
    }

    /// Copies as much of the WAL as readers allow.
    ///
    /// One connection reads meanwhile, so that no writer restarts the WAL: SQLite reads the length of the WAL first, then how much of it
    /// is copied, and would take the length of the old WAL for that of a restarted one.
    private func checkpoint() throws(SQLiteError) -> Bool {
        let reader = try connection()
        try reader.beginReading()
        defer { reader.endReading() }
        return try connection().checkpoint(within: .zero)
    }

    private func connection() throws(SQLiteError) -> Connection {
        try Connection(path: directory.indexPath, role: .checkpointer, busyTimeout: .zero, isDurable: isDurable)
    }
}

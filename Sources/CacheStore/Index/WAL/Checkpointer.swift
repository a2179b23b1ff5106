internal import Synchronization

/// Copies the WAL into the database. Usually the copy runs on a lane, and commits do not wait for the disk.
///
/// SQLite overwrites the WAL from its beginning once all of it is copied. While processes write, something is always left.
/// So the commit after a copy of a long WAL copies the rest and restarts the WAL:
///
///     pages in the WAL   1/4    2/4    3/4               4/4 of the most
///     lane               copy   copy   copy
///     writer                               restart       waits for a copy, then restart
///
/// Each checkpoint opens connections of its own and closes them when it is done. SQLite keeps the descriptors of the
/// index for the next checkpoints. After a failure, the next checkpoint copies the rest.
package final class Checkpointer: Sendable {
    /// The number of pages from which the writer waits for a checkpoint and restarts the WAL.
    private let maxPageCount: Int
    /// The number of pages by which the WAL grows before a checkpoint. SQLite uses 1,000.
    private var interval: Int { maxPageCount / 4 }

    /// The number of pages from which the commit after a copy restarts the WAL.
    private var restartPageCount: Int { interval * 3 }

    /// How long the restart of a WAL that is too long waits for readers and other checkpointers. No process can write while
    /// it waits for readers.
    private static let restartTimeout = Duration.milliseconds(100)
    /// How long a restart before that waits.
    private static let earlyRestartTimeout = Duration.milliseconds(5)
    /// The number of pages by which the WAL grows after a failed restart before the next copy.
    private static let retryPageCount = 128

    private let lane = BlockingLane(label: "CacheStore.checkpointer")
    /// Whether a checkpoint is queued or running.
    private let isScheduled = Atomic(false)
    /// Whether the lane has copied the WAL since the last commit.
    private let isCopied = Atomic(false)
    /// The number of pages in the WAL when a checkpoint last began. Only the writer changes it.
    private let lastPageCount = Atomic(0)
    private let directory: StoreDirectory
    private let isDurable: Bool

    /// - Parameters:
    ///   - maxByteCount: The size at which the WAL is restarted.
    ///   - isDurable: Whether synced bytes must reach the disk itself, where `fsync` promises less.
    init(_ directory: StoreDirectory, maxByteCount: Int64, isDurable: Bool) {
        self.directory = directory
        maxPageCount = Int(maxByteCount / Connection.pageByteCount)
        self.isDurable = isDurable
    }

    /// Runs a checkpoint if the WAL has grown enough. The writer calls this after each commit.
    ///
    /// Usually the checkpoint runs on the lane. If the WAL is too long or the disk almost full, the call waits for the
    /// checkpoint and restarts the WAL.
    func committed(_ connection: Connection) {
        let pageCount = connection.walPageCount
        if isCopied.exchange(false, ordering: .relaxed), pageCount >= restartPageCount { return restart(connection) }
        // A WAL that is shorter than before has been restarted.
        let last = min(lastPageCount.load(ordering: .relaxed), pageCount)
        let isTooLong = pageCount >= maxPageCount
        let isDue = pageCount - last >= interval || isTooLong && last < maxPageCount
        lastPageCount.store(last, ordering: .relaxed)
        guard isDue else { return }
        if isTooLong || directory.freeByteCount < 2 * Connection.maxWALByteCount {
            lastPageCount.store(pageCount, ordering: .relaxed)
            try? lane.runAndWait { () throws(SQLiteError) in try checkpoint() }
            restart(connection)
        } else if !isScheduled.exchange(true, ordering: .relaxed) {
            lastPageCount.store(pageCount, ordering: .relaxed)
            lane.submit { [self] in
                try? checkpoint()
                if pageCount >= restartPageCount {
                    // Copies the commits during the first copy, and leaves less for the restart, which blocks all writers.
                    try? checkpoint()
                    isCopied.store(true, ordering: .relaxed)
                }
                isScheduled.store(false, ordering: .relaxed)
            }
        }
    }

    /// Returns when no checkpoint runs, and none has the index open.
    package func wait() {
        lane.runAndWait {}
    }

    /// Copies the rest of the WAL, and lets the next transaction overwrite its beginning.
    ///
    /// New readers use the database alone by then. A reader from before that does not end in time makes the restart fail.
    private func restart(_ connection: Connection) {
        let pageCount = connection.walPageCount
        let timeout = pageCount < maxPageCount ? Self.earlyRestartTimeout : Self.restartTimeout
        if (try? connection.restartWAL(within: timeout)) == true {
            lastPageCount.store(0, ordering: .relaxed)
        } else if pageCount < maxPageCount {
            lastPageCount.store(pageCount - interval + Self.retryPageCount, ordering: .relaxed)
        }
    }

    /// Copies as much of the WAL as readers allow.
    ///
    /// One connection reads meanwhile, so that no writer restarts the WAL. SQLite first reads the length of the WAL,
    /// then how much of it is copied. If a writer restarted the WAL in between, SQLite would take the old length for
    /// the new one.
    private func checkpoint() throws(SQLiteError) {
        let reader = try connection()
        try reader.beginReading()
        defer { reader.endReading() }
        try connection().checkpoint()
    }

    private func connection() throws(SQLiteError) -> Connection {
        try Connection(path: directory.indexPath, role: .checkpointer, busyTimeout: .zero, isDurable: isDurable)
    }
}

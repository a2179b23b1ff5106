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
/// A restart waits a few milliseconds for the readers, because no process can write then. While a statement reads
/// for longer, the WAL grows beyond its most, and the lane tries again after each few pages.
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

    /// How long a restart waits for readers, while no process can write, and for other checkpointers.
    private static let restartTimeout = Duration.milliseconds(5)
    /// The number of pages by which a long WAL grows before the next copy, and the most that a copy leaves to a restart.
    private var retryPageCount: Int { interval / 8 }

    private let lane = BlockingLane(label: "CacheStore.checkpointer")
    /// Whether a checkpoint is queued or running.
    private let isScheduled = Atomic(false)
    /// Whether the lane has copied the WAL since the last commit, nearly to its end.
    private let isCopied = Atomic(false)
    /// Whether readers kept the WAL from its restart when a commit last waited for it, and no copy has reached its end since.
    private let isHeldBack = Atomic(false)
    /// Interrupts the present checkpoint and prevents later ones.
    private let ending = InterruptFlag()
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
    /// Usually the checkpoint runs on the lane. If the WAL is too long and no reader is the reason, or if the disk is almost
    /// full, the call waits for the checkpoint and restarts the WAL.
    func committed(_ connection: Connection) {
        guard !ending.isSet else { return }
        let pageCount = connection.walPageCount
        let isLong = pageCount >= restartPageCount
        if isCopied.exchange(false, ordering: .relaxed), isLong, restart(connection) { return }
        // A WAL that is shorter than before has been restarted.
        let last = min(lastPageCount.load(ordering: .relaxed), pageCount)
        let isTooLong = pageCount >= maxPageCount && !isHeldBack.load(ordering: .relaxed)
        let isDue = isTooLong || pageCount - last >= (isLong ? retryPageCount : interval)
        lastPageCount.store(isDue ? pageCount : last, ordering: .relaxed)
        guard isDue else { return }
        if isTooLong || directory.freeByteCount < 2 * Connection.maxWALByteCount {
            lane.runAndWait { copy() }
            let isRestarted = isCopied.exchange(false, ordering: .relaxed) && restart(connection)
            // The lane alone cannot tell a reader from commits that came between its two connections.
            isHeldBack.store(!isRestarted, ordering: .relaxed)
        } else if !isScheduled.exchange(true, ordering: .relaxed) {
            lane.submit { [self] in
                copy()
                isScheduled.store(false, ordering: .relaxed)
            }
        }
    }

    /// Returns when no checkpoint runs, and none has the index open.
    package func wait() {
        lane.runAndWait {}
    }

    /// Interrupts the present checkpoint, and prevents all later ones until ``begin()``.
    func end() {
        ending.set(true)
    }

    /// Allows checkpoints after ``end()``.
    func begin() {
        ending.set(false)
    }

    /// Copies the rest of the WAL, and lets the next transaction overwrite its beginning. Returns `false` if a reader from
    /// before does not end in time.
    private func restart(_ connection: Connection) -> Bool {
        guard (try? connection.restartWAL(within: Self.restartTimeout)) == true else { return false }
        lastPageCount.store(0, ordering: .relaxed)
        return true
    }

    /// Copies the WAL twice: the second time the commits during the first copy, so that less is left to the restart, which
    /// blocks all writers.
    private func copy() {
        isCopied.store(false, ordering: .relaxed)
        _ = try? checkpoint()
        guard let leftCount = try? checkpoint() else { return }
        guard leftCount < retryPageCount else { return }
        isHeldBack.store(false, ordering: .relaxed)
        isCopied.store(true, ordering: .relaxed)
    }

    /// Copies as much of the WAL as readers allow. Returns the number of pages that are left, or `nil` while another process
    /// runs a checkpoint and after ``end()``.
    ///
    /// One connection reads meanwhile, so that no writer restarts the WAL. SQLite first reads the length of the WAL,
    /// then how much of it is copied. If a writer restarted the WAL in between, SQLite would take the old length for
    /// the new one.
    private func checkpoint() throws(StoreError) -> Int? {
        let reader = try connection()
        try reader.beginReading()
        defer { reader.endReading() }
        let copier = try connection()
        copier.interrupt(by: ending)
        guard !ending.isSet else { return nil }
        return try copier.checkpoint()
    }

    private func connection() throws(StoreError) -> Connection {
        try Connection(path: directory.indexPath, role: .checkpointer, busyTimeout: .zero, isDurable: isDurable)
    }
}

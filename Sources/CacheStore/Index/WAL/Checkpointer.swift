internal import Synchronization

/// Copies the WAL into the database. The copy usually runs on a lane, so that commits do not wait for the disk. SQLite
/// restarts the WAL only after all of it is copied. While processes write, a copy always leaves a rest. So the commit
/// after a copy of a long WAL copies the rest and restarts the WAL:
///
///     pages in the WAL   1/4    2/4    3/4               4/4 of the most
///     lane               copy   copy   copy
///     writer                               restart       waits for a copy, then restart
///
/// A restart waits a few milliseconds for readers, because it blocks all writers. While a statement reads for longer,
/// the WAL grows beyond its bound, and the lane tries again every few pages. Each checkpoint opens two connections and
/// closes them at its end. SQLite keeps the descriptors of the index for the next checkpoints. After a failure, the
/// next checkpoint copies the rest.
package final class Checkpointer: Sendable {
    /// The number of pages from which the writer waits for a checkpoint and restarts the WAL.
    private let maxPageCount: Int
    /// The number of pages by which the WAL grows before a checkpoint. SQLite uses 1,000.
    private var interval: Int { maxPageCount / 4 }

    /// The number of pages from which the commit after a copy restarts the WAL.
    private var restartPageCount: Int { interval * 3 }

    /// How long a restart waits for other checkpointers, and for readers, while it blocks all writers.
    private static let restartTimeout = Duration.milliseconds(5)
    /// The number of pages by which a long WAL grows before the next copy. Also the most pages left for a restart.
    private var retryPageCount: Int { interval / 8 }

    private let lane = BlockingLane(label: "CacheStore.checkpointer")
    /// Whether a checkpoint is queued or running.
    private let isScheduled = Atomic(false)
    /// Whether the lane has copied the WAL nearly to its end since the last commit.
    private let isCopied = Atomic(false)
    /// Whether readers prevented the last restart that a commit waited for, and no copy has reached the end since.
    private let isHeldBack = Atomic(false)
    /// Interrupts the running checkpoint and prevents later ones.
    private let ending = InterruptFlag()
    /// The number of pages in the WAL when a checkpoint last began. Only the writer changes it.
    private let lastPageCount = Atomic(0)
    private let directory: StoreDirectory
    private let isDurable: Bool

    /// The WAL is restarted at `maxByteCount`. With `isDurable`, synced bytes must reach the disk itself, where `fsync`
    /// alone promises less.
    init(_ directory: StoreDirectory, maxByteCount: Int64, isDurable: Bool) {
        self.directory = directory
        maxPageCount = Int(maxByteCount / Connection.pageByteCount)
        self.isDurable = isDurable
    }

    /// Runs a checkpoint if the WAL has grown enough. The writer calls this after each commit. The checkpoint usually
    /// runs on the lane. This call waits for it and then restarts the WAL in two cases: the WAL is too long and readers
    /// are not the reason, or the disk is almost full.
    func committed(_ connection: Connection) {
        guard !ending.isSet else { return }
        let pageCount = connection.walPageCount
        let isLong = pageCount >= restartPageCount
        if isCopied.exchange(false, ordering: .relaxed), isLong, restart(connection) { return }
        // A WAL shorter than before was restarted.
        let last = min(lastPageCount.load(ordering: .relaxed), pageCount)
        let isTooLong = pageCount >= maxPageCount && !isHeldBack.load(ordering: .relaxed)
        let isDue = isTooLong || pageCount - last >= (isLong ? retryPageCount : interval)
        lastPageCount.store(isDue ? pageCount : last, ordering: .relaxed)
        guard isDue else { return }
        // While the disk is almost full, the writer waits and restarts the WAL, so that the next commits need no space.
        if isTooLong || directory.freeByteCount < 2 * Connection.maxWALByteCount {
            lane.runAndWait { copy() }
            let isRestarted = isCopied.exchange(false, ordering: .relaxed) && restart(connection)
            // The lane cannot distinguish a reader from commits between its two copies.
            isHeldBack.store(!isRestarted, ordering: .relaxed)
        } else if !isScheduled.exchange(true, ordering: .relaxed) {
            lane.submit { [self] in
                copy()
                isScheduled.store(false, ordering: .relaxed)
            }
        }
    }

    /// Returns when no checkpoint is running or has the index open.
    package func wait() {
        lane.runAndWait {}
    }

    /// Interrupts the running checkpoint and prevents later ones until ``begin()``.
    func end() {
        ending.set(true)
    }

    /// Allows checkpoints after ``end()``.
    func begin() {
        ending.set(false)
    }

    /// Copies the rest of the WAL, so that the next transaction overwrites its beginning. Returns `false` if an older
    /// reader does not end in time.
    private func restart(_ connection: Connection) -> Bool {
        guard (try? connection.restartWAL(within: Self.restartTimeout)) == true else { return false }
        lastPageCount.store(0, ordering: .relaxed)
        return true
    }

    /// Copies the WAL twice. The second copy takes the commits made during the first, and so leaves less for the
    /// restart, which blocks all writers.
    private func copy() {
        isCopied.store(false, ordering: .relaxed)
        _ = try? checkpoint()
        guard let leftCount = try? checkpoint() else { return }
        guard leftCount < retryPageCount else { return }
        isHeldBack.store(false, ordering: .relaxed)
        isCopied.store(true, ordering: .relaxed)
    }

    /// Copies as much of the WAL as readers allow. Returns the number of remaining pages. Returns `nil` while another
    /// process runs a checkpoint, and after ``end()``.
    private func checkpoint() throws(StoreError) -> Int? {
        // A second connection reads during the copy, so that no writer restarts the WAL. SQLite reads first the length
        // of the WAL, and then how much of it is copied. After a restart in between, SQLite would mistake the old
        // length for the new one.
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

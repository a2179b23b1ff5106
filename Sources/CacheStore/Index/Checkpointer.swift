internal import Synchronization

/// Moves the log into the index beside the writer, which would wait for the disk in a commit otherwise.
///
/// Each time with a connection of its own, which is gone when that is done. Whatever goes wrong is left for the next time: a log
/// of ``Connection/maxLogByteCount`` is moved by the commit that finds it.
final class Checkpointer: Sendable {
    private let lane = BlockingLane(label: "CacheStore.checkpointer")
    private let isRequested = Atomic(false)
    private let place: StoreDirectory
    private let isDurable: Bool

    /// - Parameter isDurable: Whether the pages have to be on the disk before the log begins again.
    init(_ place: StoreDirectory, isDurable: Bool) {
        self.place = place
        self.isDurable = isDurable
    }

    /// Has the log moved soon, once for all who ask before that begins; at once by `connection`, which is in no transaction,
    /// where the disk has little room: a log that grew meanwhile could leave none for what the index has to grow by.
    func request(_ connection: Connection) {
        guard place.freeByteCount >= 2 * Connection.maxLogByteCount else {
            _ = try? connection.checkpoint()
            return
        }
        guard !isRequested.exchange(true, ordering: .relaxed) else { return }
        lane.submit { [self] in
            isRequested.store(false, ordering: .relaxed)
            do throws(SQLiteError) {
                try Connection(path: place.indexPath, role: .checkpointer, busyTimeout: .zero, isDurable: isDurable)
                    .checkpoint()
            } catch {}
        }
    }

    /// Returns when nothing is moved, and nobody has the index open for that.
    func wait() {
        lane.wait()
    }
}

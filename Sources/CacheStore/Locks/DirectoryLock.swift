internal import CPlatform

/// An advisory lock of a directory, taken with flock(2). The kernel releases the lock when its process ends. Two locks
/// of one directory exclude each other, within a process and between processes. The lock is on the directory itself,
/// because a lock file can be deleted, and this package must not open and close the files of SQLite.
final class DirectoryLock: Sendable {
    private let name: String
    private let parent: FileDescriptor
    private let directory: FileDescriptor

    /// Opens `name` below `parent` without locking it.
    init(_ name: String, below parent: FileDescriptor) throws(StoreError) {
        self.name = name
        self.parent = parent
        directory = try parent.open(name, O_RDONLY | O_DIRECTORY)
    }

    /// Refers to the directory that now has the name, and releases the lock of the former. `false` if it already did.
    func reopenIfReplaced() throws(StoreError) -> Bool {
        try directory.follow(parent.open(name, O_RDONLY | O_DIRECTORY))
    }

    /// Takes the lock exclusively. Returns `false` if another lock of the directory is held.
    func tryExclusive() throws(StoreError) -> Bool {
        try directory.tryLock()
    }

    /// Takes the lock shared, or makes an exclusive lock shared. Returns `false` if another lock is exclusive.
    func tryShared() throws(StoreError) -> Bool {
        try directory.tryLock(LOCK_SH)
    }

    /// Calls `attempt` every millisecond until it is `true`. Returns `false` after `timeout` or once `stop` is set.
    static func wait(
        _ timeout: Duration, until stop: InterruptFlag? = nil, for attempt: () throws(StoreError) -> Bool
    ) throws(StoreError) -> Bool {
        // Polls, because flock(2) has no timeout, and a blocked call would ignore `stop`.
        let deadline = ContinuousClock.now + timeout
        while true {
            if try attempt() { return true }
            guard ContinuousClock.now < deadline, stop?.isSet != true else { return false }
            usleep(1_000)
        }
    }

    func release() {
        directory.unlock()
    }
}

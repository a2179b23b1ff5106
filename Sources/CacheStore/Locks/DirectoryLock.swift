#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// An advisory lock of a directory (flock(2)), held until it is let go or its process ends, however it ends.
///
/// On the directory itself: a lock file could be deleted, and SQLite's own file must not be opened and closed here. Two
/// locks of one directory exclude each other within a process as between processes.
final class DirectoryLock: Sendable {
    private let directory: FileDescriptor

    /// Opens `name` below `parent` for being locked.
    init(_ name: String, below parent: FileDescriptor) throws(SystemError) {
        directory = try parent.open(name, O_RDONLY | O_DIRECTORY)
    }

    /// Takes the lock alone; `false` if somebody else has it.
    func tryExclusive() throws(SystemError) -> Bool {
        try take(LOCK_EX)
    }

    /// Takes the lock together with others, or keeps it together with others from now on; `false` if somebody has it
    /// alone.
    func tryShared() throws(SystemError) -> Bool {
        try take(LOCK_SH)
    }

    /// Calls `attempt` until it is true; `false` after `timeout`.
    static func wait(
        _ timeout: Duration, for attempt: () throws(SystemError) -> Bool
    ) throws(SystemError) -> Bool {
        let deadline = ContinuousClock.now + timeout
        while true {
            if try attempt() { return true }
            guard ContinuousClock.now < deadline else { return false }
            usleep(1_000)
        }
    }

    /// Lets go.
    func release() {
        flock(directory.number, LOCK_UN)
    }

    private func take(_ operation: Int32) throws(SystemError) -> Bool {
        do {
            try FileDescriptor.retrying("flock", directory.path) { flock(directory.number, operation | LOCK_NB) }
            return true
        } catch let error where error.errno == EWOULDBLOCK {
            return false
        }
    }
}

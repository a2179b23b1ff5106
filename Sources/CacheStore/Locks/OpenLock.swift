/// The lock that an open store holds: shared, on the directory of the store. An opener that gets the lock exclusively
/// is the only opener. The kernel releases the lock when its process ends.
final class OpenLock: Sendable {
    /// Whether no other store has the directory open. Openers block until ``share()``. `false` in a read-only store.
    let isOnlyOpener: Bool
    private let lock: DirectoryLock
    private let directory: StoreDirectory
    private let timeout: Duration

    /// With `isReadOnly`, takes the lock shared from the start: a read-only store has no work that needs the exclusive
    /// lock. `timeout` limits the wait for another opener that holds the exclusive lock.
    init(_ directory: StoreDirectory, isReadOnly: Bool, timeout: Duration) throws(StoreError) {
        self.directory = directory
        self.timeout = timeout
        do throws(StoreError) {
            lock = try DirectoryLock(".", below: directory.root)
            isOnlyOpener = isReadOnly ? false : try lock.tryExclusive()
        } catch {
            throw .unusableDirectory(path: directory.path, reason: error.cause)
        }
        if !isOnlyOpener { try share() }
    }

    /// Takes the lock shared, or makes an exclusive lock shared. Throws ``StoreError/busy(path:)`` if another opener
    /// holds the exclusive lock for longer than the timeout.
    func share() throws(StoreError) {
        // flock(2) converts a lock in two steps: it releases the old lock first, so another opener may take the lock
        // exclusively in between. Then wait for that opener, too.
        let isTaken = try DirectoryLock.wait(timeout) { () throws(StoreError) in try lock.tryShared() }
        guard isTaken else { throw .busy(path: directory.path) }
    }

    /// Takes the lock of the directory that now has the path, and releases the lock of the former one.
    func reopenIfReplaced() throws(StoreError) {
        guard try lock.reopenIfReplaced() else { return }
        try share()
    }

    func release() {
        lock.release()
    }
}
